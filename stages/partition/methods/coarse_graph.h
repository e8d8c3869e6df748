/*
 * coarse_graph - a graph made smaller: clusters of its nodes as nodes, and how many edges lie between them as weights.
 *
 * Clusters are those of label propagation with a bound on their size (Meyerhenke, Sanders and Schulz, "Partitioning complex
 * networks via size-constrained clustering", SEA 2014), which goes on where matchings of pairs end: around hubs. A node goes
 * where the edges to its neighbours weigh most and there is room; of equal ones it stays, then the lower number takes it. What
 * comes of it is clustered again until there are few enough nodes, or hardly fewer than before.
 *
 * Edges inside a cluster are kept, as a loop of their weight both ways: so weights of a row sum to the degrees of the cluster's
 * nodes, and a walk on the small graph is as likely to stay. A pure function of the graph.
 */
#ifndef STAGES_PARTITION_METHODS_COARSE_GRAPH_H
#define STAGES_PARTITION_METHODS_COARSE_GRAPH_H

#include "common/base/error.h"
#include "stages/partition/methods/undirected_graph.h"

#include <stdint.h>

struct coarse_graph { /* {0} is empty */
    uint32_t node_count;
    int32_t *row_start; /* [node_count + 1], owned; likewise below */
    int32_t *neighbor;  /* [row_start[node_count]], a node itself among its own */
    uint32_t *weight;   /* likewise: edges, each direction by itself */
    uint32_t *size;     /* [node_count]: nodes of the graph in it */
    uint32_t *cluster;  /* [nodes of the graph]: where each is */
};

/* At most about `wanted` nodes, none of more than 2 * nodes / wanted of the graph. Fails: ERROR_NO_MEMORY; ERROR_UNAVAILABLE when
 * the program was asked to stop. */
MUST_CHECK enum error_code coarse_graph_build(const struct undirected_graph *graph, uint32_t wanted,
                                              struct coarse_graph *out, struct error *err);
/* Bytes held beside the graph, at most. */
uint64_t coarse_graph_bytes(uint64_t node_count, uint64_t neighbor_count);
void coarse_graph_release(struct coarse_graph *graph);

#endif
