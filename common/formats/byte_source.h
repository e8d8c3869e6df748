/*
 * byte_source - the bytes of a file, plain, gzip or zstd, front to back.
 *
 * A file that begins with the magic of gzip or of zstd is unpacked on the way; one that is called .gz or .zst and does
 * not is refused. A cut or damaged packed file is an error that names the byte offset, never a short file: the
 * checksum and length behind each member are checked (zstd: those that the frame has), several members in a row are
 * one file (as both define it), and anything else behind them is refused.
 */
#ifndef COMMON_FORMATS_BYTE_SOURCE_H
#define COMMON_FORMATS_BYTE_SOURCE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_source;

/* Owns:  *out; free with byte_source_close().
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code byte_source_open(const char *path, struct byte_source **out,
                                            struct error *err);
/* The same over `data` [size], borrowed until the source is closed; `name` stands in messages. */
MUST_CHECK enum error_code byte_source_open_memory(const char *name, const void *data, size_t size,
                                                   struct byte_source **out, struct error *err);
void byte_source_close(struct byte_source *source); /* NULL is fine */

/* Up to `size` bytes into `out`; *got is 0 only at the end.
 * Fails: ERROR_INPUT for damaged packed data naming file and offset; ERROR_IO. */
MUST_CHECK enum error_code byte_source_read(struct byte_source *source, void *out, size_t size,
                                            size_t *got, struct error *err);
/* The path or name it was opened with. Borrowed. */
const char *byte_source_name(const struct byte_source *source);
bool byte_source_is_packed(const struct byte_source *source);
/* Bytes of the file, 0 where that is not known, and how many of them were taken by now. */
uint64_t byte_source_size(const struct byte_source *source);
uint64_t byte_source_done(const struct byte_source *source);
/* Progress is told by the caller from now on. */
void byte_source_keep_quiet(struct byte_source *source);

#endif
