/*
 * vertex_cut - each edge in one part; a node has a replica in every part that holds one of its edges.
 *
 * An edge here is one that the dataset stores: of an undirected graph each direction is one of its own. All edges between the
 * same two nodes go to one part, whatever their direction: apart they would make replicas for nothing, and a row that is put
 * together of what the parts hold is in order by its sources alone. Edges are named by their place in the order of
 * edge_walk.h. Rules (a file each) say where the edges between two nodes go; what they have in common is here.
 *
 *   replication factor = replicas of all nodes, masters among them / nodes
 *
 * Edges come in steps of the golden section of all, from one that the seed says: in the order of rows, all edges of a node come
 * at once, before anything is known of their other ends, and HDRF then makes a third more replicas (products-like 0.1, 8 parts:
 * 5.39, not 4.14). So the ends of all edges are in memory.
 *
 * Memory: 2 bytes an edge, a bit a node and part, 4 bytes a node for its degree, and what a rule has of its own; with the rows
 * 4 bytes more an edge, and 8 a node.
 */
#ifndef STAGES_PARTITION_METHODS_VERTEX_CUT_H
#define STAGES_PARTITION_METHODS_VERTEX_CUT_H

#include "common/base/error.h"
#include "stages/partition/methods/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

enum { IN_NO_CUT = UINT16_MAX }; /* an edge without a part yet; parts are at most 65535 */

struct vertex_cut { /* {0} is empty */
    uint32_t node_count, part_count;
    uint64_t edge_count;
    uint32_t set_bytes;  /* of a set of parts */
    uint8_t *replica;    /* [node_count, set_bytes], owned; likewise below */
    uint32_t *degree;    /* [node_count]: edges that start or end there; a self loop counts twice */
    uint64_t *load;      /* [part_count]: edges */
    uint16_t *edge_part; /* [edge_count] */
    uint64_t *row_start; /* [node_count + 1]: the edges that end in a node; NULL: not in memory */
    uint32_t *neighbor;  /* [edge_count]: where they start, ascending in a row */
    int64_t seed;
    uint64_t first_edge, step; /* the order of a pass */
};

/* Gets the ends of edges that are in no part, and says which; IN_NO_CUT leaves them for a later pass. */
typedef uint32_t (*edge_rule)(void *context, uint32_t source, uint32_t target);

/* Nothing placed; the degrees of all nodes are found by a pass. `own_bytes` is what the rule takes itself.
 * Fails: ERROR_NO_MEMORY when all of it exceeds the budget, naming both; what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_init(struct vertex_cut *cut,
                                           const struct partition_request *request, bool with_rows,
                                           uint64_t own_bytes, struct error *err);
/* That of the budget alone. */
MUST_CHECK enum error_code vertex_cut_check(const struct partition_request *request, bool with_rows,
                                            uint64_t own_bytes, struct error *err);
void vertex_cut_release(struct vertex_cut *cut);
/* What is needed no more once all edges have their parts. */
void vertex_cut_release_rows(struct vertex_cut *cut);

/* The edge that comes behind `edge` in a pass, of which the first is first_edge; and where an edge ends. With rows and edges. */
uint64_t vertex_cut_next(const struct vertex_cut *cut, uint64_t edge);
uint32_t vertex_cut_target(const struct vertex_cut *cut, uint64_t edge);
/* Places the edges that have no part yet. With rows. */
void vertex_cut_place(struct vertex_cut *cut, edge_rule rule, void *context);
/* The same without rows, in the order of the dataset: for a rule that says the same of both directions at any time.
 * Fails: what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_stream(struct vertex_cut *cut,
                                             const struct partition_request *request,
                                             edge_rule rule, void *context, struct error *err);

static inline bool vertex_cut_has(const struct vertex_cut *cut, uint32_t node, uint32_t part)
{
    return cut->replica[(size_t)node * cut->set_bytes + part / 8] >> (part % 8) & 1;
}
/* A part by hash of the node. */
uint32_t vertex_cut_hash(const struct vertex_cut *cut, uint32_t node);
/* The part with the fewest edges; of several the lowest. */
uint32_t vertex_cut_least(const struct vertex_cut *cut);
/* Edges that a part may have where parts have a bound: 1.05 times the mean. */
uint64_t vertex_cut_most(const struct vertex_cut *cut);
/* HDRF's choice (hdrf_cut.c). */
uint32_t vertex_cut_hdrf(const struct vertex_cut *cut, uint32_t source, uint32_t target);

/* The master of each node: the part with most of the edges that end there, of those that may take it by part_loads.h, whatever
 * partition.balance_edges says; then one with a replica; then the one with fewer nodes; then the lower number.
 * Fills part [node_count]; each part has a node. Fails: ERROR_NO_MEMORY; what edge_walk.h fails with. */
MUST_CHECK enum error_code vertex_cut_masters(const struct vertex_cut *cut,
                                              const struct partition_request *request,
                                              uint32_t *part, struct error *err);

#endif
