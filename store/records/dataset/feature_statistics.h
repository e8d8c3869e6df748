/*
 * feature_statistics - the numbers that the features of a dataset were normalised and standardised
 * by.
 *
 * ingest writes it before the schema if ingest.normalise_rows or ingest.standardise is set. It is
 * read when a model is applied to another graph (graphmill infer), whose features are to be
 * measured in the same way. A dataset of an earlier release has none. In a graph with relations
 * each node type with features has its own.
 *
 *   key       dataset/<id>/feature_statistics; of all node types but the first
 *             dataset/<id>/feature_statistics/<type>
 *   sections  "least"     F64 [1]    (optional) the smallest number of the table, which
 *                                    normalise_rows subtracted
 *             "mean"      F64 [dim]  (optional, both or none) the mean of each column after that
 *             "deviation" F64 [dim]  0 for a constant column, all of whose values became 0
 *   valid     all numbers are finite, deviations are 0 or more, and one of the two parts is there
 */
#ifndef STORE_RECORDS_DATASET_FEATURE_STATISTICS_H
#define STORE_RECORDS_DATASET_FEATURE_STATISTICS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct feature_statistics {
    bool has_least;
    double least;
    uint64_t dim;                   /* 0: not standardised */
    const double *mean, *deviation; /* [dim] or NULL */
    struct record_view view;
};

/* `type` is 0 in a graph without relations. */
MUST_CHECK enum error_code feature_statistics_put(struct store *store, const char *dataset_id,
                                                  uint32_t type,
                                                  const struct feature_statistics *statistics,
                                                  struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code feature_statistics_get(struct store *store, const char *dataset_id,
                                                  uint32_t type, struct feature_statistics *out,
                                                  struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code feature_statistics_decode(const struct record_view *view,
                                                     struct feature_statistics *out,
                                                     struct error *err);

#endif
