/*
 * vertex_cut - each edge is in one part; a node has a replica in every part that holds one of its
 * edges.
 *
 * An edge here is one that the dataset stores: in an undirected graph each direction is an edge.
 * All edges between the same two nodes go to one part, whatever their direction: in two parts they
 * would make replicas for nothing. So a row that is merged from what the parts hold is in order by
 * its sources alone. Edges are named by their index in the order of edge_walk.h. Rules (a file
 * each) say where the edges between two nodes go; the code that they share is here.
 *
 *   replication factor = replicas of all nodes, masters among them / nodes
 *
 * A pass does not take edges in the order of rows. All edges of a node would then come at once,
 * before anything is known of their other ends, and HDRF would make a third more replicas
 * (products-like 0.1, 8 parts: 5.39, not 4.14). It begins at an edge that the seed gives and
 * advances by the golden section of the number of edges. For this the ends of all edges are in
 * memory.
 *
 * Memory: 2 bytes an edge, a bit a node and part, 4 bytes a node for its degree, and what a rule
 * needs itself; with the rows 4 bytes more an edge, and 8 a node.
 */
#ifndef STAGES_PARTITION_RULES_VERTEX_CUT_H
#define STAGES_PARTITION_RULES_VERTEX_CUT_H

#include "common/base/error.h"
#include "stages/partition/rules/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

enum { IN_NO_CUT = UINT16_MAX }; /* an edge without a part yet; parts are at most 65535 */

struct vertex_cut { /* {0} is empty */
    uint32_t node_count, part_count;
    uint64_t edge_count;
    uint32_t set_bytes; /* bytes of a set of parts */
    uint8_t *replica;   /* [node_count, set_bytes], owned, and so are the next */
    /* [node_count]: edges that start or end there; a self loop counts twice. */
    uint32_t *degree;
    uint64_t *load;      /* [part_count]: edges */
    uint16_t *edge_part; /* [edge_count] */
    /* [node_count + 1]: ranges of the edges that end in a node; NULL: not in memory. */
    uint64_t *row_start;
    /* [edge_count]: the sources of edges, ascending in a row. */
    uint32_t *neighbor;
    int64_t seed;
    uint64_t first_edge, step; /* the order of a pass */
};

/* Receives the ends of edges that have no part, and returns their part; IN_NO_CUT leaves them for a
 * later pass. */
typedef uint32_t (*edge_rule)(void *context, uint32_t source, uint32_t target);

/* Allocates a cut without placed edges, and finds the degrees of all nodes in a pass. `own_bytes`
 * are the bytes that the rule takes itself. Fails: ERROR_NO_MEMORY when all of it exceeds the
 * budget, naming both; what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_init(struct vertex_cut *cut,
                                           const struct partition_request *request, bool with_rows,
                                           uint64_t own_bytes, struct error *err);
/* Does only the check of the budget. */
MUST_CHECK enum error_code vertex_cut_check(const struct partition_request *request, bool with_rows,
                                            uint64_t own_bytes, struct error *err);
void vertex_cut_release(struct vertex_cut *cut);
/* Releases what is not needed once all edges have their parts. */
void vertex_cut_release_rows(struct vertex_cut *cut);

/* Return the edge after `edge` in a pass, which begins with first_edge; and the target of an edge.
 * They need rows and edges. */
uint64_t vertex_cut_next(const struct vertex_cut *cut, uint64_t edge);
uint32_t vertex_cut_target(const struct vertex_cut *cut, uint64_t edge);
/* Places the edges that have no part yet. Needs the rows. */
void vertex_cut_place(struct vertex_cut *cut, edge_rule rule, void *context);
/* Does the same without rows, in the order of the dataset: for a rule that gives both directions
 * the same part at any time. Fails: what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_stream(struct vertex_cut *cut,
                                             const struct partition_request *request,
                                             edge_rule rule, void *context, struct error *err);

static inline bool vertex_cut_has(const struct vertex_cut *cut, uint32_t node, uint32_t part)
{
    return cut->replica[(size_t)node * cut->set_bytes + part / 8] >> (part % 8) & 1;
}
/* Returns a part by a hash of the node. */
uint32_t vertex_cut_hash(const struct vertex_cut *cut, uint32_t node);
/* Returns the part with the fewest edges; of several the lowest. */
uint32_t vertex_cut_least(const struct vertex_cut *cut);
/* Returns the most edges that a part may have if parts have a bound: 1.05 times the mean. */
uint64_t vertex_cut_most(const struct vertex_cut *cut);
/* Returns the part that HDRF chooses (hdrf_partitioner.c). */
uint32_t vertex_cut_hdrf(const struct vertex_cut *cut, uint32_t source, uint32_t target);

/* Fills part [node_count] with the master of each node: the part with most of the edges that end
 * there, among those that may take the node by part_loads.h, whatever partition.balance_edges says;
 * then a part with a replica; then the one with fewer nodes; then the lower number. Each part has a
 * node. Fails: ERROR_NO_MEMORY; what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_masters(const struct vertex_cut *cut,
                                              const struct partition_request *request,
                                              uint32_t *part, struct error *err);

#endif
