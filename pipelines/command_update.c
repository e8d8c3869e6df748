/*
 * update - a new version of a pipeline's dataset: edges and nodes that come and go, features that change.
 *
 *   pipeline file ─> ingest ─> its newest version ─┐
 *   --add-edges, --remove-edges, ... ──────────────┴─> ingest ─> a version more ─> graphmill run trains on it
 *
 * Checks and work are those of graphmill-ingest (stages/ingest/update); this tells what came of it.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "pipelines/commands.h"
#include "pipelines/own_command.h"
#include "pipelines/pipeline_options.h"
#include "pipelines/run_state.h"
#include "stages/plan/chain_state.h"
#include "stages/plan/run_binding.h"
#include "stages/plan/update_request.h"
#include "stages/plan/version_drift.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"

#include <inttypes.h>
#include <stdio.h>

struct update_options {
    struct pipeline_options run;
    struct update_request update;
};

/* clang-format off */
#define AT_RUN(field) offsetof(struct update_options, run.field)
#define AT_UPDATE(field) offsetof(struct update_options, update.field)
static const struct option_spec option_table[] = {
    UPDATE_OPTIONS(AT_UPDATE)
    PIPELINE_OPTIONS(AT_RUN)
    {.name = NULL},
};
/* clang-format on */

struct update {
    struct update_options options;
    struct run_folder folder;
    struct dataset_schema schema;
    struct dataset_delta delta; /* of that version */
    struct run_binding trained; /* the newest run, if it is of a version below */
    struct version_drift drift; /* since then */
    bool asks;                  /* for training */
    char why[VERSION_DRIFT_WHY_SIZE];
};

static void print_help(void)
{
    printf("graphmill update FILE [options] - a new version of the dataset of a pipeline file\n\n"
           "What goes is taken away first, then what is new is put in. Ids are those of the input. "
           "Whatever does\nnot fit is said with file and line, and nothing is changed. graphmill "
           "run FILE trains on the new version.\n\n");
    options_print_help(option_table);
}

static enum error_code parse(struct update *u, int argc, char **argv, struct error *err)
{
    struct update_options *o = &u->options;
    struct option_list rest = {0};
    enum error_code rc = options_parse(option_table, argc, argv, o, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE,
                       "graphmill update takes one pipeline file, found %d arguments", rest.count);
    if (rc == ERROR_NONE && !update_request_is_given(&o->update))
        rc = error_set(err, ERROR_USAGE,
                       "nothing to do: give --add-edges, --remove-edges, --add-nodes, "
                       "--remove-nodes or --features");
    if (rc == ERROR_NONE && o->run.dry_run)
        rc = error_set(err, ERROR_USAGE, "--dry-run is for graphmill run");
    if (rc != ERROR_NONE)
        return rc;
    o->run.file = rest.item[0];
    return pipeline_options_load(&o->run, err);
}

/* The files as arguments of graphmill-ingest. */
static struct option_list arguments_of(const struct update_request *update)
{
    const struct {
        const char *option, *value;
    } all[] = {{"--add-edges", update->add_edges}, {"--remove-edges", update->remove_edges},
               {"--add-nodes", update->add_nodes}, {"--remove-nodes", update->remove_nodes},
               {"--features", update->features},   {"--base", update->base}};
    struct option_list list = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value) {
            list.item[list.count++] = all[i].option;
            list.item[list.count++] = all[i].value;
        }
    return list;
}

