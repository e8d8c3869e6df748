/*
 * edge_discovery - encodes the sources of a mini-batch's edges without those that follow from the
 * order of discovery.
 *
 * Nodes of a sampled mini-batch are numbered in the order in which its edges discover them: the
 * source of an edge is either a node discovered before, or the next number. So one bit for each
 * edge says whether it discovers a node, and only the others, a quarter of the edges in a sparse
 * neighbourhood, need a number of their own. The encoding is correct for any edges: if nodes are in
 * another order, an edge is seldom the one that discovers the next node, and nearly all edges have
 * a number.
 *
 *   edges    5 6 0 7 6 8      first_new 5
 *   is_new   1 1 0 1 0 1
 *   rest         0   6
 */
#ifndef COMMON_GRAPH_EDGE_DISCOVERY_H
#define COMMON_GRAPH_EDGE_DISCOVERY_H

#include <stdint.h>

enum { EDGE_DISCOVERY_SLACK = 16 }; /* elements of a vector */

struct edge_discovery {
    uint64_t rest_count; /* edges that discover no node */
    unsigned rest_width; /* bits of the largest of their sources */
};

/* Marks the edges. Shapes: neighbor [edge_count]; is_new [words of edge_count bits], the unused
 * ones set to zero. */
struct edge_discovery edge_discovery_mark(const uint32_t *neighbor, uint64_t edge_count,
                                          uint32_t first_new, uint64_t *is_new);
/* Packs the rest as packed_integers of that width into out [packed_integers_words()]. */
void edge_discovery_pack_rest(const uint32_t *neighbor, uint64_t edge_count, const uint64_t *is_new,
                              unsigned rest_width, uint64_t *out);
/* Returns the number of edges that discover a node. */
uint64_t edge_discovery_count(const uint64_t *is_new, uint64_t edge_count);
/* Decodes in place: neighbor [edge_count + EDGE_DISCOVERY_SLACK] has the rest just before element
 * edge_count; the elements after it are ignored. */
void edge_discovery_restore(const uint64_t *is_new, uint64_t edge_count, uint64_t rest_count,
                            uint32_t first_new, uint32_t *neighbor);

#endif
