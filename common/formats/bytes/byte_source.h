/*
 * byte_source - reads a file, plain, gzip or zstd, from front to back.
 *
 * A file that begins with the magic of gzip or of zstd is decompressed; a file that is called .gz
 * or .zst and has no such magic is refused. A truncated or damaged compressed file is an error that
 * names the byte offset, never a short file: checksum and length of each member are checked (in
 * zstd those that the frame has). Several members in a row are one file, as both formats define it;
 * anything else after them is refused.
 */
#ifndef COMMON_FORMATS_BYTES_BYTE_SOURCE_H
#define COMMON_FORMATS_BYTES_BYTE_SOURCE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_source;

/* Opens a file.
 * Owns:  *out; free with byte_source_close().
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code byte_source_open(const char *path, struct byte_source **out,
                                            struct error *err);
/* Does the same for `data` [size], borrowed until the source is closed; messages name it by
 * `name`. */
MUST_CHECK enum error_code byte_source_open_memory(const char *name, const void *data, size_t size,
                                                   struct byte_source **out, struct error *err);
void byte_source_close(struct byte_source *source); /* NULL is allowed */

/* Reads up to `size` bytes into `out`; *got is 0 only at the end. Fails: ERROR_INPUT for damaged
 * compressed data naming file and offset; ERROR_IO. */
MUST_CHECK enum error_code byte_source_read(struct byte_source *source, void *out, size_t size,
                                            size_t *got, struct error *err);
/* Returns the path or name it was opened with. Borrowed. */
const char *byte_source_name(const struct byte_source *source);
bool byte_source_is_packed(const struct byte_source *source);
/* Return the bytes of the file, 0 if unknown, and how many of them have been read. */
uint64_t byte_source_size(const struct byte_source *source);
uint64_t byte_source_done(const struct byte_source *source);
/* Stops reporting progress; the caller reports it from now on. */
void byte_source_keep_quiet(struct byte_source *source);

#endif
