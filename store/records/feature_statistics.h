/*
 * feature_statistics - what the features of a dataset were normalised and standardised by.
 *
 * Written by ingest where ingest.normalise_rows or ingest.standardise is set, before the schema; read where a model is
 * applied to another graph, whose features are to be taken in the same measure (graphmill infer). A dataset of an earlier
 * release has none. Of a graph with relations each node type with features has its own.
 *
 *   key       dataset/<id>/feature_statistics, of the node types but the first feature_statistics/<type>
 *   sections  "least"     F64 [1]    (optional) the smallest number of the table, which normalise_rows took off
 *             "mean"      F64 [dim]  (optional, both or none) of each column, after that
 *             "deviation" F64 [dim]  0 for a constant column, which became 0
 *   valid     finite numbers, deviations of 0 or more, at least one of the two parts
 */
#ifndef STORE_RECORDS_FEATURE_STATISTICS_H
#define STORE_RECORDS_FEATURE_STATISTICS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). For writing, fill the pointers and
 * leave `view` zero. */
struct feature_statistics {
    bool has_least;
    double least;
    uint64_t dim;                   /* 0: not standardised */
    const double *mean, *deviation; /* [dim] or NULL */
    struct record_view view;
};

/* `type`: without relations 0. */
MUST_CHECK enum error_code feature_statistics_put(struct store *store, const char *dataset_id,
                                                  uint32_t type,
                                                  const struct feature_statistics *statistics,
                                                  struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code feature_statistics_get(struct store *store, const char *dataset_id,
                                                  uint32_t type, struct feature_statistics *out,
                                                  struct error *err);
/* The check alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code feature_statistics_decode(const struct record_view *view,
                                                     struct feature_statistics *out,
                                                     struct error *err);

#endif
