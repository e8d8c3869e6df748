/*
 * known_nodes - the table of the nodes that a batch has, with their local indices.
 *
 * The table has one number for each node of the graph: base + local index if the node is known,
 * any number below base if it is not. A new batch only moves `base` past the numbers in use, so
 * the table is cleared once in some 2^32 drawn nodes and not for each batch, and a look-up is one
 * access. The struct is open because the sampler's innermost loop works on it.
 */
#ifndef STAGES_SAMPLING_ROWS_KNOWN_NODES_H
#define STAGES_SAMPLING_ROWS_KNOWN_NODES_H

#include "stages/sampling/rows/growing_array.h"

#include <stdbool.h>

struct known_nodes {            /* {0} is empty */
    struct growing_array entry; /* [node_count] */
    uint32_t node_count;        /* of the graph */
    uint32_t base;
    uint32_t count; /* known nodes; also the next local index */
};

/* Makes an empty table. Fails: ERROR_NO_MEMORY. Release with known_nodes_release(). */
MUST_CHECK enum error_code known_nodes_init(struct known_nodes *known, struct array_budget *budget,
                                            uint32_t node_count, struct error *err);
void known_nodes_release(struct known_nodes *known, struct array_budget *budget);
/* Forgets all nodes. */
void known_nodes_forget(struct known_nodes *known);

/* Returns whether the batch has the node; node < node_count. */
static inline bool known_nodes_has(const struct known_nodes *known, uint32_t node)
{
    return known->entry.data[node] >= known->base;
}

/* Returns the local index of a known node. */
static inline uint32_t known_nodes_local(const struct known_nodes *known, uint32_t node)
{
    return known->entry.data[node] - known->base;
}

/* Adds a node that is not known. Its local index is the count before the call. */
static inline void known_nodes_add(struct known_nodes *known, uint32_t node)
{
    known->entry.data[node] = known->base + known->count++;
}

#endif
