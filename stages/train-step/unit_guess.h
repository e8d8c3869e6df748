/*
 * unit_guess - which training unit a worker is likely to get next.
 *
 * The queue hands slots out in order, and each of n workers holds one. So when a worker completes its unit as the
 * d-th of the run, the other n - 1 workers hold the n - 1 units that were handed out but are not done, and it gets the
 * unit after those: number d + n of all. Three workers, for example: they hold units 1, 2 and 3; whoever is done first (d =
 * 1) gets unit 4, the next one (d = 2) gets unit 5, whichever unit it had before. A worker does not know n. It sees
 * what it got the last time, takes the difference to its d as n, and adds that the next time. d is known only when
 * the unit was completed.
 *
 * Until then there is a weaker guess: that the worker goes on as it went last, by the same step from slot to slot,
 * once it made that step twice or the step is one slot.
 */
#ifndef STAGES_TRAIN_STEP_UNIT_GUESS_H
#define STAGES_TRAIN_STEP_UNIT_GUESS_H

#include "stages/plan/chain/schedule.h"

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
