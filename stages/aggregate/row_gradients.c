#include "stages/aggregate/row_gradients.h"

#include "common/base/cpu_kernel.h"
#include "common/base/key_sort.h"

#include <string.h>

/* The first row whose node is not below `node`. */
static uint64_t lower_bound(const struct gradient_rows *rows, uint32_t node)
{
    uint64_t first = 0, end = rows->count;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (rows->node[middle] < node)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Gradients without labelled seeds mean nothing. */
static struct gradient_rows rows_that_count(const struct gradient *slot, uint32_t type)
{
    const struct gradient_rows *rows = slot->seed_count > 0 ? gradient_rows_of(slot, type) : NULL;
    return rows ? *rows : (struct gradient_rows){0};
}

/* Keys node << 32 | place, places by slot and then by row; entry[place] says which. */
static uint64_t list_entries(const struct gradient_rows *rows, int slot_count,
                             const struct embedding_shard *shard, uint64_t *key, uint64_t *entry)
{
    uint64_t count = 0;
    for (int k = 0; k < slot_count; k++) {
        if (rows[k].count == 0)
            continue;
        const uint64_t end = lower_bound(&rows[k], shard->end);
        for (uint64_t i = lower_bound(&rows[k], shard->first); i < end; i++) {
            if (!embedding_shard_has(shard, rows[k].node[i]))
                continue;
            if (key) {
                key[count] = (uint64_t)rows[k].node[i] << 32 | count;
                entry[count] = (uint64_t)k << 32 | i;
            }
            count++;
        }
    }
    return count;
}

/* Puts what sorted keys say into node, start and entries; the number of distinct nodes. */
static size_t group(const uint64_t *key, uint64_t count, const uint64_t *entry, uint32_t *node,
                    uint64_t *start, uint64_t *sorted)
{
    size_t rows = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t of_key = (uint32_t)(key[i] >> 32);
        sorted[i] = entry[(uint32_t)key[i]];
        if (i == 0 || of_key != node[rows - 1]) {
            start[rows] = i;
            node[rows++] = of_key;
        }
    }
    start[rows] = count;
    return rows;
}

enum error_code row_gradients_find(const struct gradient *slot, int slot_count,
                                   const struct embedding_tensor *tensor,
                                   const struct embedding_shard *shard, struct arena *arena,
                                   struct row_gradients *out, struct error *err)
{
    static const char what[] = "the rows that a round read";
    struct gradient_rows *rows = NULL;
    uint64_t *key = NULL, *entry = NULL, *sorted = NULL, *start = NULL;
    uint32_t *node = NULL;
    enum error_code rc = arena_new(arena, &rows, (size_t)slot_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int k = 0; k < slot_count; k++)
        rows[k] = rows_that_count(&slot[k], tensor->type);
    const uint64_t count = list_entries(rows, slot_count, shard, NULL, NULL);
    if (count > UINT32_MAX)
        return error_set(
            err, ERROR_NO_MEMORY,
            "a round reads rows more often than 4294967295 times: take more "
            "partition.parts or aggregate.embedding_shards, or fewer sample.batches_per_round");
    rc = arena_new(arena, &key, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &entry, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &sorted, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &start, count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &node, count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)list_entries(rows, slot_count, shard, key, entry);
    key_sort(key, sorted, count);
    *out = (struct row_gradients){.slot = slot,
                                  .rows = rows,
                                  .width = tensor->width,
                                  .node = node,
                                  .entry = sorted,
                                  .start = start};
    out->count = group(key, count, entry, node, start, sorted);
    for (int k = 0; k < slot_count; k++)
        out->seed_count += (double)slot[k].seed_count;
    return ERROR_NONE;
}

CPU_KERNEL(add_row, (double *restrict sum, double weight, const float *restrict row, size_t width),
           (sum, weight, row, width))
{
    for (size_t i = 0; i < width; i++)
        sum[i] += weight * (double)row[i];
}

CPU_KERNEL(divide_row,
           (float *restrict out, const double *restrict sum, double seeds, size_t width),
           (out, sum, seeds, width))
{
    for (size_t i = 0; i < width; i++)
        out[i] = (float)(sum[i] / seeds);
}

void row_gradients_mean(const struct row_gradients *g, size_t i, double *sum, float *out)
{
    memset(sum, 0, g->width * sizeof *sum);
    for (uint64_t e = g->start[i]; e < g->start[i + 1]; e++) {
        const uint64_t slot = g->entry[e] >> 32, row = (uint32_t)g->entry[e];
        add_row(sum, (double)g->slot[slot].seed_count, g->rows[slot].gradient + row * g->width,
                g->width);
    }
    divide_row(out, sum, g->seed_count, g->width);
}
