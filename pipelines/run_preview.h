/*
 * run_preview - what `run` and `start` would do, and why, without doing any of it.
 *
 *   ingest     unchanged
 *   partition  runs: partition.parts 4 -> 8
 *   train      runs: partition runs
 *   infer      runs: train runs
 *
 * The reasons are the settings in which the pipeline differs from the newest run of the folder.
 */
#ifndef PIPELINES_RUN_PREVIEW_H
#define PIPELINES_RUN_PREVIEW_H

#include "common/base/error.h"
#include "pipelines/pipeline_options.h"
#include "stages/plan/run_binding.h"

/* Prints it, as JSON with --json. Reads the input to know whether it has changed; writes nothing.
 * Fails: as `run` would before anything is written: bad settings, bad input, another environment. */
MUST_CHECK enum error_code run_preview(struct pipeline_options *options, struct error *err);

/* One line on stderr: why a real run does more than to go on. `newest`: the run that was the newest before, or an
 * empty one. */
void run_preview_tell(const struct run_binding *newest, const struct run_binding *run);

#endif
