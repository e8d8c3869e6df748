/*
 * infer - applies a trained model to another graph of the same schema: new nodes, new edges.
 *
 *   run folder of the model, or its file ─> model_source
 *   pipeline file or folder ─> ingest ─> [ does it fit? ] ─> partition
 *       ─> a run that begins with its weights (run_import.h) ─> infer
 *       ─> outputs, with --nodes of some nodes
 *
 * The graph is read with the model's task and number of classes, and its features are scaled with
 * the values of the model's training graph. Everything is in a run folder of its own. The command
 * can be repeated: it resumes, and skips what is done.
 */
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/run/local_run.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/model_source.h"
#include "pipelines/shared/node_selection.h"
#include "pipelines/shared/run_state.h"
#include "pipelines/shared/wait_for_room.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/run_import.h"
#include "stages/plan/settings/setting_table.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OWN_SET_COUNT = 9, OWN_SET_SIZE = FILE_PATH_SIZE + 64 };

struct infer_options {
    struct pipeline_options run;
    const char *on, *nodes, *weights, *model_run;
    const char *model; /* the argument of the command */
};

/* clang-format off */
#define AT(field) offsetof(struct infer_options, field)
#define AT_RUN(field) offsetof(struct infer_options, run.field)
static const struct option_spec option_table[] = {
    {"on", OPTION_TEXT, AT(on), NULL, 0, 0, "DATASET",
     "the graph: a pipeline file, whose sections ingest, partition and infer are used, or a folder "
     "of `format: folder`"},
    {"nodes", OPTION_TEXT, AT(nodes), NULL, 0, 0, "FILE",
     "file with one id on each line: infer only those nodes, from their neighbourhood"},
    {"weights", OPTION_TEXT, AT(weights), "best", 0, 0, "WHICH", "best (validation) or last"},
    {"run", OPTION_TEXT, AT(model_run), NULL, 0, 0, "ID",
     "which run of MODEL, when its folder has several (default: the newest)"},
    PIPELINE_OPTIONS(AT_RUN)
    {.name = NULL},
};
/* clang-format on */

struct inference {
    struct infer_options options;
    struct model_source source;
    struct local_run local;
    struct node_selection selection;
    char file[FILE_PATH_SIZE]; /* the pipeline file made for a folder */
    char set[OWN_SET_COUNT][OWN_SET_SIZE];
};

static void print_help(void)
{
    printf(
        "graphmill infer MODEL --on DATASET [options] - apply a trained model to another graph\n\n"
        "MODEL is the folder of the run that trained it, or its model.safetensors (of the outputs, "
        "or by\n"
        "graphmill export).\n\n");
    options_print_help(option_table);
}

static enum error_code parse(struct infer_options *options, int argc, char **argv,
                             struct error *err)
{
    struct option_list rest = {0};
    enum error_code rc = options_parse(option_table, argc, argv, options, &rest, err);
    if (rc == ERROR_NONE && (rest.count != 1 || !options->on))
        rc = error_set(err, ERROR_USAGE,
                       "graphmill infer takes one MODEL and --on DATASET; " ADVICE "see --help");
    if (rc == ERROR_NONE && options->run.dry_run)
        rc = error_set(err, ERROR_USAGE, "graphmill infer has no --dry-run");
    if (rc == ERROR_NONE && strcmp(options->weights, "best") != 0 &&
        strcmp(options->weights, "last") != 0)
        rc = error_set(err, ERROR_USAGE, "--weights is '%s', expected best or last",
                       options->weights);
    if (rc == ERROR_NONE && options->run.workers == 0)
        rc = error_set(err, ERROR_USAGE,
                       "--workers auto goes by the rounds of training; " ADVICE
                       "give graphmill infer a "
                       "number");
    if (rc != ERROR_NONE)
        return rc;
    options->model = rest.item[0];
    options->run.workers_most = (int)options->run.workers;
    return memory_shares_divide(options->run.memory, options->run.workers_most, false,
                                &options->run.shares, err);
}

