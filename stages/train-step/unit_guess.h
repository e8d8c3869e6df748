/*
 * unit_guess - which training unit a worker is likely to get next.
 *
 * Slots are handed out in order, and a worker always has one: in hand, or the first one that will be set free
 * once those that waited before it have theirs. So beside n - 1 others, a worker that completes the d-th unit
 * gets the one n - 1 places behind it, place d + n - 1 of all, whichever it had. How many others there are is
 * seen from where the guess would have been right the last time. That is known when a unit is completed.
 *
 * Before that, the guess is the step that the worker made last, when it made it twice or it is one.
 */
#ifndef STAGES_TRAIN_STEP_UNIT_GUESS_H
#define STAGES_TRAIN_STEP_UNIT_GUESS_H

#include "stages/plan/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct unit_guess { /* {0} knows nothing */
    bool has_last;
    int64_t last_round;
    int32_t last_slot;
    int step;           /* slots from the unit before to the last; 0: unknown, or too many */
    int64_t place;      /* of the last, in slots from the first that `step` led from */
    int64_t done_count; /* when the last was completed; 0: not yet, or not by this worker */
    bool has_lead;
    int64_t lead; /* what was to be added to done_count for the place of the last */
};

/* *round and *slot are the unit at hand; they become the guess. False: there is none. */
bool unit_guess_next(struct unit_guess *guess, const struct schedule *schedule, int64_t *round,
                     int32_t *slot);
/* The unit given last was completed as the done_count-th. Sets *round and *slot, or false: there is no
 * guess. */
bool unit_guess_after(struct unit_guess *guess, const struct schedule *schedule, int64_t done_count,
                      int64_t *round, int32_t *slot);

#endif
