/*
 * event_results - scores and ranks of the events of a split. They are computed in the order of
 * time and read in the order of the list.
 */
#ifndef STAGES_INFER_OUTPUTS_EVENT_RESULTS_H
#define STAGES_INFER_OUTPUTS_EVENT_RESULTS_H

#include "common/base/error.h"
#include "common/graph/edge_time.h"
#include "stages/infer/outputs/link_ranks.h"

#include <stdint.h>

struct event_results_form {
    uint64_t count;
    struct edge_times time; /* [count] */
    uint32_t outputs;       /* scores of the event itself */
    uint32_t negatives;     /* negatives of an event, with one score each */
};

struct event_results { /* {0} may be released */
    struct event_results_form form;
    uint64_t *order; /* [count] events by time; events at the same time keep their order */
    float *score;    /* [count, outputs] */
    float *negative; /* [count, negatives] */
    struct link_rank *rank[2]; /* [count] */
    bool has_rank[2];
};

/* Allocates the results and sorts the events by time. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code event_results_begin(struct event_results *results,
                                               const struct event_results_form *form,
                                               struct error *err);
void event_results_release(struct event_results *results);
/* Returns the event at place `k` in the order of times. */
uint64_t event_results_at(const struct event_results *results, uint64_t k);
/* Stores the results of an event. score [outputs + negatives]; each rank[end] points at one
 * rank, or is NULL. */
void event_results_keep(struct event_results *results, uint64_t event, const float *score,
                        struct link_rank *const rank[2]);
/* Copies the scores of events first .. first + count - 1 to `score`, in the order of
 * pair_pass.h. rank[end] is set to borrowed ranks, or to NULL. */
void event_results_take(const struct event_results *results, uint64_t first, uint32_t count,
                        float *score, struct link_rank *rank[2]);

#endif
