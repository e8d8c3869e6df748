/* memory_topology - a topology of any number of parts from plain arrays, without LMDB. */
#ifndef TESTS_SUPPORT_MEMORY_TOPOLOGY_H
#define TESTS_SUPPORT_MEMORY_TOPOLOGY_H

#include "store/topology/topology.h"

#include <stdint.h>

struct memory_topology { /* {0} is empty */
    struct topology topology;
    uint64_t *row_start;              /* [node_count + part_count], each part's from 0 */
    const uint64_t **row_start_chunk; /* [part_count] */
    const uint32_t **neighbor_chunk;
    uint32_t *neighbor;
    const char **column_chunk[EDGE_COLUMN_COUNT]; /* [part_count] each; NULL: not there */
    const float **weight_sum_chunk;
};

/* A CSR graph cut into parts at book [part_count + 1], which is borrowed; the rest is copied.
 * Aborts without memory: a test cannot go on. */
void memory_topology_make(struct memory_topology *out, const uint64_t *row_start,
                          const uint32_t *neighbor, const uint32_t *book, int part_count);
/* Gives its edges these columns [edge_count], and its nodes these sums [node_count] (NULL: none); both are borrowed. */
void memory_topology_give(struct memory_topology *graph, const struct edge_columns_view *columns,
                          const float *weight_sum);
void memory_topology_release(struct memory_topology *graph);

#endif
