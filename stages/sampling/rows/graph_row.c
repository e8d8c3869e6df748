#include "stages/sampling/rows/graph_row.h"

#include <inttypes.h>

enum error_code graph_row_of_relation(const struct topology *topology, uint32_t relation,
                                      uint32_t node, struct graph_row *out, struct error *err)
{
    if (node >= topology->node_count)
        return error_set(err, ERROR_CORRUPT, "node %" PRIu32 ": expected below %" PRIu32, node,
                         topology->node_count);
    const int number = topology_part_of(topology, node);
    const struct topology_part *part = topology_rows(topology, number, relation);
    const uint32_t index = node - part->first_node;
    if (index >= part->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "topology: node %" PRIu32 " has no row of relation %" PRIu32, node,
                         relation);
    const uint64_t start = topology_row_start(part, index),
                   end = topology_row_start(part, index + 1);
    if (end < start || end > part->edge_count || end - start > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "topology: the row of node %" PRIu32 " is %" PRIu64 " to %" PRIu64
                         ", expected ascending, at most %" PRIu64 ", and below 2^32 long",
                         node, start, end, part->edge_count);
    *out = (struct graph_row){.part = part,
                              .part_number = (int)(part - topology->part),
                              .index = index,
                              .length = (uint32_t)(end - start),
                              .start = start};
    return ERROR_NONE;
}

bool graph_row_is_there(const struct topology *topology, uint32_t relation, uint32_t node)
{
    if (node >= topology->node_count)
        return true;
    const struct topology_part *part =
        topology_rows(topology, topology_part_of(topology, node), relation);
    return node - part->first_node < part->node_count;
}

enum error_code graph_row_neighbor(const struct topology *topology, const struct graph_row *row,
                                   uint32_t k, uint32_t *out, struct error *err)
{
    *out = *topology_neighbor(row->part, row->start + k);
    if (*out < topology->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "topology: a neighbour of node %" PRIu32 " is %" PRIu32
                     ", expected below %" PRIu32,
                     row->part->first_node + row->index, *out, topology->node_count);
}

/* The first edge whose source is at least `node`. */
static uint32_t first_at_least(const struct graph_row *row, uint64_t node)
{
    uint32_t low = 0, high = row->length;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (*topology_neighbor(row->part, row->start + middle) < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t graph_row_count(const struct graph_row *row, uint32_t node)
{
    return first_at_least(row, (uint64_t)node + 1) - first_at_least(row, node);
}

int64_t graph_row_time(const struct topology *topology, const struct graph_row *row, uint32_t k)
{
    const bool is_timed = edge_widths_are_timed(&row->part->width);
    const int64_t own = is_timed ? topology_time(row->part, row->start + k) : EDGE_TIME_FIRST;
    const uint32_t source = *topology_neighbor(row->part, row->start + k);
    if (!topology->node_time || source >= topology->node_count)
        return own;
    return topology->node_time[source] > own ? topology->node_time[source] : own;
}
