#include "pipelines/run/worker_growth.h"

#include <stdlib.h>
#include <string.h>

static const double worth = 1.05;

void worker_growth_begin(struct worker_growth *growth, int most)
{
    *growth = (struct worker_growth){.count = 1, .most = most, .hold_length = GROWTH_HOLD};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct worker_growth *growth)
{
    double sorted[GROWTH_SAMPLES];
    memcpy(sorted, growth->sample, sizeof sorted);
    qsort(sorted, GROWTH_SAMPLES, sizeof *sorted, by_value);
    return sorted[GROWTH_SAMPLES / 2];
}

static void enter(struct worker_growth *growth, enum growth_phase phase)
{
    growth->phase = phase;
    growth->samples = 0;
}

static void hold(struct worker_growth *growth)
{
    growth->hold = growth->hold_length;
    enter(growth, GROWTH_HOLDING);
}

/* Doubles the hold, after a trial that confirmed the number. */
static void hold_longer(struct worker_growth *growth)
{
    hold(growth);
    if (growth->hold_length < GROWTH_HOLD_MAX)
        growth->hold_length *= 2;
}

static void try_more(struct worker_growth *growth)
{
    if (growth->count == growth->most) {
        hold(growth);
        return;
    }
    growth->count++;
    enter(growth, GROWTH_TRYING_MORE);
}

static void try_fewer(struct worker_growth *growth)
{
    if (growth->count == 1) {
        hold(growth);
        return;
    }
    growth->count--;
    enter(growth, GROWTH_TRYING_FEWER);
}

/* Keeps the number of workers of the trial. */
static void accept(struct worker_growth *growth)
{
    growth->before = growth->during;
    growth->hold_length = GROWTH_HOLD;
}

static void decide_more(struct worker_growth *growth)
{
    if (growth->during >= worth * growth->before) {
        accept(growth);
        try_more(growth);
        return;
    }
    growth->count--;
    hold_longer(growth);
}

static void decide_fewer(struct worker_growth *growth)
{
    if (growth->before < worth * growth->during) {
        accept(growth);
        try_fewer(growth);
        return;
    }
    growth->count++;
    hold_longer(growth);
}

static void end_hold(struct worker_growth *growth, double rate)
{
    const bool more =
        growth->count == 1 || (growth->tries_more_next && growth->count < growth->most);
    growth->before = rate;
    growth->tries_more_next = !more;
    if (more)
        try_more(growth);
    else
        try_fewer(growth);
}

bool worker_growth_note(struct worker_growth *growth, double rounds_a_second)
{
    const int count = growth->count;
    growth->sample[growth->samples++ % GROWTH_SAMPLES] = rounds_a_second;
    const int wanted = growth->phase == GROWTH_HOLDING ? growth->hold : GROWTH_SAMPLES;
    if (growth->samples < wanted)
        return false;
    const double rate = median(growth);
    switch (growth->phase) {
    case GROWTH_MEASURING:
        growth->before = rate;
        try_more(growth);
        break;
    case GROWTH_TRYING_MORE:
        growth->during = rate;
        decide_more(growth);
        break;
    case GROWTH_TRYING_FEWER:
        growth->during = rate;
        decide_fewer(growth);
        break;
    case GROWTH_HOLDING:
        end_hold(growth, rate);
        break;
    }
    return growth->count != count;
}
