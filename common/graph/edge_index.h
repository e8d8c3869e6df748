/*
 * edge_index - finds the edges of a list by their ends and types.
 *
 * It sorts an order of the list, which takes 8 bytes for each edge, and twice as much while it
 * sorts.
 */
#ifndef COMMON_GRAPH_EDGE_INDEX_H
#define COMMON_GRAPH_EDGE_INDEX_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define EDGE_INDEX_NONE UINT64_MAX

/* Returns both ends of an edge as one number with the source in the upper half; for undirected
 * edges the smaller end is there, so both directions are equal. */
static inline uint64_t edge_pair_of(bool undirected, uint32_t source, uint32_t target)
{
    const bool turns = undirected && source > target;
    return turns ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;
}

struct edge_index {                  /* {0} has no edges, and may be released */
    const uint32_t *source, *target; /* [count], borrowed */
    const uint16_t *type;            /* [count], borrowed; NULL: edges have no types */
    uint64_t count;
    bool undirected; /* an edge and its reverse are the same edge */
    uint64_t *order; /* [count], owned */
};

/* Sorts the list that the caller has set. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_index_sort(struct edge_index *index, struct error *err);
void edge_index_release(struct edge_index *index);
/* Returns the first edge of the list with these ends and type, or EDGE_INDEX_NONE; `type` is 0 if
 * edges have none. */
uint64_t edge_index_find(const struct edge_index *index, uint32_t source, uint32_t target,
                         uint16_t type);
/* Returns whether an edge is in the list twice, and if so the positions of both, in order. */
bool edge_index_repeated(const struct edge_index *index, uint64_t *first, uint64_t *second);

#endif
