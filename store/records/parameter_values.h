/*
 * parameter_values - the sections that hold one number for each model parameter, and their table.
 *
 * Weights, gradients, optimizer state and snapshots all carry such sections; what makes one valid
 * is said here once.
 */
#ifndef STORE_RECORDS_PARAMETER_VALUES_H
#define STORE_RECORDS_PARAMETER_VALUES_H

#include "common/base/error.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the first value that is NaN or infinite; `count` when all are finite. */
size_t parameter_values_first_bad(const float *value, size_t count);

/* Fails: ERROR_CORRUPT naming the record unless the version `found` inside is the one in its
 * key. */
MUST_CHECK enum error_code parameter_version_check(const struct record_view *view, uint64_t found,
                                                   int64_t expected, struct error *err);

/* Checks `table` [table_size]: lines "name rows cols", which together describe `value_count`
 * values. Fails: ERROR_CORRUPT naming record and line. */
MUST_CHECK enum error_code parameter_table_check(const struct record_view *view, const char *table,
                                                 uint64_t table_size, uint64_t value_count,
                                                 struct error *err);

/* Fails: ERROR_CORRUPT if more seeds are correct than there are. */
MUST_CHECK enum error_code seed_counts_check(const struct record_view *view, uint64_t seed_count,
                                             uint64_t correct_count, struct error *err);
/* "counts" and "loss", the same in a gradient and an evaluation. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code seed_counts_get(const struct record_view *view, uint64_t *seed_count,
                                           uint64_t *correct_count, double *loss_sum,
                                           struct error *err);

#endif
