/*
 * coarse_graph - a smaller graph: clusters of nodes become its nodes, and the numbers of edges
 * between clusters become weights.
 *
 * Clusters come from label propagation with a bound on their size (Meyerhenke, Sanders and Schulz,
 * "Partitioning complex networks via size-constrained clustering", SEA 2014). Around hubs it still
 * merges nodes where matchings of pairs do not. A node goes to the cluster to which its edges weigh
 * most and that has room. Of equal clusters it stays in its own, or else takes the lower number.
 * The result is clustered again until there are few enough nodes, or hardly fewer than before.
 *
 * Edges inside a cluster are kept as a loop, with the weight of both directions. So the weights of
 * a row sum to the degrees of the cluster's nodes, and a walk on the small graph is as likely to
 * stay. The result is a pure function of the graph.
 */
#ifndef STAGES_PARTITION_RULES_COARSE_GRAPH_H
#define STAGES_PARTITION_RULES_COARSE_GRAPH_H

#include "common/base/error.h"
#include "stages/partition/rules/undirected_graph.h"

#include <stdint.h>

struct coarse_graph { /* {0} is empty */
    uint32_t node_count;
    int32_t *row_start; /* [node_count + 1], owned, and so are the next */
    int32_t *neighbor;  /* [row_start[node_count]]; a row may contain its own node */
    uint32_t *weight;   /* [row_start[node_count]] edges, each direction counted */
    uint32_t *size;     /* [node_count]: nodes of the original graph in it */
    uint32_t *cluster;  /* [original nodes]: the cluster of each */
};

/* Builds a graph of about `wanted` nodes or fewer. No cluster has more than 2 * nodes / wanted
 * nodes. Fails: ERROR_NO_MEMORY; ERROR_UNAVAILABLE when the program was asked to stop. */
MUST_CHECK enum error_code coarse_graph_build(const struct undirected_graph *graph, uint32_t wanted,
                                              struct coarse_graph *out, struct error *err);
/* Returns the most bytes that it holds beside the graph. */
uint64_t coarse_graph_bytes(uint64_t node_count, uint64_t neighbor_count);
void coarse_graph_release(struct coarse_graph *graph);

#endif
