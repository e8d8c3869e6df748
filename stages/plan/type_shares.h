/*
 * type_shares - how a budget is shared out among the rows of node types.
 */
#ifndef STAGES_PLAN_TYPE_SHARES_H
#define STAGES_PLAN_TYPE_SHARES_H

#include <stdint.h>

/* share[t] is the budget to open the rows of type t with (feature_source.h), of which portion[t] bytes of a budget are all; 0
 * where there are none. All that fits is in memory, the smallest first. Where not all does, half the budget is left for rows
 * that are read as they are wanted, and such a type has less than all of its own. `count` is at most RELATION_TYPE_COUNT_MAX. */
void type_shares(const uint64_t *portion, uint32_t count, uint64_t budget_bytes, uint64_t *share);

#endif
