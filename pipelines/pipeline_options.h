/*
 * pipeline_options - what `run` and `start` have in common: options, and the stages before a run.
 */
#ifndef PIPELINES_PIPELINE_OPTIONS_H
#define PIPELINES_PIPELINE_OPTIONS_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "pipelines/child_process.h"
#include "pipelines/memory_shares.h"
#include "pipelines/run_folder.h"
#include "stages/plan/pipeline_settings.h"
#include "store/backends/backend_list.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORKERS_MAX = 64 };

struct pipeline_options {
    const char *directory, *store, *redis, *redis_password_file;
    struct option_list set;
    int64_t workers, threads, lease; /* workers 0: auto */
    uint64_t memory;
    int workers_most;            /* of each stage */
    struct memory_shares shares; /* of the memory, for so many */
    bool json, quiet, dry_run, debug;
    bool
        is_aside; /* not an option: the run is not to be the newest one of its folder (run_binding.h) */
    const char *file; /* the pipeline file */
    struct pipeline_settings settings;
};

/* clang-format off */
/* Rows of a table of options: those of all commands that run something. PLACE(field): its offset. */
#define PIPELINE_OPTIONS(PLACE) \
    {"directory", OPTION_TEXT, PLACE(directory), NULL, 0, 0, "FOLDER", "folder of the run (default: runs/<name>)"}, \
    {"store", OPTION_TEXT, PLACE(store), NULL, 0, 0, "URI", "keep all records there (" STORE_ADDRESSES ") instead of in the folder, which remembers it"}, \
    {"set", OPTION_LIST, PLACE(set), NULL, 0, 0, "KEY=VALUE", "change one setting of the pipeline file; may be repeated"}, \
    {"workers", OPTION_INT_OR_AUTO, PLACE(workers), "1", 1, WORKERS_MAX, "N", "worker processes of each stage; auto: of graphmill run, one more as long as each brings 5 % more rounds a second, and fewer when they do not"}, \
    {"threads", OPTION_INT, PLACE(threads), "0", 0, 1024, "N", "threads of a stage's workers together; 0: one a core"}, \
    {"memory", OPTION_BYTES, PLACE(memory), NULL, 0, 0, "SIZE", "memory budget of all processes of the run together, which divide it (default: four fifths of what the machine or container has; ingest and partition alone: half)"}, \
    {"redis", OPTION_TEXT, PLACE(redis), NULL, 0, 0, "URL", "use this Redis instead of a private one"}, \
    {"redis-password-file", OPTION_TEXT, PLACE(redis_password_file), NULL, 0, 0, "FILE", "file with its password"}, \
    {"lease", OPTION_INT, PLACE(lease), "10000", 100, 86400000, "MS", "a silent worker loses its unit after so many milliseconds"}, \
    {"json", OPTION_FLAG, PLACE(json), NULL, 0, 0, NULL, "print the answer as JSON"}, \
    {"dry-run", OPTION_FLAG, PLACE(dry_run), NULL, 0, 0, NULL, "say what would run and why, and change nothing"}, \
    {"quiet", OPTION_FLAG, PLACE(quiet), NULL, 0, 0, NULL, "no progress on stderr"}, \
    {"debug", OPTION_FLAG, PLACE(debug), NULL, 0, 0, NULL, "in the logs of the stages everything, and behind an error the line of the source that met it"},
/* clang-format on */

/* Parses argv, loads and checks the pipeline file. *shown: help was asked for and printed. */
MUST_CHECK enum error_code pipeline_options_parse(struct pipeline_options *options,
                                                  const char *summary, int argc, char **argv,
                                                  bool *shown, struct error *err);
/* The rest of that, when options and `file` are there: the settings, and shares of the memory. */
MUST_CHECK enum error_code pipeline_options_load(struct pipeline_options *options,
                                                 struct error *err);
/* The folder of the run, which may not be there yet. */
MUST_CHECK enum error_code pipeline_folder_path(const struct pipeline_options *options,
                                                char path[FILE_PATH_SIZE], struct error *err);
/* A wrong address or password is said before the work of hours. */
MUST_CHECK enum error_code pipeline_check_redis(const struct pipeline_options *options,
                                                struct error *err);
/* Runs ingest or partition to its end, and tells its answer on stderr. */
MUST_CHECK enum error_code pipeline_run_stage(const struct pipeline_options *options,
                                              const struct run_folder *folder, const char *stage,
                                              struct error *err);
/* The same with arguments of the program behind the others; `answer` is the line that it said, or "", failure or not; NULL: not wanted. */
MUST_CHECK enum error_code pipeline_run_stage_with(const struct pipeline_options *options,
                                                   const struct run_folder *folder,
                                                   const char *stage,
                                                   const struct option_list *extra,
                                                   char answer[CHILD_TEXT_SIZE], struct error *err);
/* Starts the run of options->settings on the partition that is there, and binds it. */
MUST_CHECK enum error_code pipeline_start_run(const struct pipeline_options *options,
                                              struct run_folder *folder, struct error *err);
/* Opens the run folder, runs ingest and partition, starts the run and binds it. A model that training begins with is named in the
 * settings by its weights then (warm_start.h). */
MUST_CHECK enum error_code pipeline_prepare(struct pipeline_options *options,
                                            struct run_folder *folder, struct error *err);
/* The same in a folder that is open. */
MUST_CHECK enum error_code pipeline_prepare_in(struct pipeline_options *options,
                                               struct run_folder *folder, struct error *err);

#endif
