/*
 * event_results - scores and ranks of the events of a split, computed in the order of their times
 * and read in the order of the list.
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
    uint32_t outputs;       /* scores of an event itself */
    uint32_t negatives;     /* of an event, one score each */
};

struct event_results { /* {0} is releasable */
    struct event_results_form form;
    uint64_t *order;           /* [count] events by time; of one time, as they stand */
    float *score;              /* [count, outputs] */
    float *negative;           /* [count, negatives] */
    struct link_rank *rank[2]; /* [count] */
    bool has_rank[2];
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code event_results_begin(struct event_results *results,
                                               const struct event_results_form *form,
                                               struct error *err);
void event_results_release(struct event_results *results);
/* Returns the event that is number `k` in the order of times. */
uint64_t event_results_at(const struct event_results *results, uint64_t k);
/* score [outputs + negatives]; rank[2] of one event each, or NULL. */
void event_results_keep(struct event_results *results, uint64_t event, const float *score,
                        struct link_rank *const rank[2]);
/* Copies the scores of events first .. first + count - 1 as pair_pass.h has them; rank[2] borrows
 * theirs, or is NULL. */
void event_results_take(const struct event_results *results, uint64_t first, uint32_t count,
                        float *score, struct link_rank *rank[2]);

#endif
