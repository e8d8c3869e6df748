/*
 * straggler - decides when an idle worker makes a second copy of a unit that a slow worker has.
 *
 * A worker that is ten times slower than the others, or stopped, delays all who wait for its unit.
 * Its lease does not end while the worker renews it, and may be long. So a worker without work
 * looks at the units that others of its stage hold. It does a unit a second time if one worker has
 * held it for at least a second and for three times as long as such units took this worker itself.
 * A worker that has done none so far, because others took all of them, waits five seconds. The
 * record that is published first wins, and both have the same bytes. Whoever is first completes the
 * unit in its holder's name, and the other finds that it is done. The lease stays.
 */
#ifndef STAGES_ENGINE_STRAGGLER_H
#define STAGES_ENGINE_STRAGGLER_H

#include "common/base/error.h"
#include "stages/plan/chain/unit.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { STRAGGLER_DURATIONS = 15, STRAGGLER_HELD_MAX = 16 };

struct straggler { /* {0}: nothing was seen */
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

/* Notes that this worker did a unit of that kind in `seconds`. */
void straggler_note(struct straggler *straggler, enum unit_kind kind, double seconds);
/* Looks for a slow unit. A worker that got no unit calls it again and again. *found: the worker
 * does *copy and completes it like a claim. `process`: workers of that name, and of that name with
 * a "+", are this process. */
MUST_CHECK enum error_code straggler_find(struct straggler *straggler, struct work_queue *queue,
                                          const char *process, bool *found, struct work_claim *copy,
                                          struct error *err);

#endif
