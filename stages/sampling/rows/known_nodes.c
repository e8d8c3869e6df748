#include "stages/sampling/rows/known_nodes.h"

#include <string.h>

enum error_code known_nodes_init(struct known_nodes *known, struct array_budget *budget,
                                 uint32_t node_count, struct error *err)
{
    *known = (struct known_nodes){.node_count = node_count, .base = 1};
    return growing_array_grow(&known->entry, budget, node_count, 0, "the table of known nodes",
                              err);
}

void known_nodes_release(struct known_nodes *known, struct array_budget *budget)
{
    growing_array_release(&known->entry, budget);
    *known = (struct known_nodes){0};
}

void known_nodes_forget(struct known_nodes *known)
{
    /* The next batch may use the numbers up to base + count + node_count, which must fit 32
     * bits. */
    const uint64_t highest = (uint64_t)known->base + known->count + known->node_count;
    if (highest > UINT32_MAX) {
        memset(known->entry.data, 0, (size_t)known->node_count * sizeof *known->entry.data);
        known->base = 1;
    } else {
        known->base += known->count;
    }
    known->count = 0;
}
