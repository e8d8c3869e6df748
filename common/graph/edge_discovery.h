/*
 * edge_discovery - the sources of a mini-batch's edges, without those that the order of discovery gives.
 *
 * Nodes of a sampled mini-batch are numbered as its edges find them: the source of an edge is either a node found
 * before or the next number. So one bit for each edge says whether it finds a node, and only the others, a
 * quarter of them in a sparse neighbourhood, need a number of their own. The rule holds for any edges: where
 * nodes are in another order an edge is seldom the one that finds the next, and nearly all have their number.
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
    uint64_t rest_count; /* edges that find no node */
    unsigned rest_width; /* bits of the largest of their sources */
};

/* Shapes: neighbor [edge_count]; is_new [words of edge_count bits], the unused ones set to zero. */
struct edge_discovery edge_discovery_mark(const uint32_t *neighbor, uint64_t edge_count,
                                          uint32_t first_new, uint64_t *is_new);
/* The rest as packed_integers of that width into out [packed_integers_words()]. */
void edge_discovery_pack_rest(const uint32_t *neighbor, uint64_t edge_count, const uint64_t *is_new,
                              unsigned rest_width, uint64_t *out);
/* Edges that find a node. */
uint64_t edge_discovery_count(const uint64_t *is_new, uint64_t edge_count);
/* The other way, in place: neighbor [edge_count + EDGE_DISCOVERY_SLACK] has the rest just before element
 * edge_count, and nothing of use behind. */
void edge_discovery_restore(const uint64_t *is_new, uint64_t edge_count, uint64_t rest_count,
                            uint32_t first_new, uint32_t *neighbor);

#endif