/* --- the graph --- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum error_code folder_path(const struct inference *inference, char path[FILE_PATH_SIZE],
                                   struct error *err)
{
    const struct infer_options *o = &inference->options;
    char name[SETTING_NAME_SIZE] = "";
    if (o->run.directory)
        return file_path(path, err, "%s", o->run.directory);
    size_t end = strlen(o->on);
    while (end > 1 && o->on[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && o->on[start - 1] != '/')
        start--;
    (void)snprintf(name, sizeof name, "%.*s",
                   end - start < sizeof name ? (int)(end - start) : (int)sizeof name - 1,
                   o->on + start);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    return file_path(path, err, "runs/%s-on-%s", inference->source.card.settings.name, name);
}

static void put_setting(struct json_writer *yaml, const char *name, const char *value)
{
    json_put_raw(yaml, "  ");
    json_put_raw(yaml, name);
    json_put_raw(yaml, ": ");
    json_put_raw(yaml, value);
    json_put_raw(yaml, "\n");
}

/* Writes the pipeline file for a folder. It copies those settings of the model's own pipeline that
 * apply to any folder. */
static enum error_code write_pipeline(struct inference *inference, struct error *err)
{
    static const char *const same[] = {"ingest.direction",   "ingest.self_loops",
                                       "ingest.duplicates",  "ingest.random_dim",
                                       "ingest.add_reverse", "ingest.missing_features"};
    const struct pipeline_settings *theirs = &inference->source.card.settings;
    char path[FILE_PATH_SIZE], line[2 * FILE_PATH_SIZE], value[SETTING_VALUE_SIZE];
    struct json_writer yaml = {0};
    enum error_code rc = file_absolute(path, inference->options.on, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(line, sizeof line, "name: %s\nseed: %" PRId64 "\ningest:\n  format: folder\n",
                   theirs->name, theirs->seed);
    json_put_raw(&yaml, line);
    json_put_raw(&yaml, "  path: \"");
    for (const char *c = path; *c; c++) {
        const char text[2] = {*c, '\0'};
        if (*c == '"' || *c == '\\')
            json_put_raw(&yaml, "\\");
        json_put_raw(&yaml, text);
    }
    json_put_raw(&yaml, "\"\n");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        (void)setting_print(setting_find(same[i]), theirs, value, sizeof value);
        put_setting(&yaml, same[i] + strlen("ingest."), value);
    }
    if (theirs->ingest.features.choice < FEATURES_FILE) {
        (void)setting_print(setting_find("ingest.features"), theirs, value, sizeof value);
        put_setting(&yaml, "features", value);
    }
    json_put_raw(&yaml, "partition:\n");
    (void)snprintf(value, sizeof value, "%" PRId64, theirs->partition.parts);
    put_setting(&yaml, "parts", value);
    rc = file_path(inference->file, err, "%s/model/graph.yaml", inference->local.folder.path);
    if (rc == ERROR_NONE)
        rc = file_replace(inference->file, yaml.text, yaml.size, false, err);
    json_writer_release(&yaml);
    return rc;
}

