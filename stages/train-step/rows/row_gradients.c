#include "stages/train-step/rows/row_gradients.h"

#include "common/numbers/cpu_kernel.h"
#include "common/numbers/key_sort.h"

#include <string.h>

/* Returns the rows of a slot, or none if it has no labelled seeds: its gradient has no meaning. */
static struct gradient_rows rows_that_count(const struct gradient *slot, uint32_t type)
{
    const struct gradient_rows *rows = slot->seed_count > 0 ? gradient_rows_of(slot, type) : NULL;
    return rows ? *rows : (struct gradient_rows){0};
}

/* Writes the keys node << 32 | place, where places are numbered by slot and then by row.
 * entry[place] is the slot and the row. */
static void list_entries(const struct gradient_rows *rows, int slot_count, uint64_t *key,
                         uint64_t *entry)
{
    uint64_t count = 0;
    for (int k = 0; k < slot_count; k++)
        for (uint64_t i = 0; i < rows[k].count; i++, count++) {
            key[count] = (uint64_t)rows[k].node[i] << 32 | count;
            entry[count] = (uint64_t)k << 32 | i;
        }
}

/* Writes the distinct nodes of the sorted keys to node, the first key of each to start, and the
 * entries in the order of the keys. Returns the number of distinct nodes. */
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

/* Finds the slots that have each row, in a round of several slots. */
static enum error_code find_entries(struct row_gradients *out, int slot_count, struct arena *arena,
                                    struct error *err)
{
    static const char what[] = "the rows that a round read";
    uint64_t *key = NULL, *entry = NULL, *sorted = NULL, *start = NULL, count = 0;
    uint32_t *node = NULL;
    for (int k = 0; k < slot_count; k++)
        count += out->rows[k].count;
    if (count > UINT32_MAX)
        return error_set(err, ERROR_NO_MEMORY,
                         "a round reads rows more often than 4294967295 times: " ADVICE
                         "take fewer "
                         "sample.batches_per_round");
    enum error_code rc = arena_new(arena, &key, count, what, err);
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
    list_entries(out->rows, slot_count, key, entry);
    key_sort(key, sorted, count);
    out->count = group(key, count, entry, node, start, sorted);
    out->node = node;
    out->entry = sorted;
    out->start = start;
    return ERROR_NONE;
}

enum error_code row_gradients_find(const struct gradient *slot, int slot_count,
                                   const struct embedding_tensor *tensor, struct arena *arena,
                                   struct row_gradients *out, struct error *err)
{
    struct gradient_rows *rows = NULL;
    const enum error_code rc =
        arena_new(arena, &rows, (size_t)slot_count, "the rows that a round read", err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct row_gradients){.slot = slot, .rows = rows, .width = tensor->width};
    for (int k = 0; k < slot_count; k++) {
        rows[k] = rows_that_count(&slot[k], tensor->type);
        out->seed_count += (double)slot[k].seed_count;
    }
    if (slot_count > 1)
        return find_entries(out, slot_count, arena, err);
    out->count = rows->count;
    out->node = rows->node;
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
    if (!g->entry) {
        memcpy(out, g->rows->gradient + i * g->width, g->width * sizeof *out);
        return;
    }
    memset(sum, 0, g->width * sizeof *sum);
    for (uint64_t e = g->start[i]; e < g->start[i + 1]; e++) {
        const uint64_t slot = g->entry[e] >> 32, row = (uint32_t)g->entry[e];
        add_row(sum, (double)g->slot[slot].seed_count, g->rows[slot].gradient + row * g->width,
                g->width);
    }
    divide_row(out, sum, g->seed_count, g->width);
}
