/*
 * row_sorter - sorts a row of node ids and keeps the order, so that the columns of its edges can
 * follow.
 *
 * Keys have 64 bits: the id is above, the index in the row below. All keys differ, so every sort is
 * stable and there is one right answer (common/numbers/key_sort.h).
 */
#ifndef STAGES_PARTITION_LAYOUT_ROW_SORTER_H
#define STAGES_PARTITION_LAYOUT_ROW_SORTER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_sorter {          /* {0} is empty; grows with the widest row */
    uint64_t *key, *scratch; /* [capacity], owned */
    uint64_t capacity;
    char *moved; /* [moved_bytes], owned */
    uint64_t moved_bytes;
};

/* Sorts `node` [count] ascending and keeps the order for row_sorter_move(). *unchanged: the row was
 * sorted already. count < 2^32. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_sorter_sort(struct row_sorter *sorter, uint32_t *node,
                                           uint64_t count, bool *unchanged, struct error *err);
/* Puts `value` [count], of `size` bytes each, into the order of the last sort. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_sorter_move(struct row_sorter *sorter, void *value, uint64_t count,
                                           size_t size, struct error *err);
void row_sorter_release(struct row_sorter *sorter);

#endif
