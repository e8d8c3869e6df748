/*
 * fold_state - a fold on the way: what the deltas say, one after the other, in numbers that none of them moves.
 *
 * Nodes of the base keep their numbers; those that are added are numbered behind all of them for good, whatever their type, those that go
 * again included.
 */
#ifndef STORE_VERSIONS_FOLD_STATE_H
#define STORE_VERSIONS_FOLD_STATE_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "store/versions/version_fold.h"

#include <stddef.h>
#include <stdint.h>

struct gone_mark { /* all edges of the same ends and relation that came before the delta */
    uint64_t key;  /* target and source */
    uint32_t relation, delta;
};

struct fold_state { /* {0} is releasable */
    struct version_fold *fold;
    struct relation_reverses reverses;
    uint32_t gone_count; /* of the base's nodes; the array is fold->gone */
    size_t gone_room;
    uint32_t added_count; /* of all deltas */
    size_t added_room;
    struct fold_node *added; /* [added_count] */
    uint32_t alive_count;
    uint32_t *alive;  /* [alive_count] which of them are there: type by type, ascending */
    uint32_t *number; /* [added_count] what they are in the version, or NODE_GONE; at the end */
    uint64_t mark_count;
    size_t mark_room;
    struct gone_mark *mark;
    size_t edge_room, held_room, row_room;
    /* Of a dataset of many graphs (fold_graphs.h): those of the base keep their numbers, and those that come are numbered behind them for good. */
    uint32_t graph_base, graph_count, came_count;
    uint32_t *graph;        /* [graph_count] which are there, ascending */
    struct fold_node *came; /* [came_count] of all deltas */
    uint32_t *graph_of;     /* [added_count] of each added node */
    size_t came_room, graph_of_room;
};

/* Nodes of the base: lasting numbers from there on are those of added ones. */
static inline uint32_t fold_state_base(const struct fold_state *state)
{
    return state->fold->base.node_count;
}

/* All edges of the same ends; those of an undirected graph by the larger end first. */
static inline uint64_t fold_state_key(const struct fold_state *state, uint32_t target,
                                      uint32_t source)
{
    const bool swap = state->fold->base.undirected && source > target;
    return swap ? (uint64_t)source << 32 | target : (uint64_t)target << 32 | source;
}

/* Before the first delta: the nodes are those of fold->base. */
void fold_state_begin(struct fold_state *state);
/* Takes one delta more, fold->delta[which]. Fails: ERROR_CORRUPT when it is of another base. */
MUST_CHECK enum error_code fold_state_take(struct fold_state *state, uint32_t which,
                                           struct error *err);
/* Behind the last: fills nodes, edges and rows of the fold. */
MUST_CHECK enum error_code fold_state_finish(struct fold_state *state, struct error *err);
void fold_state_release(struct fold_state *state);

#endif
