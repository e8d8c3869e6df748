/*
 * round_window - how the rounds since the last snapshot went, as far as this worker knows.
 *
 *   snapshot u            u+1   u+2   ...   v      versions of the weights; v is the next snapshot
 *                          p     p           p     progress of the round that made them
 *
 * A snapshot tells of all rounds since the one before. Whoever makes its weights has mostly made those before
 * them, too, and so need not read them again for a few numbers each.
 */
#ifndef STAGES_AGGREGATE_ROUND_WINDOW_H
#define STAGES_AGGREGATE_ROUND_WINDOW_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "store/records/parameters.h"

#include <stdbool.h>
#include <stdint.h>

struct round_window { /* {0} is empty */
    int64_t after;    /* version of the snapshot before; 0: the start of the run */
    int64_t count;
    double *progress; /* [count, PROGRESS_COUNT], of versions after + 1 ...; owned */
    bool *known;      /* [count]; owned */
    size_t progress_capacity, known_capacity;
};

/* Notes the progress of the round that made weights `version`. One of another window empties this one.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code round_window_note(struct round_window *window,
                                             const struct schedule *schedule, int64_t version,
                                             const double progress[PROGRESS_COUNT],
                                             struct error *err);
/* The oldest version up to `version`, which is in the window, whose progress is not known; -1: there is none. */
int64_t round_window_unknown(const struct round_window *window, int64_t version);
/* [*count, PROGRESS_COUNT] up to `version`. Borrowed until the next note. */
const double *round_window_progress(const struct round_window *window, int64_t version,
                                    uint64_t *count);
void round_window_release(struct round_window *window);

#endif
