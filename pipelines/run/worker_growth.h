/*
 * worker_growth - the rule of `--workers auto`: chooses the number of workers of each stage in a
 * local run by its throughput.
 *
 * A worker is kept if the run completes at least 5 % more rounds per second with it than without
 * it. Workers are added one by one as long as each of them is kept; the first that is not worth it
 * is removed, and the number is held. Because the load of the machine changes, another number is
 * tried after a while: in turn one worker fewer, which is put back if the run was faster with it,
 * and one more. Each time the trial changes nothing, the number is held twice as long.
 *
 *   measure 1 ─> try 2 ─ worth it ─> try 3 ─ not worth it ─> back to 2, hold ...
 *       try 1 ─ worth it ─> back to 2, hold ...
 *
 * A throughput is the median of GROWTH_SAMPLES measurements, so one or two outliers decide nothing.
 * The rule depends on the measurements alone: it starts no process and reads no clock.
 */
#ifndef PIPELINES_RUN_WORKER_GROWTH_H
#define PIPELINES_RUN_WORKER_GROWTH_H

#include <stdbool.h>

enum { GROWTH_SAMPLES = 5, GROWTH_HOLD = 40, GROWTH_HOLD_MAX = 640 };

enum growth_phase { GROWTH_MEASURING, GROWTH_TRYING_MORE, GROWTH_TRYING_FEWER, GROWTH_HOLDING };

struct worker_growth { /* initialised by worker_growth_begin() */
    int count;         /* wanted number of workers of each stage */
    int most;
    enum growth_phase phase;
    double before;                 /* rounds per second before the trial */
    double during;                 /* rounds per second in the last decided trial; 0: none yet */
    double sample[GROWTH_SAMPLES]; /* a ring of the newest samples */
    int samples;                   /* number of samples in this phase */
    int hold, hold_length;         /* samples to take before the next trial */
    bool tries_more_next;
};

/* Starts with one worker, which may become `most`, 1 or more. */
void worker_growth_begin(struct worker_growth *growth, int most);
/* Notes a measurement that was taken with growth->count workers, all running, over a period of
 * several rounds. Returns true if growth->count has changed. */
bool worker_growth_note(struct worker_growth *growth, double rounds_a_second);

#endif
