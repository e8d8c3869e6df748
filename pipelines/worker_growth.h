/*
 * worker_growth - how many workers of each stage a local run has, by its throughput: `--workers auto`.
 *
 * A worker is worth its place while the run does at least 5 % more rounds a second with it than without. So one is
 * added, and another, as long as each is worth it; the first that is not is taken back. Then the number holds. What is beside
 * the run on the machine comes and goes, so after a while one is tried again: in turn one fewer, which is put back if the run
 * was better with it, and one more. Each time that this changed nothing the number holds twice as long.
 *
 *   measure 1 ─> try 2 ─ worth it ─> try 3 ─ not worth it ─> back to 2, hold ... try 1 ─ worth it ─> back to 2, hold ...
 *
 * A throughput is the median of GROWTH_SAMPLES measurements, so that a hiccup or two decides nothing. The rule is a function of
 * what was measured alone: it starts nobody and knows no clock.
 */
#ifndef PIPELINES_WORKER_GROWTH_H
#define PIPELINES_WORKER_GROWTH_H

#include <stdbool.h>

enum { GROWTH_SAMPLES = 5, GROWTH_HOLD = 40, GROWTH_HOLD_MAX = 640 };

enum growth_phase { GROWTH_MEASURING, GROWTH_TRYING_MORE, GROWTH_TRYING_FEWER, GROWTH_HOLDING };

struct worker_growth { /* by worker_growth_begin() */
    int count;         /* workers of each stage that there should be now */
    int most;
    enum growth_phase phase;
    double before;                 /* rounds a second, before the trial */
    double during;                 /* likewise, of the trial that was decided last; 0: none yet */
    double sample[GROWTH_SAMPLES]; /* the newest, in a ring */
    int samples;                   /* in this phase */
    int hold, hold_length;         /* samples before the next trial */
    bool tries_more_next;
};

/* One worker, which may become `most`, 1 or more. */
void worker_growth_begin(struct worker_growth *growth, int most);
/* A measurement with growth->count workers, all at work, of a stretch long enough to hold some rounds. True: growth->count is
 * another now. */
bool worker_growth_note(struct worker_growth *growth, double rounds_a_second);

#endif
