/*
 * pipeline_options - what `run` and `start` have in common: options, and the stages before a run.
 */
#ifndef PIPELINES_PIPELINE_OPTIONS_H
#define PIPELINES_PIPELINE_OPTIONS_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "pipelines/memory_shares.h"
#include "pipelines/run_folder.h"
#include "stages/plan/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct pipeline_options {
    const char *directory, *redis, *redis_password_file;
    struct option_list set;
    int64_t workers, threads, lease;
    uint64_t memory;
    struct memory_shares shares; /* of it */
    bool json, quiet, dry_run;
    const char *file; /* the pipeline file */
    struct pipeline_settings settings;
};

/* Parses argv, loads and checks the pipeline file. *shown: help was asked for and printed. */
MUST_CHECK enum error_code pipeline_options_parse(struct pipeline_options *options,
                                                  const char *summary, int argc, char **argv,
                                                  bool *shown, struct error *err);
/* The folder of the run, which may not be there yet. */
MUST_CHECK enum error_code pipeline_folder_path(const struct pipeline_options *options,
                                                char path[FILE_PATH_SIZE], struct error *err);
/* Opens the run folder, runs ingest and partition, starts the run and binds it. */
MUST_CHECK enum error_code pipeline_prepare(const struct pipeline_options *options,
                                            struct run_folder *folder, struct error *err);

#endif
