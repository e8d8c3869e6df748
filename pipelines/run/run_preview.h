/*
 * run_preview - prints what `run` and `start` would do, and why, without doing it.
 *
 *   ingest     unchanged
 *   partition  runs: partition.parts 4 -> 8
 *   train      runs: partition runs
 *   infer      runs: train runs
 *
 * The reasons are the settings in which the pipeline differs from the newest run of the folder.
 */
#ifndef PIPELINES_RUN_RUN_PREVIEW_H
#define PIPELINES_RUN_RUN_PREVIEW_H

#include "common/base/error.h"
#include "pipelines/run/pipeline_options.h"
#include "stages/plan/run/run_binding.h"

/* Prints the preview, as JSON with --json. It reads the input to find out whether it has changed,
 * and writes nothing. Fails: as `run` would before its first write: bad settings, bad input,
 * another environment. */
MUST_CHECK enum error_code run_preview(struct pipeline_options *options, struct error *err);

/* Prints one line on stderr that says why `run` does more than resume. `newest` is the run that was
 * the newest before, or an empty one. */
void run_preview_tell(const struct run_binding *newest, const struct run_binding *run);

#endif
