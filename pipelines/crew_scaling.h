/*
 * crew_scaling - the driver's side of `graphmill scale`: each stage gets as many workers as were asked for, and the memory is
 * divided anew among all of them. Results do not depend on it.
 *
 * What it did is a line of logs/workers.log and of stderr. A number that the memory is not enough for is refused, and the
 * workers stay as they are.
 */
#ifndef PIPELINES_CREW_SCALING_H
#define PIPELINES_CREW_SCALING_H

#include "common/base/error.h"
#include "pipelines/pipeline_options.h"
#include "pipelines/run_folder.h"
#include "pipelines/stage_crew.h"

#include <stdbool.h>
#include <stdint.h>

struct crew_scaling { /* {0}, then the first two */
    const struct run_folder *folder;
    const struct pipeline_options *options;
    bool is_by_hand; /* somebody asked for a number: --workers auto is no more */
    int64_t look_ms;
};

/* To be called often. Fails: as stage_crew_scale(). */
MUST_CHECK enum error_code crew_scaling_turn(struct crew_scaling *scaling, struct stage_crew *crew,
                                             struct error *err);

#endif
