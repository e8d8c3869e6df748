#include "stages/train-step/unit_guess.h"

enum { STEP_MAX = 64 };

static void advance(const struct schedule *schedule, int64_t *round, int32_t *slot)
{
    if (++*slot < schedule_slot_count(schedule, *round))
        return;
    *slot = 0;
    ++*round;
}

/* Slots from the last unit to this; 0: it is not among the next ones. */
static int step_to(const struct unit_guess *guess, const struct schedule *schedule, int64_t round,
                   int32_t slot)
{
    int64_t r = guess->last_round;
    int32_t s = guess->last_slot;
    for (int step = 1; guess->has_last && step <= STEP_MAX && r <= round; step++) {
        advance(schedule, &r, &s);
        if (r == round && s == slot)
            return step;
    }
    return 0;
}

bool unit_guess_next(struct unit_guess *guess, const struct schedule *schedule, int64_t *round,
                     int32_t *slot)
{
    const int step = guess->has_last ? step_to(guess, schedule, *round, *slot) : 1;
    const bool sure = step == 1 || (step > 1 && step == guess->step);
    *guess = (struct unit_guess){true, *round, *slot, step};
    for (int i = 0; sure && i < step; i++)
        advance(schedule, round, slot);
    return sure && *round < schedule->round_count;
}
