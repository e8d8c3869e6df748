#include "common/math/sparse_tile.h"

#include "common/numbers/cpu_kernel.h"

#include <string.h>

/* Each column has room for all rows. A distance of a multiple of 4 KB between columns would map all
 * their ends to the same few lines of the first cache, so the columns are staggered. */
enum { STAGGER = 8, WORD = 64 };

static size_t column_room(size_t row_capacity)
{
    return row_capacity + STAGGER;
}

enum error_code sparse_tile_init(struct sparse_tile *tile, size_t row_capacity, size_t cols,
                                 bool wants_rows, struct arena *arena, struct error *err)
{
    static const char what[] = "a compressed tile";
    *tile = (struct sparse_tile){.cols = cols, .row_capacity = row_capacity};
    enum error_code rc =
        arena_new(arena, &tile->by_column, cols * column_room(row_capacity), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &tile->column_start, cols, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &tile->column_end, cols, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &tile->column_sum, cols, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &tile->row_start, row_capacity + 1, what, err);
    if (rc == ERROR_NONE && wants_rows)
        rc = arena_new(arena, &tile->by_row, cols * row_capacity / 2 + 1, what, err);
    for (size_t c = 0; rc == ERROR_NONE && !arena->counts && c < cols; c++)
        tile->column_start[c] = (uint32_t)(c * column_room(row_capacity));
    return rc;
}

CPU_KERNEL_OF(uint64_t, count_bits, (const uint64_t *word, size_t words), (word, words))
{
    uint64_t count = 0;
    for (size_t w = 0; w < words; w++)
        count += (uint64_t)__builtin_popcountll(word[w]);
    return count;
}

/* The bound differs by precision, because dense products in bf16 are more than twice as fast as in
 * float, and sparse ones are always in float (tests/bench/bench_step.c). */
bool sparse_tile_pays(const uint64_t *active, size_t words, size_t count, enum precision precision)
{
    const uint64_t share = precision == PRECISION_BF16 ? 6 : 2;
    return share * count_bits(active, words) <= count;
}

void sparse_tile_reset(struct sparse_tile *tile)
{
    tile->row_count = 0;
    tile->row_start[0] = 0;
    memcpy(tile->column_end, tile->column_start, tile->cols * sizeof *tile->column_end);
    memset(tile->column_sum, 0, tile->cols * sizeof *tile->column_sum);
}

/* All fields are copied to locals: otherwise the compiler must assume that writing an entry changes
 * a pointer of the tile. */
static void add_row(struct sparse_tile *tile, const uint64_t *active, const float *value,
                    float scale)
{
    const uint32_t row = (uint32_t)tile->row_count++;
    const bool rounds = tile->precision == PRECISION_BF16;
    struct sparse_entry *const by_column = tile->by_column, *by_row = tile->by_row;
    uint32_t *restrict column_end = tile->column_end;
    float *restrict column_sum = tile->column_sum;
    uint32_t count = 0;
    if (by_row)
        by_row += tile->row_start[row];
    for (size_t first = 0; first < tile->cols; first += WORD)
        for (uint64_t left = active[first / WORD]; left; left &= left - 1) {
            const size_t column = first + (size_t)__builtin_ctzll(left);
            const float scaled = value[column] * scale;
            const float entry = rounds ? bf16_to_float(bf16_of_float(scaled)) : scaled;
            by_column[column_end[column]++] = (struct sparse_entry){row, entry};
            column_sum[column] += scaled;
            if (by_row)
                by_row[count] = (struct sparse_entry){(uint32_t)column, entry};
            count++;
        }
    tile->row_start[row + 1] = tile->row_start[row] + count;
}

void sparse_tile_add(struct sparse_tile *tile, const uint64_t *active, const float *value,
                     float scale, size_t row_count)
{
    const size_t words = (tile->cols + WORD - 1) / WORD;
    must(tile->row_capacity - tile->row_count >= row_count);
    for (size_t row = 0; row < row_count; row++)
        add_row(tile, active + row * words, value + row * tile->cols, scale);
}

struct sparse_matrix sparse_tile_transposed(const struct sparse_tile *tile)
{
    return (struct sparse_matrix){.rows = tile->cols,
                                  .cols = tile->row_count,
                                  .row_start = tile->column_start,
                                  .row_end = tile->column_end,
                                  .entry = tile->by_column};
}

struct sparse_matrix sparse_tile_rows(const struct sparse_tile *tile)
{
    must(tile->by_row);
    return (struct sparse_matrix){.rows = tile->row_count,
                                  .cols = tile->cols,
                                  .row_start = tile->row_start,
                                  .row_end = tile->row_start + 1,
                                  .entry = tile->by_row};
}
