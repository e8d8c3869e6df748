#include "common/nn/operators/sparse_rows.h"

#include "common/numbers/cpu_kernel.h"

#include <inttypes.h>
#include <string.h>

enum { TILE = 64, WORD = 32 };

/* Bits of the elements other than zero among `count` <= WORD. A NaN is one of them. */
CPU_INLINE uint32_t found_bits(const float *value, size_t count)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= (uint32_t)(value[i] != 0) << i;
    return bits;
}

/* One bit for each element of a row; how many there are. */
CPU_KERNEL_OF(uint32_t, find, (const float *row, size_t dim, uint32_t *bits), (row, dim, bits))
{
    uint32_t count = 0;
    size_t column = 0;
    for (; column + WORD <= dim; column += WORD)
        bits[column / WORD] = found_bits(row + column, WORD);
    if (column < dim)
        bits[column / WORD] = found_bits(row + column, dim - column);
    for (size_t word = 0; word < (dim + WORD - 1) / WORD; word++)
        count += (uint32_t)__builtin_popcount(bits[word]);
    return count;
}

size_t sparse_rows_nonzeros(const void *row, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, (const char *)row + i * sizeof value, sizeof value);
        found += value != 0;
    }
    return found;
}

bool sparse_rows_pay(size_t nonzeros, size_t elements)
{
    return nonzeros <= elements / 8;
}

struct build_job {
    const struct input_rows *input;
    uint32_t row_count;
    size_t dim, words;
    uint32_t *bits;  /* [row_count, words] */
    uint32_t *start; /* [row_count + 1] */
    struct sparse_entry *entry;
};

static const float *row_of(const struct build_job *job, uint32_t row)
{
    const struct input_rows *input = job->input;
    const size_t at = input->row_index ? input->row_index[row] : row;
    return (const float *)input->base + at * input->stride;
}

static uint32_t tile_end(int64_t tile, uint32_t count)
{
    const uint32_t first = (uint32_t)tile * TILE;
    return count - first < TILE ? count : first + TILE;
}

static void find_tile(void *context, int64_t tile, int thread)
{
    const struct build_job *job = context;
    (void)thread;
    for (uint32_t row = (uint32_t)tile * TILE; row < tile_end(tile, job->row_count); row++)
        job->start[row + 1] = find(row_of(job, row), job->dim, job->bits + row * job->words);
}

static void copy_tile(void *context, int64_t tile, int thread)
{
    const struct build_job *job = context;
    (void)thread;
    for (uint32_t row = (uint32_t)tile * TILE; row < tile_end(tile, job->row_count); row++) {
        const float *value = row_of(job, row);
        struct sparse_entry *entry = job->entry + job->start[row];
        for (size_t word = 0; word < job->words; word++)
            for (uint32_t left = job->bits[row * job->words + word]; left; left &= left - 1) {
                const uint32_t column = (uint32_t)(word * WORD) + (uint32_t)__builtin_ctz(left);
                *entry++ = (struct sparse_entry){column, value[column]};
            }
    }
}

static enum error_code too_many(struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY,
                     "the input rows of a batch hold more than %" PRIu32
                     " values; smaller batches would do",
                     UINT32_MAX);
}

/* Counts become starts. */
static enum error_code sum_up(uint32_t *start, uint32_t count, struct error *err)
{
    uint64_t sum = 0;
    start[0] = 0;
    for (uint32_t i = 1; i <= count; i++) {
        sum += start[i];
        if (sum > UINT32_MAX)
            return too_many(err);
        start[i] = (uint32_t)sum;
    }
    return ERROR_NONE;
}

enum error_code sparse_rows_build(const struct input_rows *input, uint32_t dim, uint32_t row_count,
                                  struct arena *arena, struct thread_pool *pool,
                                  struct sparse_rows *out, struct error *err)
{
    static const char what[] = "compressed input rows";
    struct build_job job = {.input = input,
                            .row_count = row_count,
                            .dim = dim,
                            .words = ((size_t)dim + WORD - 1) / WORD};
    const int64_t tiles = ((int64_t)row_count + TILE - 1) / TILE;
    *out = (struct sparse_rows){0};
    enum error_code rc = arena_new(arena, &job.start, (size_t)row_count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.bits, row_count * job.words, what, err);
    if (rc != ERROR_NONE)
        return rc;
    thread_pool_run(pool, tiles, find_tile, &job);
    rc = sum_up(job.start, row_count, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.entry, job.start[row_count], what, err);
    if (rc != ERROR_NONE)
        return rc;
    thread_pool_run(pool, tiles, copy_tile, &job);
    *out = (struct sparse_rows){.row_count = row_count,
                                .dim = dim,
                                .row_start = job.start,
                                .row_end = job.start + 1,
                                .entry = job.entry};
    return ERROR_NONE;
}

