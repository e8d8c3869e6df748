#include "stages/train-step/unit_guess.h"

enum { STEP_MAX = 64 };

static void advance(const struct schedule *schedule, int64_t *round, int32_t *slot)
{
    if (++*slot < schedule_slot_count(schedule, *round))
        return;
    *slot = 0;
    ++*round;
}

/* Returns the number of slots from the last unit to this one; 0 if it is not among the next
 * STEP_MAX. */
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

/* Learns from the unit that came what the last guess should have been. */
static void learn(struct unit_guess *guess, int step)
{
    if (!step) {
        guess->place = 0;
        guess->has_lead = false;
    } else {
        guess->place += step;
        guess->has_lead = guess->done_count > 0;
        guess->lead = guess->place - guess->done_count;
    }
    guess->done_count = 0;
}

bool unit_guess_next(struct unit_guess *guess, const struct schedule *schedule, int64_t *round,
                     int32_t *slot)
{
    const int step = guess->has_last ? step_to(guess, schedule, *round, *slot) : 1;
    const bool sure = step == 1 || (step > 1 && step == guess->step);
    learn(guess, guess->has_last ? step : 0);
    guess->has_last = true;
    guess->last_round = *round;
    guess->last_slot = *slot;
    guess->step = step;
    for (int i = 0; sure && i < step; i++)
        advance(schedule, round, slot);
    return sure && *round < schedule->round_count;
}

bool unit_guess_after(struct unit_guess *guess, const struct schedule *schedule, int64_t done_count,
                      int64_t *round, int32_t *slot)
{
    const int64_t step = done_count + guess->lead - guess->place;
    guess->done_count = done_count;
    if (!guess->has_last || !guess->has_lead || step < 1 || step > STEP_MAX)
        return false;
    *round = guess->last_round;
    *slot = guess->last_slot;
    for (int64_t i = 0; i < step; i++)
        advance(schedule, round, slot);
    return *round < schedule->round_count;
}
