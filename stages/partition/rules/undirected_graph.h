/*
 * undirected_graph - a dataset's graph in the form that METIS needs: both directions, no self
 * loops, no repeats.
 *
 * METIS checks nothing: an id out of range crashes it or silently spoils the result, and an edge in
 * only one direction is always accepted. So the graph is made symmetric here, whatever the
 * dataset's direction is, and checked as a whole before METIS sees it. Offsets and ids are signed
 * 32-bit numbers, as in Debian's METIS.
 */
#ifndef STAGES_PARTITION_RULES_UNDIRECTED_GRAPH_H
#define STAGES_PARTITION_RULES_UNDIRECTED_GRAPH_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

struct undirected_graph { /* {0} is empty */
    uint32_t node_count;
    int32_t *row_start; /* [node_count + 1], owned */
    int32_t *neighbor;  /* [row_start[node_count]], owned; ascending in a row */
    /* [row_start[node_count]] the cost of cutting the edge, owned; NULL: all edges cost the
     * same. */
    int32_t *edge_cost;
};

/* Builds the graph. Reads the edges of the dataset twice: to count, and to fill. Fails:
 * ERROR_INVALID for a graph beyond METIS's 32 bits, naming the limit; what edge_walk() fails with;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code undirected_graph_build(struct store *store,
                                                  const struct dataset_schema *schema,
                                                  struct undirected_graph *out, struct error *err);
/* Sets edge_cost, in both directions, to the sum of the costs of the edges between two nodes.
 * `cost` [node_count] is the cost of each in-edge of a node (measured_loads.h). A cost is at least
 * 1, and all are scaled down if their sum would exceed METIS's 32 bits. Reads the edges once.
 * Fails: what edge_walk() fails with; ERROR_CORRUPT for edges that the graph does not have;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code undirected_graph_set_cost(struct undirected_graph *graph,
                                                     struct store *store,
                                                     const struct dataset_schema *schema,
                                                     const uint32_t *cost, struct error *err);
/* Returns the bytes held at the peak of building. */
uint64_t undirected_graph_bytes(const struct dataset_schema *schema);
void undirected_graph_release(struct undirected_graph *graph);

/* Checks the graph. Fails: ERROR_CORRUPT naming the node, for anything that METIS must not see. */
MUST_CHECK enum error_code undirected_graph_check(const struct undirected_graph *graph,
                                                  struct error *err);

#endif
