/*
 * zstd_unpacker - decompresses a stream of zstd frames, piece by piece.
 *
 * A frame states how many earlier bytes it may refer to, its window, which determines the memory
 * for decompressing. Windows above ZSTD_WINDOW_MAX are refused; `zstd` writes smaller ones, unless
 * it was called with --long=28 or more. Format: RFC 8878; library: libzstd.
 */
#ifndef COMMON_FORMATS_BYTES_ZSTD_UNPACKER_H
#define COMMON_FORMATS_BYTES_ZSTD_UNPACKER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZSTD_MAGIC_SIZE = 4, ZSTD_WINDOW_MAX = 1 << 27 };

struct zstd_unpacker;

/* Unread compressed bytes, and room for decompressed ones; a step advances both. */
struct zstd_piece {
    const uint8_t *in;
    size_t in_left;
    uint8_t *out;
    size_t out_left;
};

/* Returns whether `data` begins a frame of data, or a skippable frame (files of pzstd begin with
 * one). */
bool zstd_unpacker_is_magic(const uint8_t data[ZSTD_MAGIC_SIZE]);

/* Owns:  *out; free with zstd_unpacker_free().
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code zstd_unpacker_new(struct zstd_unpacker **out, struct error *err);
void zstd_unpacker_free(struct zstd_unpacker *unpacker); /* NULL is allowed */

/* Decompresses what it can. *is_between: a frame is complete, and the next byte begins another one.
 * Returns: NULL, or the error in the data, in libzstd's words. */
MUST_CHECK const char *zstd_unpacker_step(struct zstd_unpacker *unpacker, struct zstd_piece *piece,
                                          bool *is_between);

#endif
