/*
 * edge_sides - whether all edges go from nodes of one side to nodes of the other: users to items,
 * authors to papers.
 *
 * A graph of one node type may be bipartite still. A pair of two users is then no edge for a
 * trivial reason, so links are compared with pairs of the right sides only
 * (stages/sampling/pair_sides.h). The sides are those of the input as it lists its edges: the nodes
 * that are sources, and the nodes that are targets. An input that lists its edges both ways does
 * not show which side is which, only that two groups of nodes can be found such that no edge joins
 * two nodes of one group. That is looked for, too, so that the run can say it: a union-find
 * structure keeps for each node whether it is in the group of its parent, and an odd cycle ends the
 * search.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_SIDES_H
#define STAGES_INGEST_BUILD_EDGE_SIDES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct edge_sides { /* {0}: nobody asks */
    /* [node_count / 8 + 1] a bit a node; NULL: a node is a source and a target */
    uint8_t *is_source, *is_target;
    uint32_t *parent; /* [node_count]; NULL: there is an odd cycle, or nobody asks */
    /* [node_count / 8 + 1] a bit a node: it is in the other group than its parent */
    uint8_t *is_opposite;
    uint32_t node_count;
    uint32_t count[2]; /* once counted: sources, targets */
};

MUST_CHECK enum error_code edge_sides_open(struct edge_sides *sides, uint32_t node_count,
                                           struct error *err);
void edge_sides_close(struct edge_sides *sides);
/* Forgets what an edge shows to be wrong. */
void edge_sides_note(struct edge_sides *sides, uint32_t source, uint32_t target);
/* Whether there are two sides, of two nodes each at least, so that a negative can be another node
 * than the end that it replaces. */
bool edge_sides_count(struct edge_sides *sides);
/* Whether the nodes make two groups without an edge inside one, but the input does not name
 * them. */
bool edge_sides_are_groups(const struct edge_sides *sides);
/* Writes the sources [count[0]], ascending, to *out, which the caller owns. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_sides_sources(const struct edge_sides *sides, uint32_t **out,
                                              struct error *err);

#endif
