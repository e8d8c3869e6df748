/*
 * edge_sides - whether all edges go from nodes of one side to nodes of the other: users to items,
 * authors to papers.
 *
 * Even a graph of one node type may be bipartite. In such a graph a pair of two users can never be
 * an edge, so links are compared only with pairs of the right sides (stages/sampling/pairs/pair_sides.h).
 * The sides are the sources and the targets as the input lists its edges. An input that lists its
 * edges both ways does not show which side is which; it only shows that the nodes form two groups
 * and that no edge joins two nodes of one group. This is detected, too, so that the run can report
 * it: a union-find structure keeps for each node whether it is in the group of its parent, and an
 * odd cycle ends the search.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGE_SIDES_H
#define STAGES_INGEST_BUILD_EDGES_EDGE_SIDES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct edge_sides { /* {0}: nobody asks for sides */
    /* [node_count / 8 + 1] one bit a node; NULL: some node is a source and a target */
    uint8_t *is_source, *is_target;
    uint32_t *parent; /* [node_count]; NULL: there is an odd cycle, or nobody asks */
    /* [node_count / 8 + 1] one bit a node: it is in the other group than its parent */
    uint8_t *is_opposite;
    uint32_t node_count;
    uint32_t count[2]; /* number of sources and of targets, once counted */
};

MUST_CHECK enum error_code edge_sides_open(struct edge_sides *sides, uint32_t node_count,
                                           struct error *err);
void edge_sides_close(struct edge_sides *sides);
/* Notes an edge, and gives up the sides or the groups if the edge contradicts them. */
void edge_sides_note(struct edge_sides *sides, uint32_t source, uint32_t target);
/* Returns whether there are two sides. Each needs two nodes at least, so that a negative can be
 * another node than the end that it replaces. */
bool edge_sides_count(struct edge_sides *sides);
/* Returns whether the nodes form two groups without an edge inside a group, although the input does
 * not show which group is the sources. */
bool edge_sides_are_groups(const struct edge_sides *sides);
/* Writes the sources [count[0]], ascending, to *out, which the caller owns. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_sides_sources(const struct edge_sides *sides, uint32_t **out,
                                              struct error *err);

#endif
