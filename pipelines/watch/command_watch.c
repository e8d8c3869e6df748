/*
 * watch - applies updates of a dataset as they arrive in a folder, trains again when a trigger
 * fires, and keeps the better model.
 *
 *   FOLDER/0007/add-edges.csv ... ─> watch_step ─> the next version, and perhaps the next model
 *                                               ─> FOLDER/done/0007, 0007.json
 *
 * pipelines/watch/watch_inbox.h describes the folder, watch_step.h how an update is processed.
 */
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/files/file_pattern.h"
#include "pipelines/run/pipeline_note.h"
#include "pipelines/shared/commands.h"
#include "pipelines/watch/watch_step.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/settings/setting_table.h"

#include <stdio.h>
#include <string.h>

struct watch_options {
    bool once;
    int64_t every;
    struct option_list warm;
    struct pipeline_options run;
};

/* clang-format off */
#define AT(field) offsetof(struct watch_options, field)
#define AT_RUN(field) offsetof(struct watch_options, run.field)
static const struct option_spec option_table[] = {
    {"once", OPTION_FLAG, AT(once), NULL, 0, 0, NULL,
     "end when no update is left, with status 65 if one was refused"},
    {"every", OPTION_INT, AT(every), "2", 1, 86400, "SECONDS",
     "interval between looks for updates"},
    {"warm", OPTION_LIST, AT(warm), NULL, 0, 0, "KEY=VALUE",
     "change one setting only for training after an update, such as epochs=3; may be repeated"},
    PIPELINE_OPTIONS(AT_RUN)
    {.name = NULL},
};
/* clang-format on */

static void print_help(void)
{
    printf(
        "graphmill watch FOLDER [DATASET] [options] - apply updates as they arrive in a folder\n\n"
        "DATASET is a pipeline file, or the folder of a run of one (default: FOLDER/pipeline.yaml)."
        "\n"
        "An update is a folder in FOLDER that is renamed to its name when it is complete: before, "
        "its name\nbegins with a dot or ends in .partial. It has one or more of "
        "add-nodes.csv, features.csv,\nadd-edges.csv, remove-edges.csv, remove-nodes.csv, as "
        "graphmill update takes them. Folders of runs, the store and the dataset's own files\nmay "
        "lie in FOLDER, too, and are left alone. Updates are\napplied in the order of their names, "
        "each "
        "once, and go to FOLDER/done, or to FOLDER/refused if they\ndo not fit; a .json "
        "beside each says what came of it.\n\n"
        "When an update asks for it (ingest.retrain_* in the pipeline file) the model is trained "
        "further on the\nnew version, and the better one of old and new on its validation split "
        "is kept.\n\n");
    options_print_help(option_table);
}

struct command {
    struct watch_options options;
    struct json_document *note; /* note of the run folder that was named */
    struct watch watch;
    char file[FILE_PATH_SIZE];
};

static enum error_code take_dataset(struct command *c, const struct option_list *rest,
                                    struct error *err)
{
    bool found = false;
    if (rest->count == 2)
        return pipeline_note_take(&c->options.run, rest->item[1], &c->note, err);
    enum error_code rc = file_path(c->file, err, "%s/pipeline.yaml", rest->item[0]);
    if (rc == ERROR_NONE)
        rc = file_is_there(c->file, &found, err);
    if (rc == ERROR_NONE && !found)
        rc = error_set(
            err, ERROR_USAGE,
            "%s is not there: " ADVICE "name the dataset, graphmill watch FOLDER DATASET", c->file);
    c->options.run.file = c->file;
    return rc;
}

/* Excludes the folders that the store is in. */
static enum error_code leave_store(struct watch_inbox *inbox, const char *uri, struct error *err)
{
    struct store_location location;
    if (!uri)
        return ERROR_NONE;
    enum error_code rc = store_locate(uri, &location, err);
    for (int i = 0; rc == ERROR_NONE && i < location.folder_count; i++)
        rc = watch_inbox_leave(inbox, location.folder[i], err);
    return rc;
}