/* The version that is the newest now. */
static enum error_code read_version(struct update *u, struct error *err)
{
    char id[ID_SIZE];
    struct key newest;
    enum error_code rc = run_input_switch(&u->options.run.settings, "dataset", &newest, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(u->folder.store, newest.text, id, sizeof id, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(u->folder.store, id, &u->schema, err);
    return rc == ERROR_NONE ? dataset_delta_get(u->folder.store, id, &u->delta, err) : rc;
}

/* Opens the newest run, if it has been trained to its end on a version below. A damaged one has nothing to say. */
static enum error_code open_trained(struct update *u, bool *found, struct error *err)
{
    char run_id[ID_SIZE];
    struct chain_state state;
    struct run_binding *run = &u->trained;
    struct store *store = u->folder.store;
    *found = run_newest(store, run_id, NULL) == ERROR_NONE &&
             run_open(store, run_id, run, NULL) == ERROR_NONE &&
             chain_state_read(&run->schedule, store, run_id, &state, NULL) == ERROR_NONE &&
             state.stopped;
    return *found ? version_is_below(store, run->book.dataset_id, u->schema.id, found, err)
                  : ERROR_NONE;
}

/* Against the version that the newest run has; without one there is nothing to compare with. */
static enum error_code measure(struct update *u, struct error *err)
{
    struct run_binding *run = &u->trained;
    bool found = false;
    enum error_code rc = open_trained(u, &found, err);
    if (rc == ERROR_NONE && found)
        rc = version_drift_measure(u->folder.store, run->book.dataset_id, u->schema.id,
                                   run->settings.sample.fanouts.count, &u->drift, err);
    if (rc == ERROR_NONE && found)
        u->asks = version_drift_asks(&u->drift, &u->options.run.settings, u->why);
    if (rc != ERROR_NONE || !found) {
        run_close(run);
        *run = (struct run_binding){0};
    }
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc; /* the version of that run was removed */
}

static enum error_code print_json(const struct update *u, struct error *err)
{
    const struct dataset_delta *d = &u->delta;
    const struct {
        const char *name;
        uint64_t value;
    } count[] = {{"version", d->depth},
                 {"nodes", u->schema.node_count},
                 {"edges", u->schema.edge_count},
                 {"added_nodes", d->added_nodes},
                 {"removed_nodes", d->gone_nodes},
                 {"added_edges", d->added_edges},
                 {"removed_edges", d->gone_edges},
                 {"feature_rows", d->rows}};
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_string(&json, "dataset", u->schema.id);
    json_put_string(&json, "base", d->base);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        json_put_int64(&json, count[i].name, (int64_t)count[i].value);
    if (u->trained.plan.id[0]) {
        json_put_string(&json, "trained", u->trained.plan.id);
        json_put_string(&json, "trained_on", u->trained.book.dataset_id);
        json_put_double(&json, "touched", u->drift.touched);
        json_put_double(&json, "degree_drift", u->drift.degree_drift);
        json_put_double(&json, "feature_drift", u->drift.feature_drift);
        json_put_bool(&json, "retrain", u->asks);
        json_put_string(&json, "why", u->why);
    }
    json_close_object(&json);
    const enum error_code rc = json_writer_print(&json, err);
    json_writer_release(&json);
    return rc;
}

static enum error_code print_version(const struct update *u, struct error *err)
{
    const struct dataset_delta *d = &u->delta;
    char word[SHELL_WORD_SIZE];
    if (u->options.run.json)
        return print_json(u, err);
    (void)printf("dataset        %s\n", u->schema.id);
    (void)printf("version        %" PRIu64 " of %s\n", d->depth, d->root);
    (void)printf("nodes          %" PRIu32 ": %" PRIu32 " added, %" PRIu64 " removed\n",
                 u->schema.node_count, d->added_nodes, d->gone_nodes);
    (void)printf("edges          %" PRIu64 " as stored: %" PRIu64 " added, %" PRIu64
                 " removed by their ends\n",
                 u->schema.edge_count, d->added_edges, d->gone_edges);
    (void)printf("feature rows   %" PRIu64 "\n", d->rows);
    if (u->trained.plan.id[0]) {
        (void)printf("since run      %s of %s\n", u->trained.plan.id, u->trained.book.dataset_id);
        (void)printf("drift          %.2f %% of training neighbourhoods touched, degrees %.4f, "
                     "features %.4f\n",
                     100 * u->drift.touched, u->drift.degree_drift, u->drift.feature_drift);
        (void)printf("retrain        %s: %s\n", u->asks ? "yes" : "no", u->why);
    }
    (void)printf("train on it    %s run %s\n", own_command(),
                 shell_word(u->options.run.file, word));
    return ERROR_NONE;
}

static enum error_code update(struct update *u, struct error *err)
{
    const struct option_list files = arguments_of(&u->options.update);
    char path[FILE_PATH_SIZE];
    enum error_code rc = pipeline_folder_path(&u->options.run, path, err);
    if (rc == ERROR_NONE)
        rc = run_folder_create(&u->folder, path, u->options.run.store, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage_with(&u->options.run, &u->folder, "ingest", &files, err);
    if (rc == ERROR_NONE)
        rc = read_version(u, err);
    if (rc == ERROR_NONE)
        rc = measure(u, err);
    if (rc == ERROR_NONE)
        rc = print_version(u, err);
    if (u->folder.path[0])
        run_state_remove(u->folder.path);
    return rc;
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
        store_release_record(&u->delta.view);
        run_close(&u->trained);
        run_folder_close(&u->folder);
    }
    memory_free(u);
    return rc;
}
