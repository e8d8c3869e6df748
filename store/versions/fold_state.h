/*
 * fold_state - a fold that is being made: the deltas are taken one after the other, with lasting
 * node numbers.
 *
 * Nodes of the base keep their numbers. Added nodes of any type are numbered after them, and keep
 * these numbers even if later deltas remove some.
 */
#ifndef STORE_VERSIONS_FOLD_STATE_H
#define STORE_VERSIONS_FOLD_STATE_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "store/versions/version_fold.h"

#include <stddef.h>
#include <stdint.h>

/* all edges with these ends and relation that came before the delta are removed */
struct gone_mark {
    uint64_t key; /* target and source */
    uint32_t relation, delta;
};

struct fold_state { /* {0} is releasable */
    struct version_fold *fold;
    struct relation_reverses reverses;
    uint32_t gone_count; /* of the base's nodes; the array is fold->gone */
    size_t gone_room;
    uint32_t added_count; /* in all deltas */
    size_t added_room;
    struct fold_node *added; /* [added_count] */
    uint32_t alive_count;
    uint32_t *alive;  /* [alive_count] those that still exist: type by type, ascending */
    uint32_t *number; /* [added_count] their numbers in the version, or NODE_GONE; set at the end */
    uint64_t mark_count;
    size_t mark_room;
    struct gone_mark *mark;
    size_t edge_room, held_room, row_room;
    /* For a dataset of many graphs (fold_graphs.h): graphs of the base keep their numbers, and
     * added graphs get lasting numbers after them. */
    uint32_t graph_base, graph_count, came_count;
    uint32_t *graph;        /* [graph_count] those that still exist, ascending */
    struct fold_node *came; /* [came_count] of all deltas */
    uint32_t *graph_of;     /* [added_count] graph of each added node */
    size_t came_room, graph_of_room;
};

/* Returns the number of nodes of the base; lasting numbers from there on belong to added nodes. */
static inline uint32_t fold_state_base(const struct fold_state *state)
{
    return state->fold->base.node_count;
}

/* Returns the key of all edges with the same ends. In an undirected graph both directions have the
 * same key, with the larger end first. */
static inline uint64_t fold_state_key(const struct fold_state *state, uint32_t target,
                                      uint32_t source)
{
    const bool swap = state->fold->base.undirected && source > target;
    return swap ? (uint64_t)source << 32 | target : (uint64_t)target << 32 | source;
}

/* Initialises *state before the first delta: the nodes are those of fold->base. */
void fold_state_begin(struct fold_state *state);
/* Takes one more delta, fold->delta[which]. Fails: ERROR_CORRUPT when its base is not the fold so
 * far. */
MUST_CHECK enum error_code fold_state_take(struct fold_state *state, uint32_t which,
                                           struct error *err);
/* Fills nodes, edges and rows of the fold after the last delta. */
MUST_CHECK enum error_code fold_state_finish(struct fold_state *state, struct error *err);
void fold_state_release(struct fold_state *state);

#endif
