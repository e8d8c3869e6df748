/*
 * edge_index - edges of a list by their ends and types.
 *
 * A sorted order beside the list, 8 bytes an edge, and as many again while it is sorted.
 */
#ifndef COMMON_GRAPH_EDGE_INDEX_H
#define COMMON_GRAPH_EDGE_INDEX_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define EDGE_INDEX_NONE UINT64_MAX

/* Returns both ends of an edge as one number: source above, or both ways alike the smaller end. */
static inline uint64_t edge_pair_of(bool undirected, uint32_t source, uint32_t target)
{
    const bool turns = undirected && source > target;
    return turns ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;
}

struct edge_index {                  /* {0} is of no edges, and releasable */
    const uint32_t *source, *target; /* [count], borrowed */
    const uint16_t *type;            /* [count], borrowed; NULL: edges have none */
    uint64_t count;
    bool undirected; /* an edge and its way back are the same */
    uint64_t *order; /* [count], owned */
};

/* Of the list that is filled in. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_index_sort(struct edge_index *index, struct error *err);
void edge_index_release(struct edge_index *index);
/* The first in the list that is this edge, or EDGE_INDEX_NONE; `type` 0 where edges have none. */
uint64_t edge_index_find(const struct edge_index *index, uint32_t source, uint32_t target,
                         uint16_t type);
/* Whether an edge is in the list twice: which, the first one first. */
bool edge_index_repeated(const struct edge_index *index, uint64_t *first, uint64_t *second);

#endif
