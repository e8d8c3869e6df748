/*
 * sparse_tile - a tile of a gradient that is mostly zeros, compressed by columns and by rows at
 * once.
 *
 *   by columns   the transposed tile, for the gradient of weights    dW = tile^T x
 *   by rows      the tile itself, for the gradient of the input      dx = tile W
 *
 * The positions of nonzeros are known beforehand, as bits (activation.h). Rows are added in order,
 * some at a time, so they never all have to exist as dense rows.
 */
#ifndef COMMON_MATH_SPARSE_TILE_H
#define COMMON_MATH_SPARSE_TILE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/math/sparse_product.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sparse_tile {
    size_t cols, row_capacity, row_count;
    enum precision precision; /* entries are rounded to it; float unless it is set after init */
    struct sparse_entry *by_column;
    uint32_t *column_start, *column_end; /* [cols] */
    struct sparse_entry *by_row;         /* NULL: not wanted */
    uint32_t *row_start;                 /* [row_capacity + 1] */
    float *column_sum;                   /* [cols], in the order of rows; not rounded */
};

/* Requests room in the arena for tiles of at most `row_capacity` rows. */
MUST_CHECK enum error_code sparse_tile_init(struct sparse_tile *tile, size_t row_capacity,
                                            size_t cols, bool wants_rows, struct arena *arena,
                                            struct error *err);

/* Returns whether compressing is faster for rows with these bits [words] of `count` elements than a
 * dense product in `precision`: up to one half of nonzeros in float, up to one sixth in bf16. */
bool sparse_tile_pays(const uint64_t *active, size_t words, size_t count, enum precision precision);

/* Empties the tile. */
void sparse_tile_reset(struct sparse_tile *tile);
/* Appends `row_count` rows: value [row_count, cols] times `scale` where `active` [row_count, words
 * of 64 columns] has a bit. Call it only if sparse_tile_pays(). */
void sparse_tile_add(struct sparse_tile *tile, const uint64_t *active, const float *value,
                     float scale, size_t row_count);

/* Return views [cols, row_count] and [row_count, cols], valid until the next reset. */
struct sparse_matrix sparse_tile_transposed(const struct sparse_tile *tile);
struct sparse_matrix sparse_tile_rows(const struct sparse_tile *tile);

#endif