enum error_code sparse_rows_select(const struct sparse_rows *all, const uint32_t *row_index,
                                   uint32_t row_count, struct arena *arena, struct sparse_rows *out,
                                   struct error *err)
{
    static const char what[] = "the places of input rows";
    uint32_t *start = NULL, *end = NULL;
    *out = (struct sparse_rows){0};
    enum error_code rc = arena_new(arena, &start, row_count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &end, row_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < row_count; i++) {
        start[i] = all->row_start[row_index[i]];
        end[i] = all->row_end[row_index[i]];
    }
    *out = (struct sparse_rows){.row_count = row_count,
                                .dim = all->dim,
                                .row_start = start,
                                .row_end = end,
                                .entry = all->entry};
    return ERROR_NONE;
}

struct sparse_matrix sparse_rows_view(const struct sparse_rows *rows, uint32_t first, uint32_t end)
{
    return (struct sparse_matrix){.rows = end - first,
                                  .cols = rows->dim,
                                  .row_start = rows->row_start + first,
                                  .row_end = rows->row_end + first,
                                  .entry = rows->entry};
}

/* Counts the entries of column c in start[c + 2]; fails above 2^32 - 1. */
static enum error_code count_columns(const struct sparse_rows *rows, uint32_t *start,
                                     struct error *err)
{
    uint64_t count = 0;
    memset(start, 0, ((size_t)rows->dim + 2) * sizeof *start);
    for (uint32_t row = 0; row < rows->row_count; row++) {
        count += rows->row_end[row] - rows->row_start[row];
        for (uint32_t e = rows->row_start[row]; e < rows->row_end[row]; e++)
            start[rows->entry[e].column + 2]++;
    }
    return count <= UINT32_MAX ? ERROR_NONE : too_many(err);
}

/* Puts rows first .. end - 1 in their columns; start[c + 1] is where column c has got to. */
static void place_rows(const struct sparse_rows *rows, uint32_t first, uint32_t end,
                       uint32_t *start, struct sparse_entry *entry)
{
    for (uint32_t row = first; row < end; row++)
        for (uint32_t e = rows->row_start[row]; e < rows->row_end[row]; e++)
            entry[start[rows->entry[e].column + 1]++] =
                (struct sparse_entry){row, rows->entry[e].value};
}

/* By counting sort. */
enum error_code sparse_rows_transpose(const struct sparse_rows *rows, uint32_t early_rows,
                                      struct arena *arena, struct sparse_columns *out,
                                      struct error *err)
{
    static const char what[] = "compressed input columns";
    const size_t dim = rows->dim;
    uint32_t *start = NULL;
    must(early_rows <= rows->row_count);
    *out = (struct sparse_columns){
        .row_count = rows->row_count, .early_rows = early_rows, .dim = rows->dim};
    enum error_code rc = arena_new(arena, &start, dim + 2, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->early_end, dim, what, err);
    if (rc == ERROR_NONE)
        rc = count_columns(rows, start, err);
    for (size_t c = 2; rc == ERROR_NONE && c < dim + 2; c++)
        start[c] += start[c - 1];
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->entry, start[dim + 1], what, err);
    if (rc != ERROR_NONE)
        return rc;
    place_rows(rows, 0, early_rows, start, out->entry);
    memcpy(out->early_end, start + 1, dim * sizeof *start);
    place_rows(rows, early_rows, rows->row_count, start, out->entry);
    out->start = start;
    return ERROR_NONE;
}

struct sparse_matrix sparse_columns_view(const struct sparse_columns *columns, uint32_t first,
                                         uint32_t end, bool early)
{
    return (struct sparse_matrix){.rows = end - first,
                                  .cols = early ? columns->early_rows : columns->row_count,
                                  .row_start = columns->start + first,
                                  .row_end = early ? columns->early_end + first
                                                   : columns->start + first + 1,
                                  .entry = columns->entry};
}
