/*
 * part_times - how long each part of the partition was worked on, and how long it waited for the others.
 *
 * In inference the layer of a part is a unit, and the next layer of any part goes on when that of all is done: so a part waits in
 * each layer from its own end to that of the last one. Where there are fewer workers than parts it waits, too, for those that were not
 * begun before, which is no fault of theirs; the seconds of work do not depend on that.
 *
 * In training no part waits. A unit reads rows of all parts, and what waits at the end of a round is a slot for the other slots of it.
 * What a part has there is its share of the seconds of units (stages/engine/part_shares.h).
 */
#ifndef PIPELINES_REPORT_PART_TIMES_H
#define PIPELINES_REPORT_PART_TIMES_H

#include "pipelines/report/run_times.h"

#include <stdbool.h>

struct part_time {
    double sample, step, infer; /* seconds of work */
    double waited;              /* seconds, for other parts in the layers of inference */
    int last;                   /* in how many layers it was the one that ended last */
    double rows;                /* that steps of training read of it */
};

/* Fills out [part_count]. Of a layer of a part that was done twice the one counts that ended first. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_times_find(const struct run_times *times, int part_count,
                                           struct part_time *out, struct error *err);
/* Whether anything is known of any part. */
bool part_times_are_known(const struct part_time *time, int part_count);

#endif
