/*
 * gradient_sums - the sums that a round's gradients are added up in, before aggregate makes its step.
 *
 * With aggregate.ranges: n there is a sum for each of n ranges of values, made side by side; with aggregate.fan_in: f a sum
 * adds at most f things, slots or sums of the level below, so that many slots are added as a tree:
 *
 *      slots       0   1   2   3   4   5   6        f = 3, two ranges
 *      level 0     └───┴─┬─┘   └───┴─┬─┘   │
 *                      0, 1        2, 3   4, 5      numbers of the sums: of the two ranges of each group
 *      level 1           └───────────┴─────┘
 *                                  6, 7             the last level: the mean
 *
 * Which sum adds what, and in which order, is a function of the settings and the slots: so are the bits. Of any number of
 * ranges they are the same, since a value is in one range and is added there as it would be in any other; a fan-in has bits
 * of its own.
 */
#ifndef STAGES_PLAN_GRADIENT_SUMS_H
#define STAGES_PLAN_GRADIENT_SUMS_H

#include "stages/plan/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct gradient_sum {
    int level, range;
    int32_t group;        /* of its level */
    int32_t first, count; /* what it adds: slots, or on a higher level groups of the one below */
    bool is_mean;         /* of the last level */
};

/* Ranges that the values of each gradient lie in; 0: in its own record, and aggregate reads it itself. */
int gradient_sum_ranges(const struct schedule *s);
/* Sums of the round; 0 likewise. */
int32_t gradient_sum_count(const struct schedule *s, int64_t round);
/* `number` is below the count. */
struct gradient_sum gradient_sum_at(const struct schedule *s, int64_t round, int32_t number);
int32_t gradient_sum_number(const struct schedule *s, int64_t round, int level, int32_t group,
                            int range);
/* The number of the one on `level` that adds `input`, a slot or a group of the level below. */
int32_t gradient_sum_of(const struct schedule *s, int64_t round, int level, int32_t input,
                        int range);
/* The number of the mean of range 0; those of the other ranges follow. */
int32_t gradient_sum_first_mean(const struct schedule *s, int64_t round);

#endif
