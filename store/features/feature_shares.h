/*
 * feature_shares - divides a budget among sources, one for each node type, that a batch reads rows
 * of.
 */
#ifndef STORE_FEATURES_FEATURE_SHARES_H
#define STORE_FEATURES_FEATURE_SHARES_H

#include "store/features/feature_source.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the bytes that a source needs beside its cache to visit, or with `is_fetched` to fetch,
 * `row_count` of its rows. */
uint64_t feature_shares_need(const struct feature_source *source, uint32_t row_count,
                             bool is_fetched);

/* Divides the budget among source [count] and sets their limits; NULL sources and those that are
 * resident are skipped. `count` is at most RELATION_TYPE_COUNT_MAX. Each source gets what it needs
 * for row_count[i] rows, and a share of the rest in proportion to its cached bytes. If the budget
 * is less than all needs, each gets a proportional share of it. Frees the memory of the last fetch
 * or visit. */
void feature_shares_limit(struct feature_source *const *source, const uint32_t *row_count,
                          uint32_t count, bool is_fetched, uint64_t budget_bytes);

#endif
