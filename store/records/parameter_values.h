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

/* Any number of values, also none: a model may consist of learnt rows alone. */
#define ANY_VALUE_COUNT UINT64_MAX
/* A section of F32, borrowed from the view; all values are finite. It has `count` values, which may
 * be ANY_VALUE_COUNT; *found says how many.
 * Fails: ERROR_CORRUPT naming record, section and index. */
MUST_CHECK enum error_code parameter_values_get(const struct record_view *view, const char *name,
                                                uint64_t count, const float **out, uint64_t *found,
                                                struct error *err);

/* The section "table": lines "name rows cols", which together describe `value_count` values.
 * Fails: ERROR_CORRUPT naming record and line. */
MUST_CHECK enum error_code parameter_table_get(const struct record_view *view, uint64_t value_count,
                                               const char **table, uint64_t *table_size,
                                               struct error *err);

/* The section "progress": `count` finite numbers. Fails: ERROR_CORRUPT naming record and index. */
MUST_CHECK enum error_code parameter_progress_get(const struct record_view *view, double *out,
                                                  int count, struct error *err);

/* Fails: ERROR_CORRUPT if more seeds are correct than there are. */
MUST_CHECK enum error_code seed_counts_check(const struct record_view *view, uint64_t seed_count,
                                             uint64_t correct_count, struct error *err);
/* "counts" and "loss", the same in a gradient and an evaluation. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code seed_counts_get(const struct record_view *view, uint64_t *seed_count,
                                           uint64_t *correct_count, double *loss_sum,
                                           struct error *err);

/* "rounds", if it is there: [*round_count, progress_count] finite numbers. Borrows from the
 * view. */
MUST_CHECK enum error_code parameter_rounds_get(const struct record_view *view, int progress_count,
                                                const double **rounds, uint64_t *round_count,
                                                struct error *err);

#endif
