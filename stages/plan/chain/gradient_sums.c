#include "stages/plan/chain/gradient_sums.h"

#include "common/base/error.h"

/* Returns the number of groups in which `inputs` inputs are added. */
static int32_t groups_of(const struct schedule *s, int32_t inputs)
{
    return s->fan_in > 0 ? (inputs + s->fan_in - 1) / s->fan_in : 1;
}

/* A level of the tree, and the number of groups on lower levels. */
struct level {
    int number;
    int32_t inputs, groups, before;
};

static struct level first_level(const struct schedule *s, int64_t round)
{
    const int32_t slots = schedule_slot_count(s, round);
    return (struct level){.inputs = slots, .groups = groups_of(s, slots)};
}

static struct level next_level(const struct schedule *s, const struct level *below)
{
    return (struct level){.number = below->number + 1,
                          .inputs = below->groups,
                          .groups = groups_of(s, below->groups),
                          .before = below->before + below->groups};
}

static struct level last_level(const struct schedule *s, int64_t round)
{
    struct level level = first_level(s, round);
    while (level.groups > 1)
        level = next_level(s, &level);
    return level;
}

int gradient_sum_ranges(const struct schedule *s)
{
    return s->ranges > 1 || s->fan_in > 0 ? s->ranges : 0;
}

int32_t gradient_sum_count(const struct schedule *s, int64_t round)
{
    if (gradient_sum_ranges(s) == 0)
        return 0;
    const struct level last = last_level(s, round);
    return (last.before + last.groups) * s->ranges;
}

struct gradient_sum gradient_sum_at(const struct schedule *s, int64_t round, int32_t number)
{
    const int32_t place = number / s->ranges;
    struct level level = first_level(s, round);
    while (place >= level.before + level.groups) {
        must(level.groups > 1);
        level = next_level(s, &level);
    }
    const int32_t group = place - level.before;
    const int32_t first = group * s->fan_in, left = level.inputs - first;
    return (struct gradient_sum){.level = level.number,
                                 .range = number % s->ranges,
                                 .group = group,
                                 .first = first,
                                 .count = s->fan_in > 0 && s->fan_in < left ? s->fan_in : left,
                                 .is_mean = level.groups == 1};
}

int32_t gradient_sum_number(const struct schedule *s, int64_t round, int level, int32_t group,
                            int range)
{
    struct level at = first_level(s, round);
    while (at.number < level)
        at = next_level(s, &at);
    return (at.before + group) * s->ranges + range;
}

int32_t gradient_sum_of(const struct schedule *s, int64_t round, int level, int32_t input,
                        int range)
{
    return gradient_sum_number(s, round, level, s->fan_in > 0 ? input / s->fan_in : 0, range);
}

int32_t gradient_sum_first_mean(const struct schedule *s, int64_t round)
{
    return last_level(s, round).before * s->ranges;
}
