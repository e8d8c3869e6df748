/*
 * checksum - XXH3, the hash of every record.
 *
 * Finds damage and tells equal from different; it is not a defence against a forger.
 */
#ifndef COMMON_BASE_CHECKSUM_H
#define COMMON_BASE_CHECKSUM_H

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
/* Another one for each seed, at the same speed: equal bytes in two places have two hashes. */
struct checksum checksum_seeded(const void *data, size_t size, uint64_t seed);
/* As checksum_of(), of several pieces of memory as if they lay one behind the other. No allocation. */
struct checksum_part {
    const void *data;
    size_t size;
};
struct checksum checksum_of_parts(const struct checksum_part *part, size_t count);
uint64_t checksum_64(const void *data, size_t size);
bool checksum_equal(const struct checksum *a, const struct checksum *b);
/* 32 lower-case hexadecimal digits and a NUL. */
void checksum_text(const struct checksum *sum, char text[CHECKSUM_TEXT_SIZE]);
/* False when `text` is not 32 hexadecimal digits. */
bool checksum_parse(const char *text, struct checksum *out);

/* ERROR_CORRUPT with both as text: "expected hash ..., found ...". */
enum error_code checksum_mismatch(const struct checksum *expected, const struct checksum *found,
                                  struct error *err);

/* A checksum taken piece by piece. */
struct checksum_stream; /* owned; free with checksum_stream_free() */
MUST_CHECK enum error_code checksum_stream_new(struct checksum_stream **out, struct error *err);
void checksum_stream_reset(struct checksum_stream *stream);
void checksum_stream_add(struct checksum_stream *stream, const void *data, size_t size);
struct checksum checksum_stream_sum(const struct checksum_stream *stream);
void checksum_stream_free(struct checksum_stream *stream);

/* The checksum of a whole file. Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code checksum_of_file(const char *path, struct checksum *out,
                                            uint64_t *size_bytes, struct error *err);
/* The same of its last `bytes`, or of all of it when it is shorter. *size_bytes is the size of the file. */
MUST_CHECK enum error_code checksum_of_file_end(const char *path, uint64_t bytes,
                                                struct checksum *out, uint64_t *size_bytes,
                                                struct error *err);

#endif
