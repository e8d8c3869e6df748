/*
 * update - makes a new version of a pipeline's dataset: edges and nodes are added and removed,
 * features change.
 *
 *   pipeline file or run folder ─> ingest ─> its newest version ─┐
 *   --add-edges, --remove-edges, ... ────────────────────────────┴─> ingest ─> one more version,
 *                                                   which the next graphmill run trains on
 *
 * graphmill-ingest does the checks and the work (stages/ingest/update); this command prints the
 * result.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "pipelines/run/pipeline_note.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/own_command.h"
#include "pipelines/watch/dataset_update.h"
#include "pipelines/watch/retrain_trigger.h"

#include <inttypes.h>
#include <stdio.h>

struct update_command {
    struct pipeline_options run;
    struct update_options files;
    struct update_request update; /* the files of the update */
};

/* clang-format off */
#define AT_RUN(field) offsetof(struct update_command, run.field)
#define AT_UPDATE(field) offsetof(struct update_command, files.field)
static const struct option_spec option_table[] = {
    UPDATE_OPTIONS(AT_UPDATE)
    PIPELINE_OPTIONS(AT_RUN)
    {.name = NULL},
};
/* clang-format on */

struct update {
    struct update_command options;
    struct local_run local;
    struct json_document *note; /* note of the run folder that was named */
    struct dataset_version version;
    struct retrain_trigger trigger;
};

static void print_help(void)
{
    printf("graphmill update DATASET [options] - a new version of a dataset\n\n"
           "DATASET is a pipeline file, or the folder of a run of one.\n"
           "What goes is taken away first, then what is new is put in. Ids are those of the input. "
           "Whatever does\nnot fit is said with file and line, and nothing is changed. graphmill "
           "run FILE trains on the new version.\n\n");
    options_print_help(option_table);
}

static enum error_code parse(struct update *u, int argc, char **argv, struct error *err)
{
    struct update_command *o = &u->options;
    struct option_list rest = {0};
    enum error_code rc = options_parse(option_table, argc, argv, o, &rest, err);
    if (rc == ERROR_NONE)
        rc = update_options_read(&o->files, &o->update, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc =
            error_set(err, ERROR_USAGE,
                      "graphmill update takes one DATASET, a pipeline file or the folder of a run; "
                      "found %d arguments",
                      rest.count);
    if (rc == ERROR_NONE && !update_request_is_given(&o->update))
        rc = error_set(err, ERROR_USAGE,
                       "nothing to do: " ADVICE "give --add-edges, --remove-edges, --add-nodes, "
                       "--remove-nodes or --features");
    if (rc == ERROR_NONE && o->run.dry_run)
        rc = error_set(err, ERROR_USAGE, "--dry-run is for graphmill run");
    if (rc == ERROR_NONE)
        rc = pipeline_note_take(&o->run, rest.item[0], &u->note, err);
    return rc == ERROR_NONE ? pipeline_options_load(&o->run, err) : rc;
}

static enum error_code print_json(const struct update *u, struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    dataset_version_put(&json, &u->version);
    if (u->trigger.run_id[0])
        retrain_trigger_put(&json, &u->trigger);
    json_close_object(&json);
    const enum error_code rc = json_writer_print(&json, err);
    json_writer_release(&json);
    return rc;
}

static void print_trigger(const struct retrain_trigger *t)
{
    (void)printf("since run      %s of %s\n", t->run_id, t->dataset_id);
    (void)printf("drift          %.2f %% of training neighbourhoods touched, degrees %.4f, "
                 "features %.4f\n",
                 100 * t->drift.touched, t->drift.degree_drift, t->drift.feature_drift);
    if (t->now.run_id[0])
        (void)printf("validation     %s %.4f, before %.4f\n", metric_table[t->now.metric].name,
                     t->now.value, t->before.value);
    (void)printf("retrain        %s: %s\n", t->asks ? "yes" : "no", t->why);
}

static enum error_code print_version(const struct update *u, struct error *err)
{
    const struct dataset_schema *schema = &u->version.schema;
    const struct dataset_delta *d = &u->version.delta;
    char word[SHELL_WORD_SIZE];
    if (u->local.options.json)
        return print_json(u, err);
    (void)printf("dataset        %s\n", schema->id);
    (void)printf("version        %" PRIu64 " of %s\n", d->depth, d->root);
    (void)printf("nodes          %" PRIu32 ": %" PRIu32 " added, %" PRIu64 " removed\n",
                 schema->node_count, d->added_nodes, d->gone_nodes);
    (void)printf("edges          %" PRIu64 " as stored: %" PRIu64 " added, %" PRIu64
                 " removed by their ends\n",
                 schema->edge_count, u->version.added_edges, u->version.removed_edges);
    (void)printf("feature rows   %" PRIu64 "\n", d->rows);
    if (u->trigger.run_id[0])
        print_trigger(&u->trigger);
    (void)printf("train on it    %s run %s\n", own_command(),
                 shell_word(u->local.options.file, word));
    return ERROR_NONE;
}

static enum error_code update(struct update *u, struct error *err)
{
    struct local_run *local = &u->local;
    char path[FILE_PATH_SIZE];
    local->options = u->options.run;
    enum error_code rc = pipeline_folder_path(&local->options, path, err);
    if (rc == ERROR_NONE)
        rc = run_folder_create(&local->folder, path, local->options.store, err);
    if (rc == ERROR_NONE)
        rc = dataset_update_apply(&local->options, &local->folder, &u->options.update, &u->version,
                                  err);
    if (rc == ERROR_NONE)
        rc = retrain_trigger_measure(local, u->version.schema.id, &u->trigger, err);
    return rc == ERROR_NONE ? print_version(u, err) : rc;
}

enum error_code command_update(int argc, char **argv, struct error *err)
{
    struct update *u = NULL;
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = memory_new(&u, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = parse(u, argc, argv, err);
    if (rc == ERROR_NONE)
        rc = update(u, err);
    if (u) {
        dataset_version_release(&u->version);
        local_run_close(&u->local);
        json_free(u->note);
    }
    memory_free(u);
    return rc;
}
