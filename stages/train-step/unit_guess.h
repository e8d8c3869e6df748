/*
 * unit_guess - guesses the training unit that a worker gets next.
 *
 * The queue hands slots out in order, and each of n workers holds one. When a worker completes its
 * unit as the d-th of the run, the other n - 1 workers hold the n - 1 units that were handed out
 * but are not done. The worker gets the unit after those: number d + n of all. For example, three
 * workers hold units 1, 2 and 3. The first to finish (d = 1) gets unit 4, the next one (d = 2)
 * gets unit 5, whichever unit it held before. A worker does not know n. It takes the difference
 * between the unit it got last and its d at that time as n, and adds it the next time. It knows d
 * only after it has completed the unit.
 *
 * Before that it uses a weaker guess: it advances by the same step from slot to slot as last time,
 * if it made that step twice or if the step is one slot.
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
    int step;           /* slots from the previous unit to the last one; 0: unknown, or too many */
    int64_t place;      /* of the last unit, in slots from the first one that `step` led from */
    int64_t done_count; /* when the last unit was completed; 0: not yet, or by another worker */
    bool has_lead;
    int64_t lead; /* place of the last unit minus the done_count before it */
};

/* Guesses the unit after unit (*round, *slot), and writes the guess there. Returns false if
 * there is no guess. */
bool unit_guess_next(struct unit_guess *guess, const struct schedule *schedule, int64_t *round,
                     int32_t *slot);
/* Guesses again after the last unit was completed as the done_count-th. Writes *round and *slot.
 * Returns false if there is no guess. */
bool unit_guess_after(struct unit_guess *guess, const struct schedule *schedule, int64_t done_count,
                      int64_t *round, int32_t *slot);

#endif
