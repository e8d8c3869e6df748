/*
 * pipeline_options - the options of all commands that run something, and the steps before a run.
 */
#ifndef PIPELINES_RUN_PIPELINE_OPTIONS_H
#define PIPELINES_RUN_PIPELINE_OPTIONS_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "pipelines/shared/child_process.h"
#include "pipelines/shared/memory_shares.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/backends/backend_list.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORKERS_MAX = 64 };

struct pipeline_options {
    const char *directory, *store, *redis, *redis_password_file;
    struct option_list set;
    int64_t workers, threads, lease; /* workers 0: auto */
    uint64_t memory;
    int workers_most;            /* for each stage */
    struct memory_shares shares; /* of the memory, for that many workers */
    bool json, quiet, dry_run, debug;
    /* not an option: this run does not become the newest one of its folder (run_binding.h) */
    bool is_aside;
    const char *file; /* the pipeline file */
    struct pipeline_settings settings;
};

/* clang-format off */
/* Rows of an option table: the options of all commands that run something. PLACE(field) is the
 * offset of the field. */
#define PIPELINE_OPTIONS(PLACE) \
    {"directory", OPTION_TEXT, PLACE(directory), NULL, 0, 0, "FOLDER", \
     "folder of the run (default: runs/<name>)"}, \
    {"store", OPTION_TEXT, PLACE(store), NULL, 0, 0, "URI", \
     "keep all records there (" STORE_ADDRESSES ") instead of in the folder, which remembers it"}, \
    {"set", OPTION_LIST, PLACE(set), NULL, 0, 0, "KEY=VALUE", \
     "change one setting of the pipeline file; may be repeated"}, \
    {"workers", OPTION_INT_OR_AUTO, PLACE(workers), "1", 1, WORKERS_MAX, "N", \
     "worker processes of each stage; auto (graphmill run): add workers as long as each brings 5 " \
     "% more rounds a second"}, \
    {"threads", OPTION_INT, PLACE(threads), "0", 0, 1024, "N", \
     "threads of a stage's workers together; 0: one for each core"}, \
    {"memory", OPTION_BYTES, PLACE(memory), NULL, 0, 0, "SIZE", \
     "memory budget of all processes of the run together (default: four fifths of the memory of " \
     "the machine or container; ingest and partition alone: half)"}, \
    {"redis", OPTION_TEXT, PLACE(redis), NULL, 0, 0, "URL", \
     "use this Redis instead of a private one"}, \
    {"redis-password-file", OPTION_TEXT, PLACE(redis_password_file), NULL, 0, 0, "FILE", \
     "file with its password"}, \
    {"lease", OPTION_INT, PLACE(lease), "10000", 100, 86400000, "MS", \
     "a silent worker loses its unit after so many milliseconds"}, \
    {"json", OPTION_FLAG, PLACE(json), NULL, 0, 0, NULL, "print the answer as JSON"}, \
    {"dry-run", OPTION_FLAG, PLACE(dry_run), NULL, 0, 0, NULL, \
     "print what would run and why, and change nothing"}, \
    {"quiet", OPTION_FLAG, PLACE(quiet), NULL, 0, 0, NULL, "no progress on stderr"}, \
    {"debug", OPTION_FLAG, PLACE(debug), NULL, 0, 0, NULL, \
     "log everything, and add to an error the source line that reported it"},
/* clang-format on */

/* Parses argv, then loads and checks the pipeline file. *shown: help was asked for and printed. */
MUST_CHECK enum error_code pipeline_options_parse(struct pipeline_options *options,
                                                  const char *summary, int argc, char **argv,
                                                  bool *shown, struct error *err);
/* Does the second half of pipeline_options_parse(), with the options and `file` already set: it
 * loads the settings and divides the memory. */
MUST_CHECK enum error_code pipeline_options_load(struct pipeline_options *options,
                                                 struct error *err);
/* Writes the path of the run's folder, which may not exist yet. */
MUST_CHECK enum error_code pipeline_folder_path(const struct pipeline_options *options,
                                                char path[FILE_PATH_SIZE], struct error *err);
/* Checks that Redis accepts address and password, so that a wrong one is reported before hours of
 * work. */
MUST_CHECK enum error_code pipeline_check_redis(const struct pipeline_options *options,
                                                struct error *err);
/* Runs ingest or partition to its end, and prints its answer on stderr. */
MUST_CHECK enum error_code pipeline_run_stage(const struct pipeline_options *options,
                                              const struct run_folder *folder, const char *stage,
                                              struct error *err);
/* Does the same, with more arguments for the program. `answer` receives the line that the program
 * printed, or "", also after a failure; NULL: not wanted. */
MUST_CHECK enum error_code pipeline_run_stage_with(const struct pipeline_options *options,
                                                   const struct run_folder *folder,
                                                   const char *stage,
                                                   const struct option_list *extra,
                                                   char answer[CHILD_TEXT_SIZE], struct error *err);
/* Starts the run of options->settings on the existing partition, and binds it. */
MUST_CHECK enum error_code pipeline_start_run(const struct pipeline_options *options,
                                              struct run_folder *folder, struct error *err);
/* Opens the run folder, runs ingest and partition, starts the run and binds it. If training begins
 * with a given model, the settings then name it by the hash of its weights (warm_start.h). */
MUST_CHECK enum error_code pipeline_prepare(struct pipeline_options *options,
                                            struct run_folder *folder, struct error *err);
/* Does the same in a folder that is already open. */
MUST_CHECK enum error_code pipeline_prepare_in(struct pipeline_options *options,
                                               struct run_folder *folder, struct error *err);

#endif
