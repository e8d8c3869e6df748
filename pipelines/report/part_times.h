/*
 * part_times - how much time was spent on each part of the partition, and how long each part waited
 * for the others.
 *
 * In inference one layer of one part is a unit, and the next layer begins when that of all parts is
 * done. So in each layer a part waits from its own end to the end of the last part. With fewer
 * workers than parts it also waits for the parts that had not begun before, which is not its fault;
 * the seconds of work do not depend on that.
 *
 * In training no part waits. A unit reads rows of all parts, and at the end of a round a slot waits
 * for the other slots of the round. There the time of a part is its share of the seconds of units
 * (stages/engine/part_shares.h).
 */
#ifndef PIPELINES_REPORT_PART_TIMES_H
#define PIPELINES_REPORT_PART_TIMES_H

#include "pipelines/report/run_times.h"

#include <stdbool.h>

struct part_time {
    double sample, step, infer; /* seconds of work */
    /* seconds spent waiting for other parts in the layers of inference */
    double waited;
    int last;    /* number of layers in which this part ended last */
    double rows; /* rows of the part that training steps read */
};

/* Fills out [part_count]. If a layer of a part was computed twice, the one that ended first counts.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_times_find(const struct run_times *times, int part_count,
                                           struct part_time *out, struct error *err);
/* Returns whether anything is known about any part. */
bool part_times_are_known(const struct part_time *time, int part_count);

#endif
