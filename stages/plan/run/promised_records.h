/*
 * promised_records - finds the records that must be in a store because others are there.
 *
 * A damaged record is found where it lies. A missing record can only be found through the records
 * that promise it: a dataset's schema promises its chunks; a partition's book promises its parts; a
 * run's plan, ref and newest snapshot promise what the retention rule keeps
 * (stages/plan/chain/retention_rule.h); the manifest of the outputs promises the end of the training that
 * they were made from.
 *
 * A dataset without schema, a partition without book and a run without snapshot are unfinished, and
 * promise nothing unless something else was made from them. An older snapshot with the best weights
 * is kept but not promised: the newest snapshot holds these weights, too, and to make the older one
 * again could cost the whole training.
 */
#ifndef STAGES_PLAN_RUN_PROMISED_RECORDS_H
#define STAGES_PLAN_RUN_PROMISED_RECORDS_H

#include "common/base/error.h"
#include "stages/plan/run/run_binding.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

typedef void (*missing_visitor)(void *context, const char *key);

/* Calls `visit` for the key of each record and artifact that is promised and missing. `needed`: a
 * partition or run was made from it. *whole: nothing else could be promised later. For a damaged
 * schema, book or plan nothing is visited: it is found as damaged. Fails: ERROR_IO. */
MUST_CHECK enum error_code promised_by_dataset(struct store *store, const char *dataset_id,
                                               bool needed, missing_visitor visit, void *context,
                                               bool *whole, struct error *err);
MUST_CHECK enum error_code promised_by_partition(struct store *store, const char *partition_id,
                                                 bool needed, missing_visitor visit, void *context,
                                                 bool *whole, struct error *err);

/* The records that a run keeps. */
struct kept_rounds {
    int64_t version; /* version of the newest snapshot; 0: at its start */
    int64_t oldest;  /* weights, rounds and snapshots from here on are kept */
    /* Training has ended, or may have: the snapshot that would say so is lost. */
    bool stopped;
    bool is_named; /* the ref is there */
};

MUST_CHECK enum error_code kept_rounds_read(struct store *store, const struct run_binding *run,
                                            struct kept_rounds *out, struct error *err);
/* Does the same for a run. A run may go on during the search, and may then prune a record that was
 * promised before. So the search is repeated for missing records until the run did not move
 * meanwhile. */
MUST_CHECK enum error_code promised_by_run(struct store *store, const struct run_binding *run,
                                           missing_visitor visit, void *context, bool *whole,
                                           struct error *err);

/* Calls `visit` for the missing records that the rounds after this snapshot begin with and that it
 * does not hold itself: residuals of earlier rounds and, with staleness, weights before it. A
 * snapshot that is kept for its weights alone may lack them. Fails: ERROR_IO. */
MUST_CHECK enum error_code promised_beside_snapshot(struct store *store,
                                                    const struct run_binding *run, int64_t version,
                                                    missing_visitor visit, void *context,
                                                    struct error *err);

#endif
