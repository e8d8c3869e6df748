/*
 * zstd_unpacker - the bytes of a stream of zstd frames, piece by piece.
 *
 * A frame says how many of the bytes before a place it may refer to, its window; that is the memory that unpacking takes.
 * Windows above ZSTD_WINDOW_MAX are refused: what `zstd` writes has less, unless it was called with --long=28 or more.
 * Format: RFC 8878; library: libzstd.
 */
#ifndef COMMON_FORMATS_ZSTD_UNPACKER_H
#define COMMON_FORMATS_ZSTD_UNPACKER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZSTD_MAGIC_SIZE = 4, ZSTD_WINDOW_MAX = 1 << 27 };

struct zstd_unpacker;

/* Unread packed bytes, and room for unpacked ones; a step moves both on. */
struct zstd_piece {
    const uint8_t *in;
    size_t in_left;
    uint8_t *out;
    size_t out_left;
};

/* Whether `data` begins a frame, of data or of what is to be skipped (pzstd begins with one). */
bool zstd_unpacker_is_magic(const uint8_t data[ZSTD_MAGIC_SIZE]);

/* Owns:  *out; free with zstd_unpacker_free().
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code zstd_unpacker_new(struct zstd_unpacker **out, struct error *err);
void zstd_unpacker_free(struct zstd_unpacker *unpacker); /* NULL is fine */

/* Unpacks what it can. *is_between: a frame is whole, and the next begins with the next byte.
 * Returns: NULL, or what is wrong with the data, in libzstd's words. */
MUST_CHECK const char *zstd_unpacker_step(struct zstd_unpacker *unpacker, struct zstd_piece *piece,
                                          bool *is_between);

#endif
