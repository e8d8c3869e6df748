#include "stages/sampling/rows/edge_gather.h"

#include "store/records/batch/batch_form.h"

#include <string.h>

enum error_code edge_gather_reserve(struct edge_gather *gather, struct array_budget *budget,
                                    uint64_t wanted, uint64_t used, struct error *err)
{
    return growing_array_reserve(&gather->place, budget, 2 * wanted, 2 * used,
                                 "the places of a mini-batch's edges", err);
}

static const char *address_of(const struct topology *topology, enum edge_column column,
                              uint64_t place)
{
    const uint64_t edge = place & ((UINT64_C(1) << EDGE_PLACE_BITS) - 1);
    return topology_column(&topology->part[place >> EDGE_PLACE_BITS], column, edge);
}

/* Gathers values of `bytes` bytes. Inlined with a constant size, the memcpy is one instruction. */
static inline __attribute__((always_inline)) void gather_column(const struct topology *topology,
                                                                enum edge_column column,
                                                                size_t bytes, const uint64_t *place,
                                                                uint64_t count, char *out)
{
    const char *address[EDGE_GATHER_DISTANCE];
    for (uint64_t i = 0; i < count + EDGE_GATHER_DISTANCE; i++) {
        const char **slot = &address[i % EDGE_GATHER_DISTANCE];
        if (i >= EDGE_GATHER_DISTANCE)
            memcpy(out + (i - EDGE_GATHER_DISTANCE) * bytes, *slot, bytes);
        if (i < count) {
            *slot = address_of(topology, column, place[i]);
            __builtin_prefetch(*slot, 0, 2);
        }
    }
}

static void gather_any(const struct topology *topology, enum edge_column column, size_t bytes,
                       const uint64_t *place, uint64_t count, char *out)
{
    if (bytes == sizeof(float))
        gather_column(topology, column, sizeof(float), place, count, out);
    else if (bytes == sizeof(double))
        gather_column(topology, column, sizeof(double), place, count, out);
    else
        gather_column(topology, column, bytes, place, count, out);
}

enum error_code edge_gather_fill(struct edge_gather *gather, struct array_budget *budget,
                                 const struct topology *topology, unsigned wanted, uint64_t count,
                                 struct edge_columns_view *out, struct error *err)
{
    *out = (struct edge_columns_view){0};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = wanted >> c & 1 ? topology->width.of[c] : 0;
        const size_t bytes = edge_column_bytes((enum edge_column)c, width);
        struct growing_array *array = &gather->column[c];
        if (!bytes)
            continue;
        const enum error_code rc = growing_array_reserve(
            array, budget, (count * bytes + 3) / 4 + 1, 0, "the edge columns of a mini-batch", err);
        if (rc != ERROR_NONE)
            return rc;
        gather_any(topology, (enum edge_column)c, bytes, edge_gather_places(gather), count,
                   (char *)array->data);
        out->width.of[c] = width;
        out->data[c] = array->data;
    }
    return ERROR_NONE;
}

enum error_code edge_gather_positions(struct edge_gather *gather, struct array_budget *budget,
                                      const struct topology *topology, struct mini_batch *batch,
                                      struct error *err)
{
    const uint64_t *place = edge_gather_places(gather);
    const uint64_t mask = (UINT64_C(1) << EDGE_PLACE_BITS) - 1;
    const enum error_code rc =
        growing_array_reserve(&gather->position, budget, (size_t)batch->edge_count + 1, 0,
                              "the positions of a mini-batch's edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t row = 0; row < batch->row_count; row++) {
        const uint32_t first = batch->row_start[row], end = batch->row_start[row + 1];
        if (first == end)
            continue;
        const struct topology_part *part = &topology->part[place[first] >> EDGE_PLACE_BITS];
        const uint32_t node = batch->node[batch_form_node_of_row(batch, 0, row)];
        const uint64_t start = topology_row_start(part, node - part->first_node);
        for (uint32_t e = first; e < end; e++)
            gather->position.data[e] = (uint32_t)((place[e] & mask) - start);
    }
    batch->edge_position = gather->position.data;
    return ERROR_NONE;
}

void edge_gather_release(struct edge_gather *gather, struct array_budget *budget)
{
    growing_array_release(&gather->position, budget);
    growing_array_release(&gather->place, budget);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        growing_array_release(&gather->column[c], budget);
}
