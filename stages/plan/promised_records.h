/*
 * promised_records - what must be in a store, by what is there.
 *
 * A damaged record is met where it lies; one that is gone only shows in what promises it: a dataset's schema
 * promises its chunks, a partition's book its parts, a run's plan, switch and newest snapshot what the retention
 * rule keeps (stages/plan/retention_rule.h), the seal of the outputs the training that they stand on.
 *
 * A dataset without schema, a partition without book and a run without snapshot are unfinished, and promise
 * nothing, unless something that stands on them is there. An older snapshot that has the best weights is kept, but
 * not promised: the newest one holds them, too, and to make it again could cost the whole of the training.
 */
#ifndef STAGES_PLAN_PROMISED_RECORDS_H
#define STAGES_PLAN_PROMISED_RECORDS_H

#include "common/base/error.h"
#include "stages/plan/run_binding.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

typedef void (*missing_visitor)(void *context, const char *key);

/* Calls `visit` for the key of each record and artifact that is promised and not there. `needed`: a partition
 * or run stands on it. *whole: there is nothing else that could be promised later. Of a damaged schema, book or
 * plan nothing is said: it is met as such. Fails: ERROR_IO. */
MUST_CHECK enum error_code promised_by_dataset(struct store *store, const char *dataset_id,
                                               bool needed, missing_visitor visit, void *context,
                                               bool *whole, struct error *err);
MUST_CHECK enum error_code promised_by_partition(struct store *store, const char *partition_id,
                                                 bool needed, missing_visitor visit, void *context,
                                                 bool *whole, struct error *err);

/* What a run keeps. */
struct kept_rounds {
    int64_t version; /* the run stands at this snapshot; 0: at its start */
    int64_t oldest;  /* weights, rounds and snapshots from here on are kept */
    bool stopped;    /* training has ended, or may have: its snapshot is lost */
    bool is_named;   /* the switch is there */
};

MUST_CHECK enum error_code kept_rounds_read(struct store *store, const struct run_binding *run,
                                            struct kept_rounds *out, struct error *err);
/* A living run moves on while it is looked at: what it pruned meanwhile was promised, and is no more. So what
 * is missing is asked for again until the run stood still. */
MUST_CHECK enum error_code promised_by_run(struct store *store, const struct run_binding *run,
                                           missing_visitor visit, void *context, bool *whole,
                                           struct error *err);

/* Calls `visit` for what the rounds behind this snapshot begin with, it does not hold itself, and is not there: residuals of
 * earlier rounds and, with staleness, weights of before it. One that is kept for its weights alone may lack them.
 * Fails: ERROR_IO. */
MUST_CHECK enum error_code promised_beside_snapshot(struct store *store,
                                                    const struct run_binding *run, int64_t version,
                                                    missing_visitor visit, void *context,
                                                    struct error *err);

#endif
