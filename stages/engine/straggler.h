/*
 * straggler - when an idle worker makes a second copy of what a slow one has in hand.
 *
 * A worker that is ten times slower than the others, or stopped, holds up all who wait for its unit. Its lease does
 * not end while it renews it, and may be long. So a worker without work looks at the units that others of its
 * stage hold: one that was seen in the same hands for a second and for three times as long as such units took this
 * worker itself is done a second time; a worker that did none so far, since others took all there was, gives it five seconds. The record that is published first wins, and both are the same bytes; the
 * unit is completed in its holder's name by whoever is first, and the other finds that it is done. The lease stays.
 */
#ifndef STAGES_ENGINE_STRAGGLER_H
#define STAGES_ENGINE_STRAGGLER_H

#include "common/base/error.h"
#include "stages/plan/unit.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { STRAGGLER_DURATIONS = 15, STRAGGLER_HELD_MAX = 16 };

struct straggler { /* {0} has seen nothing */
    struct {
        double seconds[STRAGGLER_DURATIONS]; /* of the newest units, in a ring */
        int64_t count;
    } kind[UNIT_KIND_COUNT];
    struct {
        struct held_unit held;
        int64_t since_ms;
    } seen[STRAGGLER_HELD_MAX];
    int seen_count;
};

/* This worker did a unit of that kind in so long. */
void straggler_note(struct straggler *straggler, enum unit_kind kind, double seconds);
/* For a worker that got no unit, again and again. *found: *copy is to be worked on and completed as a claim is.
 * `process`: workers of that name, and of that name with a "+", are this process. */
MUST_CHECK enum error_code straggler_find(struct straggler *straggler, struct work_queue *queue,
                                          const char *process, bool *found, struct work_claim *copy,
                                          struct error *err);

#endif
