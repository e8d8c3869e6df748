/*
 * feature_shares - a budget shared out among sources of which a batch wants rows, node type by node type.
 */
#ifndef STORE_FEATURES_FEATURE_SHARES_H
#define STORE_FEATURES_FEATURE_SHARES_H

#include "store/features/feature_source.h"

#include <stdbool.h>
#include <stdint.h>

/* What a batch wants of a source beside its cache, for row_count of its rows: to visit them, or to have them fetched. */
uint64_t feature_shares_need(const struct feature_source *source, uint32_t row_count,
                             bool is_fetched);

/* Sets the limits of source [count] (NULL: there is none; at most RELATION_TYPE_COUNT_MAX), as far as they are not resident, to shares of
 * the budget: what each needs for row_count[i] rows, and of what is left by how much each has cached. Where the needs are
 * more than there is, shares of that. What the last fetch or visit took is given back. */
void feature_shares_limit(struct feature_source *const *source, const uint32_t *row_count,
                          uint32_t count, bool is_fetched, uint64_t budget_bytes);

#endif
