/*
 * fetch - copies the outputs of a finished run from any store into a local folder.
 *
 * The copy is compared with the manifest of the outputs, file by file, before the folder gets its
 * name. So a folder with that name is complete.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/files/file.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/chain/metrics_log.h"
#include "stages/plan/run/run_result.h"
#include "store/objects/artifact_cache.h"
#include "store/records/round/outputs_seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct fetch_options {
    const char *store;
    bool quiet;
};

/* clang-format off */
#define AT(field) offsetof(struct fetch_options, field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI", "the store that holds the run"},
    {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, NULL, "do not print the run's scores"},
    {.name = NULL},
};
/* clang-format on */

/* Checks that nothing exists at the target. */
static enum error_code check_target(const char *path, struct error *err)
{
    bool found = false;
    const enum error_code rc = file_is_there(path, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    return error_set(err, ERROR_USAGE, "%s is there already; " ADVICE "name a folder that is not",
                     path);
}

static enum error_code copy_files(const struct run_folder *from, const char *key,
                                  const struct outputs_seal *seal, const char *to,
                                  struct error *err)
{
    struct artifact_handle files = {0};
    enum error_code rc = outputs_acquire(from->store, key, seal, &files, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_copy_tree(files.path, to, err);
    artifact_release(&files);
    return rc == ERROR_NONE ? outputs_seal_check(seal, to, err) : rc;
}

/* Copies the metrics. They are not part of the outputs, and a run may have none. */
static enum error_code copy_metrics(const struct run_folder *from, const char *to,
                                    struct error *err)
{
    const struct key note = metrics_log_note(from->run.plan.id);
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    enum error_code rc = store_note_get(from->store, note.text, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/metrics.jsonl", to);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, size, false, err);
    memory_free(text);
    return rc;
}

/* Copies the outputs into a folder with a temporary name, and renames it when it is complete. */
static enum error_code copy_run(const struct run_folder *from, const struct key *outputs,
                                const struct outputs_seal *seal, const char *to, struct error *err)
{
    char partial[FILE_PATH_SIZE];
    enum error_code rc = file_path(partial, err, "%s.partial", to);
    if (rc == ERROR_NONE)
        rc = file_remove_all(partial, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = copy_files(from, outputs->text, seal, partial, err);
    if (rc == ERROR_NONE)
        rc = copy_metrics(from, partial, err);
    if (rc == ERROR_NONE)
        rc = file_sync_tree(partial, err);
    if (rc == ERROR_NONE)
        rc = file_rename(partial, to, err);
    if (rc != ERROR_NONE && file_remove_all(partial, NULL) != ERROR_NONE)
        log_warn("%s cannot be removed", partial);
    return rc;
}

static enum error_code read_state(const struct run_folder *from, struct chain_state *state,
                                  struct error *err)
{
    const char *run_id = from->run.plan.id;
    const enum error_code rc =
        chain_state_read(&from->run.schedule, from->store, run_id, state, err);
    if (rc != ERROR_NONE || state->finished)
        return rc;
    return error_set(err, ERROR_UNAVAILABLE,
                     "run %s is not finished: it stands at round %" PRId64 " of %" PRId64, run_id,
                     state->snapshot_version < 0 ? 0 : state->snapshot_version,
                     from->run.schedule.round_count);
}

static enum error_code fetch(const struct run_folder *from, const char *to, bool quiet,
                             struct error *err)
{
    static struct outputs_seal seal;
    const char *run_id = from->run.plan.id, *tag = from->run.schedule.outputs_tag;
    struct chain_state state = {0};
    char text[RUN_RESULT_SIZE];
    enum error_code rc = read_state(from, &state, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct key outputs = key_outputs(run_id, state.weights_version, tag);
    const struct key seal_key = key_outputs_seal(run_id, state.weights_version, tag);
    rc = outputs_seal_get(from->store, seal_key.text, run_id, &seal, err);
    if (rc == ERROR_NONE)
        rc = run_result_describe(run_id, from->run.schedule.round_count, &seal, text, err);
    if (rc == ERROR_NONE)
        rc = copy_run(from, &outputs, &seal, to, err);
    if (rc == ERROR_NONE && !quiet)
        printf("%soutputs        %s\n", text, to);
    return rc;
}

enum error_code command_fetch(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct fetch_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf(
            "graphmill fetch ID FOLDER --store URI [options] - copy the outputs of a finished run "
            "out of a store\n\n");
        options_print_help(option_table);
        printf("\nID is what graphmill status --store URI prints, or 'newest'. FOLDER must not be "
               "there.\n");
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && (rest.count != 2 || !options.store))
        rc = error_set(err, ERROR_USAGE,
                       "graphmill fetch takes the id of a run, a folder and --store");
    if (rc == ERROR_NONE)
        rc = check_target(rest.item[1], err);
    if (rc != ERROR_NONE)
        return rc;
    const char *run_id = strcmp(rest.item[0], "newest") == 0 ? NULL : rest.item[0];
    rc = run_folder_open(&folder, options.store, run_id, err);
    if (rc == ERROR_NONE)
        rc = fetch(&folder, rest.item[1], options.quiet, err);
    run_folder_close(&folder);
    return rc;
}
