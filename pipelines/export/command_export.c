/*
 * export - converts the data of a run to formats of other tools: the model as safetensors for PyG
 * or DGL; embeddings, logits, features or learnable embeddings of all nodes as arrays or by id; the
 * data of one training step; graph and partition for DGL's distributed tools and GraphBolt; the
 * partition's report as JSON; the reads of each node; size and waiting times of each part; metrics
 * as lines of JSON and as events of TensorBoard.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "common/formats/text/assignment_file.h"
#include "common/nn/model_file.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/export/export_loads.h"
#include "pipelines/export/export_parts.h"
#include "pipelines/export/export_target.h"
#include "pipelines/export/graph_tables.h"
#include "pipelines/export/metrics_events.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/chain/metrics_log.h"
#include "stages/plan/model/model_card.h"
#include "stages/plan/model/run_model.h"
#include "store/records/partition/partition_report.h"
#include "store/records/round/snapshot.h"
#include "store/versions/merged_parts.h"

#include <stdio.h>
#include <string.h>

struct export_options {
    const char *what, *flavor, *output, *form, *weights, *run, *store, *type;
    int64_t round, slot;
    bool force, json, times;
    bool is_csv;                /* text rows, with ids */
    bool is_answered;           /* stdout has the export, so no answer is printed there */
    struct load_figures *loads; /* of the thing `loads`: figures for the answer */
};