static enum error_code add_set(struct inference *inference, int *count, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Adds a setting that overrides the pipeline file and --set. */
static enum error_code add_set(struct inference *inference, int *count, const char *format, ...)
{
    struct option_list *list = &inference->local.options.set;
    va_list args;
    must(*count < OWN_SET_COUNT);
    char *text = inference->set[(*count)++];
    va_start(args, format);
    (void)vsnprintf(text, OWN_SET_SIZE, format, args);
    va_end(args);
    if (list->count == OPTION_LIST_MAX)
        return ERROR_USAGE;
    list->item[list->count++] = text;
    return ERROR_NONE;
}

/* Writes `text` to a file and adds the setting ingest.NAME with its path; for NULL it adds
 * nothing. */
static enum error_code add_file(struct inference *inference, int *count, const char *name,
                                const char *text, struct error *err)
{
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    if (!text)
        return ERROR_NONE;
    enum error_code rc = file_absolute(folder, inference->local.folder.path, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/model/%s.csv", folder, name);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    if (rc == ERROR_NONE && add_set(inference, count, "ingest.%s=%s", name, path) != ERROR_NONE)
        rc = error_set(err, ERROR_USAGE, "more than %d --set", OPTION_LIST_MAX - OWN_SET_COUNT);
    return rc;
}

/* Adds the number of columns. A file of sparse features does not say how many there are. */
static enum error_code add_sparse_columns(struct inference *inference, int *count)
{
    const struct dataset_schema *dataset = &inference->source.card.dataset;
    char text[SETTING_TEXT_LONG] = "";
    size_t size = 0;
    for (uint32_t t = 0; t < dataset_type_count(dataset); t++) {
        const struct node_type type = dataset_type(dataset, t);
        if (type.feature_dim && size < sizeof text)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s%s%" PRIu32,
                                     size ? "; " : "", type.name, type.name[0] ? ": " : "",
                                     type.feature_dim);
    }
    const bool fits = size > 0 && size < sizeof text;
    return fits ? add_set(inference, count, "ingest.sparse_columns=%s", text) : ERROR_NONE;
}

/* Adds all settings by which the graph is read as the model expects it. */
static enum error_code add_sets(struct inference *inference, struct error *err)
{
    const struct model_source *source = &inference->source;
    const struct model_card *card = &source->card;
    int count = 0;
    enum error_code rc = add_set(inference, &count, "ingest.task=%s", task_name(card->book.task));
    if (rc == ERROR_NONE)
        rc = add_set(inference, &count, "ingest.class_count=%" PRIu32, card->book.class_count);
    if (rc == ERROR_NONE)
        rc = add_set(inference, &count, "ingest.normalise_rows=%s",
                     card->settings.ingest.normalise_rows ? "true" : "false");
    if (rc == ERROR_NONE)
        rc = add_set(inference, &count, "ingest.standardise=%s",
                     card->settings.ingest.standardise ? "true" : "false");
    if (rc == ERROR_NONE)
        rc = add_sparse_columns(inference, &count);
    if (rc == ERROR_NONE && card->book.type_count)
        rc = add_set(inference, &count, "ingest.relations=true");
    if (rc == ERROR_NONE && card->book.type_count)
        rc = add_set(inference, &count, "ingest.target_type=%s",
                     card->book.type_name[card->book.target_type]);
    if (rc != ERROR_NONE)
        return error_set(err, rc, "more than %d --set", OPTION_LIST_MAX - OWN_SET_COUNT);
    rc = add_file(inference, &count, "feature_statistics", card->scaling, err);
    return rc == ERROR_NONE ? add_file(inference, &count, "column_encoding", card->encoding, err)
                            : rc;
}

static enum error_code load_settings(struct pipeline_options *options, struct error *err)
{
    enum error_code rc = pipeline_settings_load(&options->settings, options->file, err);
    for (int i = 0; rc == ERROR_NONE && i < options->set.count; i++)
        rc = pipeline_settings_override(&options->settings, options->set.item[i], err);
    return rc == ERROR_NONE ? pipeline_settings_check(&options->settings, err) : rc;
}

/* Checks the task. A pipeline file with another task is for another kind of graph. */
static enum error_code check_task(const struct inference *inference, struct error *err)
{
    const enum task_kind expected = inference->source.card.book.task;
    struct pipeline_settings *own = NULL;
    enum error_code rc = memory_new(&own, 1, "settings", err);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_load(own, inference->options.on, err);
    if (rc == ERROR_NONE && own->ingest.task != TASK_UNKNOWN &&
        own->ingest.task != (int64_t)expected)
        rc = error_set(err, ERROR_INVALID, "%s: ingest.task is %s, expected that of the model, %s",
                       inference->options.on, task_name(own->ingest.task), task_name(expected));
    memory_free(own);
    return rc;
}

static enum error_code prepare_settings(struct inference *inference, struct error *err)
{
    struct local_run *local = &inference->local;
    const struct pipeline_settings *model = &inference->source.card.settings;
    char path[FILE_PATH_SIZE];
    if (inference->options.nodes && task_has(inference->source.card.book.task, TASK_HAS_GRAPHS))
        return error_set(err, ERROR_INVALID,
                         "--nodes is given, but the model learns graphs, of which all are "
                         "inferred: " ADVICE "leave it out");
    if (inference->options.nodes && sampler_goes_by_time(pipeline_sampler(model)))
        return error_set(err, ERROR_INVALID,
                         "--nodes is given, but the model samples by times, of which all nodes are "
                         "inferred: " ADVICE "leave it out");
    enum error_code rc = file_path(path, err, "%s/model", local->folder.path);
    if (rc == ERROR_NONE)
        rc = file_make_folders(path, err);
    local->options.file = inference->options.on;
    if (rc == ERROR_NONE && is_folder(inference->options.on)) {
        rc = write_pipeline(inference, err);
        local->options.file = inference->file;
    } else if (rc == ERROR_NONE) {
        rc = check_task(inference, err);
    }
    if (rc == ERROR_NONE)
        rc = add_sets(inference, err);
    return rc == ERROR_NONE ? load_settings(&local->options, err) : rc;
}

static enum error_code check_dataset(struct inference *inference, struct error *err)
{
    const struct local_run *local = &inference->local;
    struct dataset_schema *schema = NULL;
    char id[ID_SIZE];
    struct key newest;
    enum error_code rc = memory_new(&schema, 1, "a dataset's schema", err);
    if (rc == ERROR_NONE)
        rc = run_input_switch(&local->options.settings, "dataset", &newest, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(local->folder.store, newest.text, id, sizeof id, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(local->folder.store, id, schema, err);
    if (rc == ERROR_NONE)
        rc = model_source_check(&inference->source, schema, err);
    if (rc == ERROR_NONE && inference->options.nodes)
        rc = node_selection_read(&inference->selection, inference->options.nodes,
                                 local->folder.store, schema, err);
    memory_free(schema);
    return rc;
}

/* --- the run --- */

static enum error_code start(struct inference *inference, struct error *err)
{
    struct local_run *local = &inference->local;
    const struct model_source *source = &inference->source;
    bool told = false;
    const struct node_selection *selection = &inference->selection;
    const struct wanted_nodes wanted = {.count = selection->count, .node = selection->node};
    enum error_code rc = model_source_settings(source, &local->options.settings, err);
    if (rc != ERROR_NONE)
        return rc;
    if (wanted.count)
        run_import_name_nodes(&local->options.settings, &wanted);
    do {
        rc = run_import_put(local->folder.store, &local->options.settings, &source->snapshot,
                            source->value, &wanted, err);
        if (rc == ERROR_NONE)
            rc = pipeline_start_run(&local->options, &local->folder, err);
    } while (wait_for_room(rc, err, &told));
    return rc;
}

static enum error_code infer(struct inference *inference, struct error *err)
{
    const double before = clock_seconds();
    struct local_run *local = &inference->local;
    const struct infer_options *options = &inference->options;
    char path[FILE_PATH_SIZE];
    enum error_code rc = model_source_open(&inference->source, options->model, options->model_run,
                                           strcmp(options->weights, "best") == 0, err);
    local->options = options->run;
    local->only_stage = "infer";
    if (rc == ERROR_NONE)
        rc = folder_path(inference, path, err);
    if (rc == ERROR_NONE)
        rc = pipeline_check_redis(&local->options, err);
    if (rc == ERROR_NONE)
        rc = run_folder_create(&local->folder, path, local->options.store, err);
    if (rc == ERROR_NONE)
        rc = prepare_settings(inference, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&local->options, &local->folder, "ingest", err);
    if (rc == ERROR_NONE)
        rc = check_dataset(inference, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&local->options, &local->folder, "partition", err);
    if (rc == ERROR_NONE)
        rc = start(inference, err);
    if (rc == ERROR_NONE)
        rc = local_run_go(local, before, err);
    run_state_settle(&local->folder, rc, err);
    return rc;
}

enum error_code command_infer(int argc, char **argv, struct error *err)
{
    struct inference *inference = NULL;
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = memory_new(&inference, 1, "the run", err);
    if (rc == ERROR_NONE)
        rc = parse(&inference->options, argc, argv, err);
    if (rc == ERROR_NONE)
        rc = infer(inference, err);
    if (inference) {
        local_run_close(&inference->local);
        model_source_close(&inference->source);
        node_selection_release(&inference->selection);
    }
    memory_free(inference);
    return rc;
}
