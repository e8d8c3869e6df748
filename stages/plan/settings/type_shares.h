/*
 * type_shares - shares a budget of memory out among the feature rows of node types.
 */
#ifndef STAGES_PLAN_SETTINGS_TYPE_SHARES_H
#define STAGES_PLAN_SETTINGS_TYPE_SHARES_H

#include <stdint.h>

/* Sets share[t] to the budget with which the rows of type t are opened (feature_source.h).
 * portion[t] is the budget that holds all rows of type t; 0: there are none. If everything fits,
 * everything is held in memory. Otherwise the smallest types are held whole, as far as they fit
 * into half the budget. The other half is left for rows that are read when they are needed, and
 * such a type gets less than its portion. `count` is at most RELATION_TYPE_COUNT_MAX. */
void type_shares(const uint64_t *portion, uint32_t count, uint64_t budget_bytes, uint64_t *share);

#endif