/* clang-format off */
#define AT(field) offsetof(struct export_options, field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "instead of RUN: the store that has the run"},
    {"what", OPTION_TEXT, AT(what), "model", 0, 0, "THING",
     "model; embeddings (of the outputs), logits, features or embedding (learnable ones), each for "
     "all nodes in the order of the input; step (batch, weights and gradient of a training step); "
     "assignment (line i: part of node i) or report (of the partition); loads (reads of each node "
     "by the kept mini-batches, for partition.loads); parts (size, reads, work and waiting time of "
     "each part); distdgl or graphbolt (a folder: graph and partition for DGL); metrics (lines of "
     "JSON) or tensorboard (its events)"},
    {"flavor", OPTION_TEXT, AT(flavor), "pyg", 0, 0, "NAME", "whose parameter names: pyg or dgl"},
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE",
     "file to write, which must be new or made by an export; or a pipe or device such as "
     "/dev/stdout; or a new folder (default: model.safetensors, embeddings.npy, logits.npy, "
     "features.npy, embedding.npy, step.safetensors, node.txt, partition.json, loads.csv, "
     "parts.csv, distdgl, graphbolt, metrics.jsonl or events.out.tfevents.0.graphmill)"},
    {"form", OPTION_TEXT, AT(form), NULL, 0, 0, "NAME",
     "embeddings, logits, features, embedding: npy, or csv with the ids of the input (default: csv "
     "if --output ends in .csv, otherwise npy)"},
    {"round", OPTION_INT, AT(round), "0", 0, INT64_MAX / 2, "R", "step: its round"},
    {"slot", OPTION_INT, AT(slot), "0", 0, INT32_MAX, "K", "step: its slot"},
    {"weights", OPTION_TEXT, AT(weights), "best", 0, 0, "WHICH", "best (validation) or last"},
    {"type", OPTION_TEXT, AT(type), NULL, 0, 0, "NAME",
     "features, embedding: node type in a graph with relations (default: the one with labels)"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the folder has several (default: the newest)"},
    {"times", OPTION_FLAG, AT(times), NULL, 0, 0, NULL,
     "loads: add a column with each node's share of the time of its part"},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL,
     "replace an existing file, whoever made it"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

static enum error_code write_model(const struct run_folder *folder,
                                   const struct export_options *options, struct error *err)
{
    const char *run_id = folder->run.plan.id;
    const bool best = strcmp(options->weights, "best") == 0;
    const bool dgl = strcmp(options->flavor, "dgl") == 0;
    struct snapshot snapshot = {0};
    struct model *model = NULL;
    struct json_writer card = {0};
    if (!best && strcmp(options->weights, "last") != 0)
        return error_set(err, ERROR_USAGE, "--weights is '%s', expected best or last",
                         options->weights);
    if (!dgl && strcmp(options->flavor, "pyg") != 0)
        return error_set(err, ERROR_USAGE, "--flavor is '%s', expected pyg or dgl",
                         options->flavor);
    enum error_code rc = memory_new(&model, 1, "a model", err);
    if (rc == ERROR_NONE)
        rc = run_model_init(model, &folder->run.settings, &folder->run.book, err);
    if (rc == ERROR_NONE)
        rc = snapshot_get_current(folder->store, run_id, &snapshot, err);
    if (rc == ERROR_NONE && snapshot.value_count != model->value_count)
        rc = error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s", run_id);
    if (rc == ERROR_NONE)
        rc = model_card_text(folder->store, &folder->run.settings, &folder->run.book, &card, err);
    if (rc == ERROR_NONE)
        rc = model_file_write(model, best ? snapshot.best_value : snapshot.value, run_id,
                              best ? snapshot.best_version : snapshot.version,
                              dgl ? MODEL_FLAVOR_DGL : MODEL_FLAVOR_PYG, card.text, options->output,
                              err);
    json_writer_release(&card);
    store_release_record(&snapshot.view);
    const char *note = NULL;
    if (rc == ERROR_NONE)
        note = model_file_note(model->layer[model->config.layer_count - 1].config.kind,
                               dgl ? MODEL_FLAVOR_DGL : MODEL_FLAVOR_PYG);
    if (note)
        (void)fputs(note, stderr);
    memory_free(model);
    return rc;
}

static enum error_code write_assignment(const struct run_folder *folder,
                                        const struct export_options *options, struct error *err)
{
    struct node_assignment assignment;
    enum error_code rc =
        merged_assignment_get(folder->store, folder->run.book.id, &assignment, err);
    if (rc == ERROR_NONE)
        rc = assignment_file_write(options->output, assignment.part, assignment.node_count, err);
    store_release_record(&assignment.view);
    return rc;
}

static enum error_code write_loads(const struct run_folder *folder,
                                   const struct export_options *options, struct error *err)
{
    const enum error_code rc =
        export_loads(folder, options->times, options->output, options->loads, err);
    if (rc == ERROR_NONE)
        load_figures_say(options->loads);
    return rc;
}

static enum error_code write_parts(const struct run_folder *folder,
                                   const struct export_options *options, struct error *err)
{
    return export_parts(folder, options->output, err);
}

static enum error_code write_report(const struct run_folder *folder,
                                    const struct export_options *options, struct error *err)
{
    struct json_writer json = {0};
    struct partition_report report = {0};
    enum error_code rc = partition_report_get(folder->store, folder->run.book.id, &report, err);
    if (rc == ERROR_NONE)
        rc = partition_report_text(&report, &json, err);
    if (rc == ERROR_NONE)
        rc = file_replace(options->output, json.text, json.size, false, err);
    json_writer_release(&json);
    partition_report_release(&report);
    return rc;
}

static struct array_target target_of(const struct export_options *options)
{
    return (struct array_target){.path = options->output, .is_csv = options->is_csv};
}

static enum error_code write_outputs(const struct run_folder *folder,
                                     const struct export_options *options, struct error *err)
{
    const struct array_target target = target_of(options);
    return export_outputs(folder, &target, err);
}

static enum error_code write_logits(const struct run_folder *folder,
                                    const struct export_options *options, struct error *err)
{
    const struct array_target target = target_of(options);
    return export_logits(folder, &target, err);
}

static enum error_code write_features(const struct run_folder *folder,
                                      const struct export_options *options, struct error *err)
{
    const struct array_target target = target_of(options);
    return export_features(folder, options->type, &target, err);
}

static enum error_code write_embedding(const struct run_folder *folder,
                                       const struct export_options *options, struct error *err)
{
    const struct array_target target = target_of(options);
    return export_embedding(folder, options->type, &target, err);
}

static enum error_code write_distdgl(const struct run_folder *folder,
                                     const struct export_options *options, struct error *err)
{
    return export_distdgl(folder, options->output, err);
}

static enum error_code write_graphbolt(const struct run_folder *folder,
                                       const struct export_options *options, struct error *err)
{
    return export_graphbolt(folder, options->output, err);
}

static enum error_code write_step(const struct run_folder *folder,
                                  const struct export_options *options, struct error *err)
{
    return export_step(folder, options->round, (int32_t)options->slot, options->output, err);
}

/* Reads all lines of metrics that the run has. */
static enum error_code read_metrics(const struct run_folder *folder, char **text, size_t *size,
                                    struct error *err)
{
    const struct key note = metrics_log_note(folder->run.plan.id);
    const enum error_code rc = store_note_get(folder->store, note.text, text, size, err);
    return rc == ERROR_NOT_FOUND
               ? error_set(err, rc, "run %s has no metrics yet: they come with its first snapshot",
                           folder->run.plan.id)
               : rc;
}

static enum error_code write_metrics(const struct run_folder *folder,
                                     const struct export_options *options, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = read_metrics(folder, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = file_replace(options->output, text, size, false, err);
    memory_free(text);
    return rc;
}

static enum error_code write_tensorboard(const struct run_folder *folder,
                                         const struct export_options *options, struct error *err)
{
    struct event_file events = {0};
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = read_metrics(folder, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = metrics_events_add(&events, text, size, "metrics.jsonl", err);
    if (rc == ERROR_NONE)
        rc = file_replace(options->output, events.bytes, events.size, false, err);
    event_file_release(&events);
    memory_free(text);
    return rc;
}

static const struct exported {
    const char *what, *output;
    const char *csv; /* name of the file with --form csv; NULL: it has no such form */
    bool is_folder;
    enum error_code (*write)(const struct run_folder *folder, const struct export_options *options,
                             struct error *err);
} things[] = {
    {"model", "model.safetensors", NULL, false, write_model},
    {"embeddings", "embeddings.npy", "embeddings.csv", false, write_outputs},
    {"logits", "logits.npy", "logits.csv", false, write_logits},
    {"features", "features.npy", "features.csv", false, write_features},
    {"embedding", "embedding.npy", "embedding.csv", false, write_embedding},
    {"step", "step.safetensors", NULL, false, write_step},
    {"assignment", "node.txt", NULL, false, write_assignment},
    {"report", "partition.json", NULL, false, write_report},
    {"loads", "loads.csv", NULL, false, write_loads},
    {"parts", "parts.csv", NULL, false, write_parts},
    {"distdgl", "distdgl", NULL, true, write_distdgl},
    {"graphbolt", "graphbolt", NULL, true, write_graphbolt},
    {"metrics", "metrics.jsonl", NULL, false, write_metrics},
    {"tensorboard", "events.out.tfevents.0.graphmill", NULL, false, write_tensorboard},
};

/* Chooses the form from --form, or from the name of the file. */
static enum error_code choose_form(const struct exported *thing, struct export_options *options,
                                   struct error *err)
{
    const char *form = options->form;
    if (form && strcmp(form, "npy") != 0 && strcmp(form, "csv") != 0)
        return error_set(err, ERROR_USAGE, "--form is '%s', expected npy or csv", form);
    if (form && !thing->csv)
        return error_set(err, ERROR_USAGE, "--form is of rows, and --what %s is none", thing->what);
    options->is_csv = form ? strcmp(form, "csv") == 0
                           : thing->csv && options->output && text_ends(options->output, ".csv");
    if (!options->output)
        options->output = options->is_csv ? thing->csv : thing->output;
    return ERROR_NONE;
}

static enum error_code write_to_target(const struct exported *thing,
                                       const struct run_folder *folder,
                                       struct export_options *options, struct error *err)
{
    struct export_target target;
    enum error_code rc = export_target_open(&target, options->output, options->force, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    struct export_options inner = *options;
    inner.output = target.path;
    rc = thing->write(folder, &inner, err);
    const enum error_code closed =
        export_target_close(&target, rc == ERROR_NONE, rc == ERROR_NONE ? err : NULL);
    options->is_answered = target.is_stdout;
    return rc == ERROR_NONE ? closed : rc;
}

static enum error_code answer(const struct export_options *options, struct error *err)
{
    struct json_writer json = {0};
    if (options->is_answered)
        return ERROR_NONE;
    if (!options->json) {
        printf("%s\n", options->output);
        return ERROR_NONE;
    }
    json_open_object(&json, NULL);
    json_put_string(&json, "what", options->what);
    json_put_string(&json, "output", options->output);
    if (options->loads->batches)
        load_figures_put(options->loads, &json);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

static enum error_code no_such_thing(const char *what, struct error *err)
{
    char names[320] = "";
    size_t size = 0;
    const size_t count = sizeof things / sizeof *things;
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(names + size, sizeof names - size, "%s%s",
                                 i == 0           ? ""
                                 : i == count - 1 ? " or "
                                                  : ", ",
                                 things[i].what);
    return error_set(err, ERROR_USAGE, "--what is '%s', expected %s", what, names);
}

static enum error_code write_thing(const struct run_folder *folder, struct export_options *options,
                                   struct error *err)
{
    const struct exported *thing = things;
    while (thing < things + sizeof things / sizeof *things &&
           strcmp(options->what, thing->what) != 0)
        thing++;
    if (thing == things + sizeof things / sizeof *things)
        return no_such_thing(options->what, err);
    if (options->times && thing->write != write_loads)
        return error_set(err, ERROR_USAGE, "--times is of --what loads, and --what is %s",
                         thing->what);
    const enum error_code rc = choose_form(thing, options, err);
    if (rc != ERROR_NONE)
        return rc;
    return thing->is_folder ? thing->write(folder, options, err)
                            : write_to_target(thing, folder, options, err);
}

enum error_code command_export(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct load_figures loads = {0};
    struct export_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill export RUN|--store URI [options] - what a run holds, in the forms "
               "of others\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    options.loads = &loads;
    if (rc == ERROR_NONE)
        rc = run_folder_word(&rest, options.store, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill export takes one run's folder, or --store");
    if (rc == ERROR_NONE)
        rc = run_folder_open(&folder, rest.item[0], options.run, err);
    if (rc == ERROR_NONE)
        rc = write_thing(&folder, &options, err);
    if (rc == ERROR_NONE)
        rc = answer(&options, err);
    load_figures_release(&loads);
    run_folder_close(&folder);
    return rc;
}
