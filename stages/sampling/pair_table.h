/*
 * pair_table - numbers by a pair of numbers, as small as what is in it.
 *
 * An open-addressing table, at most half full. known_nodes.h, with an entry for each node of the graph, is for the nodes of a
 * batch; this is for a batch in which a node may be several times, and for what was drawn beside it.
 */
#ifndef STAGES_SAMPLING_PAIR_TABLE_H
#define STAGES_SAMPLING_PAIR_TABLE_H

#include "common/base/error.h"
#include "stages/sampling/growing_array.h"

#include <stdint.h>

#define PAIR_TABLE_NONE UINT32_MAX

struct pair_table {            /* {0} is empty */
    struct growing_array slot; /* [3 << bits]: first, second, number + 1; 0: free */
    unsigned bits;
    uint32_t count;
};

/* Nothing is in it any more; the memory stays. */
void pair_table_clear(struct pair_table *table);
/* The number of the pair, or PAIR_TABLE_NONE. */
uint32_t pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second);
/* Of a pair that is not there; number < PAIR_TABLE_NONE. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_table_add(struct pair_table *table, struct array_budget *budget,
                                          uint32_t first, uint32_t second, uint32_t number,
                                          struct error *err);
void pair_table_release(struct pair_table *table, struct array_budget *budget);

#endif
