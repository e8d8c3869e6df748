/*
 * gradient_sums - the sums in which the gradients of a round are added up, before aggregate makes
 * its step.
 *
 * With aggregate.ranges: n there is a sum for each of n ranges of values, and the ranges are added
 * side by side. With aggregate.fan_in: f a sum adds at most f inputs (slots, or sums of the level
 * below), so that many slots are added as a tree:
 *
 *    slots       0   1   2   3   4   5   6        f = 3, two ranges
 *    level 0     └───┴─┬─┘   └───┴─┬─┘   │
 *                    0, 1        2, 3   4, 5      numbers of the sums: the two ranges of each group
 *    level 1           └───────────┴─────┘
 *                                  6, 7             the last level: the mean
 *
 * The settings and the slots decide which sum adds which inputs in which order, and so they decide
 * the bits. The number of ranges does not change the bits, since every value is in one range and is
 * added there in the same order. A fan-in does.
 */
#ifndef STAGES_PLAN_CHAIN_GRADIENT_SUMS_H
#define STAGES_PLAN_CHAIN_GRADIENT_SUMS_H

#include "stages/plan/chain/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct gradient_sum {
    int level, range;
    int32_t group; /* its number on its level */
    /* The range of its inputs: slots, or on a higher level groups of the level below. */
    int32_t first, count;
    bool is_mean; /* it is on the last level */
};

/* Returns into how many ranges the values of each gradient are cut; 0: they are in the gradient's
 * own record, and aggregate reads them itself. */
int gradient_sum_ranges(const struct schedule *s);
/* Returns the number of sums of the round; 0 if aggregate reads gradients itself. */
int32_t gradient_sum_count(const struct schedule *s, int64_t round);
/* Returns the sum of that number. `number` must be below the count. */
struct gradient_sum gradient_sum_at(const struct schedule *s, int64_t round, int32_t number);
int32_t gradient_sum_number(const struct schedule *s, int64_t round, int level, int32_t group,
                            int range);
/* Returns the number of the sum on `level` that adds `input`, a slot or a group of the level
 * below. */
int32_t gradient_sum_of(const struct schedule *s, int64_t round, int level, int32_t input,
                        int range);
/* Returns the number of the mean of range 0. The means of the other ranges follow it. */
int32_t gradient_sum_first_mean(const struct schedule *s, int64_t round);

#endif
