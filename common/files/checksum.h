/*
 * checksum - XXH3, the hash of every record.
 *
 * It detects damage and tells equal from different contents; it does not protect against forgery.
 */
#ifndef COMMON_FILES_CHECKSUM_H
#define COMMON_FILES_CHECKSUM_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* XXH3-128 in its canonical (big-endian) byte order. */
struct checksum {
    uint8_t bytes[16];
};

enum { CHECKSUM_TEXT_SIZE = 33 };

struct checksum checksum_of(const void *data, size_t size);
/* Returns another checksum for each seed, at the same speed, so that equal bytes in two places have
 * different hashes. */
struct checksum checksum_seeded(const void *data, size_t size, uint64_t seed);
/* Does the same as checksum_of() for several pieces of memory as if they were one. Allocates
 * nothing. */
struct checksum_part {
    const void *data;
    size_t size;
};
struct checksum checksum_of_parts(const struct checksum_part *part, size_t count);
uint64_t checksum_64(const void *data, size_t size);
bool checksum_equal(const struct checksum *a, const struct checksum *b);
/* Writes 32 lower-case hexadecimal digits and a NUL. */
void checksum_text(const struct checksum *sum, char text[CHECKSUM_TEXT_SIZE]);
/* Parses a checksum. Returns false when `text` is not 32 hexadecimal digits. */
bool checksum_parse(const char *text, struct checksum *out);

/* Returns ERROR_CORRUPT with both as text: "expected hash ..., found ...". */
enum error_code checksum_mismatch(const struct checksum *expected, const struct checksum *found,
                                  struct error *err);

/* A checksum that is computed piece by piece. */
struct checksum_stream; /* owned; free with checksum_stream_free() */
MUST_CHECK enum error_code checksum_stream_new(struct checksum_stream **out, struct error *err);
void checksum_stream_reset(struct checksum_stream *stream);
void checksum_stream_add(struct checksum_stream *stream, const void *data, size_t size);
struct checksum checksum_stream_sum(const struct checksum_stream *stream);
void checksum_stream_free(struct checksum_stream *stream);

/* Computes the checksum of a whole file. Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code checksum_of_file(const char *path, struct checksum *out,
                                            uint64_t *size_bytes, struct error *err);
/* Computes the checksum of the last `bytes` of a file, or of all of it if it is shorter.
 * *size_bytes is the size of the file. */
MUST_CHECK enum error_code checksum_of_file_end(const char *path, uint64_t bytes,
                                                struct checksum *out, uint64_t *size_bytes,
                                                struct error *err);

#endif