static enum error_code leave_paths(struct watch_inbox *inbox, const char *paths, struct error *err)
{
    const char *at = NULL, *item = NULL;
    size_t size = 0;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && *paths && file_pattern_next(paths, &at, &item, &size)) {
        char path[FILE_PATH_SIZE];
        rc = file_path(path, err, "%.*s", (int)size, item);
        if (rc == ERROR_NONE && path[0] == '/')
            rc = watch_inbox_leave(inbox, path, err);
    }
    return rc;
}

/* Excludes the folder of the run, its store and the dataset's files, which may be inside the
 * inbox. */
static enum error_code leave_own_files(struct watch *watch, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    struct watch_inbox *inbox = &watch->inbox;
    enum error_code rc = pipeline_folder_path(&watch->options, folder, err);
    if (rc == ERROR_NONE)
        rc = watch_inbox_leave(inbox, folder, err);
    if (rc == ERROR_NONE)
        rc = leave_store(inbox, watch->options.store, err);
    for (const struct setting_spec *row = setting_table; rc == ERROR_NONE && row->name; row++)
        if (row->type == SETTING_PATH || row->type == SETTING_PATHS)
            rc = leave_paths(inbox, (const char *)&watch->options.settings + row->offset, err);
    return rc;
}

static enum error_code parse(struct command *c, int argc, char **argv, struct error *err)
{
    struct watch_options *o = &c->options;
    struct option_list rest = {0};
    enum error_code rc = options_parse(option_table, argc, argv, o, &rest, err);
    if (rc == ERROR_NONE && (rest.count < 1 || rest.count > 2))
        rc = error_set(err, ERROR_USAGE,
                       "graphmill watch takes FOLDER and DATASET, found %d arguments", rest.count);
    if (rc == ERROR_NONE && o->run.dry_run)
        rc = error_set(err, ERROR_USAGE, "--dry-run is for graphmill run");
    if (rc == ERROR_NONE)
        rc = take_dataset(c, &rest, err);
    if (rc == ERROR_NONE)
        rc = pipeline_options_load(&o->run, err);
    if (rc == ERROR_NONE)
        rc = run_model_check_machine(&o->run.settings, err);
    c->watch.options = o->run;
    c->watch.warm = o->warm;
    if (rc == ERROR_NONE)
        rc = watch_inbox_open(&c->watch.inbox, rest.item[0], err);
    return rc == ERROR_NONE ? leave_own_files(&c->watch, err) : rc;
}

static void wait_for_updates(int64_t seconds)
{
    enum { SLICE_MS = 100 };
    for (int64_t ms = 0; ms < seconds * 1000 && !stop_signal_seen(); ms += SLICE_MS)
        clock_sleep_ms(SLICE_MS);
}

/* Writes the note of the run folder, for later commands that are given the folder. */
static enum error_code note_pipeline(const struct command *c, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const struct pipeline_options *options = &c->watch.options;
    const enum error_code rc = pipeline_folder_path(options, folder, err);
    return rc == ERROR_NONE ? pipeline_note_write(folder, options->file, &options->set, err) : rc;
}

/* Processes updates until it is asked to stop. A stop between two updates is a success. */
static enum error_code watch(struct command *c, struct error *err)
{
    enum error_code rc = pipeline_check_redis(&c->watch.options, err);
    if (rc == ERROR_NONE)
        rc = watch_have_model(&c->watch, err);
    if (rc == ERROR_NONE && !c->note)
        rc = note_pipeline(c, err);
    while (rc == ERROR_NONE && !stop_signal_seen()) {
        bool found = false;
        rc = watch_step(&c->watch, &found, err);
        if (rc == ERROR_NONE && !found && c->options.once)
            break;
        if (rc == ERROR_NONE && !found)
            wait_for_updates(c->options.every);
    }
    if (rc == ERROR_NONE && c->options.once && c->watch.refused)
        rc = error_set(err, ERROR_INPUT, "updates that were refused: %d; they lie in %s/refused",
                       c->watch.refused, c->watch.inbox.path);
    return rc;
}

enum error_code command_watch(int argc, char **argv, struct error *err)
{
    struct command *c = NULL;
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = memory_new(&c, 1, "a watch", err);
    if (rc == ERROR_NONE)
        rc = parse(c, argc, argv, err);
    if (rc == ERROR_NONE)
        rc = watch(c, err);
    if (c) {
        watch_inbox_close(&c->watch.inbox);
        json_free(c->note);
    }
    memory_free(c);
    return rc;
}
