/*
 * unit_guess - which training unit a worker is likely to get next.
 *
 * Slots are taken in order, so beside n - 1 other workers a worker moves on by about n slots each time.
 * The guess is the step that the worker made last, when it made it twice or it is one.
 */
#ifndef STAGES_TRAIN_STEP_UNIT_GUESS_H
#define STAGES_TRAIN_STEP_UNIT_GUESS_H

#include "stages/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct unit_guess { /* {0} knows nothing */
    bool has_last;
    int64_t last_round;
    int32_t last_slot;
    int step; /* slots from the unit before to the last; 0: unknown, or too many */
};

/* *round and *slot are the unit at hand; they become the guess. False: there is none. */
bool unit_guess_next(struct unit_guess *guess, const struct schedule *schedule, int64_t *round,
                     int32_t *slot);

#endif
