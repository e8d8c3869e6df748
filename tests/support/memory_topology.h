/* memory_topology - a topology of any number of parts, made of plain arrays without LMDB. */
#ifndef TESTS_SUPPORT_MEMORY_TOPOLOGY_H
#define TESTS_SUPPORT_MEMORY_TOPOLOGY_H

#include "store/topology/topology.h"

#include <stdint.h>

struct memory_topology { /* {0} is empty */
    struct topology topology;
    uint64_t *row_start;              /* [node_count + part_count], each part's starts at 0 */
    const uint64_t **row_start_chunk; /* [part_count] */
    const uint32_t **neighbor_chunk;
    uint32_t *neighbor;
    /* [part_count] each; NULL: there is no such column */
    const char **column_chunk[EDGE_COLUMN_COUNT];
    const float **weight_sum_chunk;
};

/* Makes a CSR graph, cut into parts at book [part_count + 1], which is borrowed; the rest is
 * copied. Aborts without memory, because a test cannot continue. */
void memory_topology_make(struct memory_topology *out, const uint64_t *row_start,
                          const uint32_t *neighbor, const uint32_t *book, int part_count);
/* Adds these columns [edge_count] to its edges, and these sums [node_count] (NULL: none) to its
 * nodes; both are borrowed. */
void memory_topology_give(struct memory_topology *graph, const struct edge_columns_view *columns,
                          const float *weight_sum);
void memory_topology_release(struct memory_topology *graph);

#endif
