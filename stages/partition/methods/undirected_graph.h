/*
 * undirected_graph - a dataset's graph as METIS wants it: both directions, no self loops, no repeats.
 *
 * METIS checks nothing: an id out of range crashes it or silently spoils the result, and an edge that
 * stands in one direction only is always accepted. So the graph is made symmetric here, whatever the
 * dataset's direction is, and checked as a whole before METIS sees it. Offsets and ids have 32 bits
 * with sign, as Debian's METIS has.
 */
#ifndef STAGES_PARTITION_METHODS_UNDIRECTED_GRAPH_H
#define STAGES_PARTITION_METHODS_UNDIRECTED_GRAPH_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

struct undirected_graph { /* {0} is empty */
    uint32_t node_count;
    int32_t *row_start; /* [node_count + 1], owned */
    int32_t *neighbor;  /* [row_start[node_count]], owned; ascending in a row */
    int32_t *edge_cost; /* the same of what cutting the edge costs, owned; NULL: all alike */
};

/* Reads the edges of the dataset twice: to count, to fill.
 * Fails: ERROR_INVALID for a graph beyond METIS's 32 bits, naming the limit; what edge_walk() fails
 * with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code undirected_graph_build(struct store *store,
                                                  const struct dataset_schema *schema,
                                                  struct undirected_graph *out, struct error *err);
/* Sets edge_cost, both ways, to what the edges between two nodes cost together by `cost` [node_count] of each in-edge of a node
 * (measured_loads.h): at least 1, and scaled down where the sum of all would be above METIS's 32 bits. Reads the edges once.
 * Fails: what edge_walk() fails with; ERROR_CORRUPT for edges that the graph has not; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code undirected_graph_set_cost(struct undirected_graph *graph,
                                                     struct store *store,
                                                     const struct dataset_schema *schema,
                                                     const uint32_t *cost, struct error *err);
/* Bytes held at the peak of building. */
uint64_t undirected_graph_bytes(const struct dataset_schema *schema);
void undirected_graph_release(struct undirected_graph *graph);

/* Fails: ERROR_CORRUPT naming the node, for anything METIS must not see. */
MUST_CHECK enum error_code undirected_graph_check(const struct undirected_graph *graph,
                                                  struct error *err);

#endif
