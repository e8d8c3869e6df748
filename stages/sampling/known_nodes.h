/*
 * known_nodes - which nodes of the graph a batch has, and where.
 *
 * One number for each node of the graph: base + local index when the node is known, anything below base
 * when it is not. A new batch only moves `base` past the numbers in use, so the table is cleared once in
 * some 2^32 nodes drawn and not once a batch, and a look-up is one access. The struct is open because
 * the sampler's innermost loop works on it.
 */
#ifndef STAGES_SAMPLING_KNOWN_NODES_H
#define STAGES_SAMPLING_KNOWN_NODES_H

#include "stages/sampling/growing_array.h"

#include <stdbool.h>

struct known_nodes {            /* {0} is empty */
    struct growing_array entry; /* [node_count] */
    uint32_t node_count;        /* of the graph */
    uint32_t base;
    uint32_t count; /* known; the next local index */
};

/* Fails: ERROR_NO_MEMORY. Release with known_nodes_release(). */
MUST_CHECK enum error_code known_nodes_init(struct known_nodes *known, struct array_budget *budget,
                                            uint32_t node_count, struct error *err);
void known_nodes_release(struct known_nodes *known, struct array_budget *budget);
/* No node is known any more. */
void known_nodes_forget(struct known_nodes *known);

/* node < node_count */
static inline bool known_nodes_has(const struct known_nodes *known, uint32_t node)
{
    return known->entry.data[node] >= known->base;
}

/* Of a node that is known. */
static inline uint32_t known_nodes_local(const struct known_nodes *known, uint32_t node)
{
    return known->entry.data[node] - known->base;
}

/* Of a node that is not. Its local index is the count before. */
static inline void known_nodes_add(struct known_nodes *known, uint32_t node)
{
    known->entry.data[node] = known->base + known->count++;
}

#endif
