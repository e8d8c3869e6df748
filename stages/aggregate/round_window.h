/*
 * round_window - the progress of the rounds since the last snapshot, as far as this worker knows
 * it.
 *
 *   snapshot u            u+1   u+2   ...   v      versions of the weights; v is the next snapshot
 *                          p     p           p     progress of the round that made them
 *
 * A snapshot reports all rounds since the snapshot before. The worker that makes its weights has
 * mostly made those before them, too, so it need not read their records again for a few numbers
 * each.
 */
#ifndef STAGES_AGGREGATE_ROUND_WINDOW_H
#define STAGES_AGGREGATE_ROUND_WINDOW_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "store/records/round/parameters.h"

#include <stdbool.h>
#include <stdint.h>

struct round_window { /* {0} is empty */
    int64_t after;    /* version of the last snapshot; 0: the start of the run */
    int64_t count;
    /* [count, PROGRESS_COUNT] of versions after + 1 ...; owned. */
    double *progress;
    bool *known; /* [count]; owned */
    size_t progress_capacity, known_capacity;
};

/* Notes the progress of the round that made weights `version`. A version of another window empties
 * this one first. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code round_window_note(struct round_window *window,
                                             const struct schedule *schedule, int64_t version,
                                             const double progress[PROGRESS_COUNT],
                                             struct error *err);
/* Returns the oldest version up to `version`, which is in the window, whose progress is unknown;
 * -1: there is none. */
int64_t round_window_unknown(const struct round_window *window, int64_t version);
/* Returns the progress [*count, PROGRESS_COUNT] up to `version`. Borrowed until the next note. */
const double *round_window_progress(const struct round_window *window, int64_t version,
                                    uint64_t *count);
void round_window_release(struct round_window *window);

#endif
