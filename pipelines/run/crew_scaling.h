/*
 * crew_scaling - the driver's side of `graphmill scale`: it gives each stage the requested number
 * of workers, and divides the memory among all of them again. Results do not depend on it.
 *
 * Each change is a line of logs/workers.log and of stderr. A number of workers that the memory does
 * not suffice for is refused, and the workers stay as they are.
 */
#ifndef PIPELINES_RUN_CREW_SCALING_H
#define PIPELINES_RUN_CREW_SCALING_H

#include "common/base/error.h"
#include "pipelines/run/pipeline_options.h"
#include "pipelines/run/stage_crew.h"
#include "pipelines/shared/run_folder.h"

#include <stdbool.h>
#include <stdint.h>

struct crew_scaling { /* {0}, then set the first two */
    const struct run_folder *folder;
    const struct pipeline_options *options;
    bool is_by_hand; /* someone asked for a number, which ends --workers auto */
    int64_t look_ms;
};

/* Takes the next request, if there is one, and answers it. Call it often. Fails: as
 * stage_crew_scale(). */
MUST_CHECK enum error_code crew_scaling_turn(struct crew_scaling *scaling, struct stage_crew *crew,
                                             struct error *err);

#endif
