/*
 * pair_table - maps pairs of numbers to numbers, in memory that grows with the entries.
 *
 * It is an open-addressing table, at most half full. known_nodes.h, which has an entry for each
 * node of the graph, holds the nodes of a batch. This table is for batches in which a node may be
 * several times, and for other draws of a batch.
 */
#ifndef STAGES_SAMPLING_ROWS_PAIR_TABLE_H
#define STAGES_SAMPLING_ROWS_PAIR_TABLE_H

#include "common/base/error.h"
#include "stages/sampling/rows/growing_array.h"

#include <stdint.h>

#define PAIR_TABLE_NONE UINT32_MAX

struct pair_table {            /* {0} is empty */
    struct growing_array slot; /* [3 << bits]: first, second, number + 1; 0: free */
    unsigned bits;
    uint32_t count;
};

/* Removes all entries; the memory stays. */
void pair_table_clear(struct pair_table *table);
/* Returns the number of the pair, or PAIR_TABLE_NONE. */
uint32_t pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second);
/* Adds a pair that is not in the table; number < PAIR_TABLE_NONE. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_table_add(struct pair_table *table, struct array_budget *budget,
                                          uint32_t first, uint32_t second, uint32_t number,
                                          struct error *err);
void pair_table_release(struct pair_table *table, struct array_budget *budget);

#endif
