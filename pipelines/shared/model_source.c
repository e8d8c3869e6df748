#include "pipelines/shared/model_source.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/math/precision.h"
#include "common/nn/model_file.h"
#include "stages/plan/model/embedding_shards.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/sampling/sampler_list.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static enum error_code read_weights(struct model_source *s, bool best, struct error *err)
{
    enum error_code rc = snapshot_get_current(s->folder.store, s->run_id, &s->snapshot, err);
    if (rc == ERROR_NOT_FOUND || (rc == ERROR_NONE && !s->snapshot.stop))
        return error_set(err, ERROR_UNAVAILABLE,
                         "run %s has not ended training: expected a trained model", s->run_id);
    if (rc != ERROR_NONE)
        return rc;
    if (s->snapshot.value_count != s->model.value_count)
        return error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s",
                         s->run_id);
    s->identity = weights_identity_of(&s->snapshot, best, &s->value);
    return ERROR_NONE;
}

/* Builds the model from its card. */
static enum error_code build(struct model_source *s, struct error *err)
{
    const struct pipeline_settings *settings = &s->card.settings;
    const struct partition_book *book = &s->card.book;
    struct embedding_tensors embeddings = {.count = 0};
    const char *what = NULL;
    enum error_code rc = embedding_tensors_of(settings, book, &embeddings, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!s->may_learn_pairs && task_has(book->task, TASK_HAS_DECODER))
        what = "learns pairs of nodes";
    else if (embeddings.count > 0)
        what = "has learnt an embedding of each node of its graph";
    if (what)
        return error_set(err, ERROR_INVALID,
                         "the model of run %s %s: expected one that does not, to apply to another "
                         "graph",
                         s->run_id, what);
    rc = run_model_init(&s->model, settings, book, err);
    return rc == ERROR_NONE ? edge_use_of(settings, &s->model, &book->edge_width, &s->edge_use, err)
                            : rc;
}

static enum error_code open_folder(struct model_source *s, const char *path, const char *run_id,
                                   bool best, struct error *err)
{
    const struct run_binding *run = &s->folder.run;
    enum error_code rc = run_folder_open(&s->folder, path, run_id, err);
    if (rc == ERROR_NONE) {
        (void)snprintf(s->run_id, sizeof s->run_id, "%s", run->plan.id);
        rc = model_card_of_run(&s->card, s->folder.store, &run->settings, &run->book, err);
    }
    if (rc == ERROR_NONE)
        rc = build(s, err);
    return rc == ERROR_NONE ? read_weights(s, best, err) : rc;
}

/* --- a file --- */

static enum error_code take_texts(struct model_source *s, const struct safetensors *content,
                                  const char *path, struct error *err)
{
    const char *flavor = safetensors_metadata(content, "flavor");
    const char *card = safetensors_metadata(content, "card");
    const char *run = safetensors_metadata(content, "run");
    const char *version = safetensors_metadata(content, "weights_version");
    if (flavor && strcmp(flavor, "pyg") != 0)
        return error_set(err, ERROR_INPUT,
                         "%s has its tensors under the names of %s: expected those of PyG "
                         "(graphmill export without --flavor)",
                         path, flavor);
    if (!flavor || !card || !run || !version || strlen(run) >= sizeof s->run_id)
        return error_set(err, ERROR_INPUT,
                         "%s does not say which graph its model is for: expected a file that "
                         "graphmill wrote, model.safetensors of a run's outputs or of graphmill "
                         "export, by this release",
                         path);
    (void)snprintf(s->run_id, sizeof s->run_id, "%s", run);
    if (!text_int64(version, strlen(version), &s->snapshot.version) || s->snapshot.version < 1)
        return error_set(err, ERROR_INPUT,
                         "%s: weights_version: expected a number from 1 on, found '%.40s'", path,
                         version);
    return model_card_parse(&s->card, card, path, err);
}

static enum error_code check_finite(const struct model_source *s, const char *path,
                                    struct error *err)
{
    for (uint64_t i = 0; i < s->model.value_count; i++)
        if (!isfinite(s->file_value[i]))
            return error_set(err, ERROR_INPUT, "%s: a weight is not finite", path);
    return ERROR_NONE;
}

/* Reads the weights as the snapshot with which a run of this model would end, as far as inference
 * reads it. */
static enum error_code take_weights(struct model_source *s, const struct safetensors *content,
                                    const char *path, struct error *err)
{
    struct snapshot *snapshot = &s->snapshot;
    enum error_code rc = memory_new(&s->file_value, s->model.value_count, "weights", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->file_table, RUN_MODEL_TABLE_SIZE, "the parameter table", err);
    if (rc == ERROR_NONE)
        rc = model_file_take(&s->model, content, path, s->file_value, err);
    if (rc == ERROR_NONE)
        rc = check_finite(s, path, err);
    if (rc == ERROR_NONE)
        rc = model_table_text(&s->model, s->file_table, RUN_MODEL_TABLE_SIZE, err);
    if (rc != ERROR_NONE)
        return rc;
    snapshot->best_version = snapshot->version;
    snapshot->value_count = s->model.value_count;
    snapshot->value = snapshot->best_value = s->file_value;
    snapshot->table = s->file_table;
    snapshot->table_size = strlen(s->file_table);
    s->identity = weights_identity_of(snapshot, true, &s->value);
    return ERROR_NONE;
}

static enum error_code open_file(struct model_source *s, const char *path, const char *run_id,
                                 bool best, struct error *err)
{
    struct safetensors content = {0};
    char *data = NULL;
    size_t size = 0;
    if (run_id || !best)
        return error_set(err, ERROR_USAGE,
                         "%s is a file, which has one model: %s goes with the folder of a run",
                         path, run_id ? "--run" : "--weights last");
    enum error_code rc = file_read(path, 0, &data, &size, err);
    if (rc == ERROR_NONE)
        rc = safetensors_decode((const uint8_t *)data, size, path, &content, err);
    if (rc == ERROR_NONE)
        rc = take_texts(s, &content, path, err);
    if (rc == ERROR_NONE)
        rc = build(s, err);
    if (rc == ERROR_NONE)
        rc = take_weights(s, &content, path, err);
    safetensors_release(&content);
    memory_free(data);
    return rc;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

enum error_code model_source_open(struct model_source *s, const char *path, const char *run_id,
                                  bool best, struct error *err)
{
    return is_file(path) ? open_file(s, path, run_id, best, err)
                         : open_folder(s, path, run_id, best, err);
}

void model_source_close(struct model_source *s)
{
    store_release_record(&s->snapshot.view);
    model_card_release(&s->card);
    memory_free(s->file_value);
    memory_free(s->file_table);
    run_folder_close(&s->folder);
}

/* --- does a graph fit? --- */

struct differences {
    char text[512];
    size_t size;
};

static void add(struct differences *d, const char *format, ...) PRINTF_LIKE(2, 3);

static void add(struct differences *d, const char *format, ...)
{
    va_list args;
    if (d->size)
        d->size += (size_t)snprintf(d->text + d->size, sizeof d->text - d->size, "; ");
    va_start(args, format);
    const int size = vsnprintf(d->text + d->size, sizeof d->text - d->size, format, args);
    va_end(args);
    d->size += size > 0 ? (size_t)size : 0;
    if (d->size >= sizeof d->text)
        d->size = sizeof d->text - 1;
}

static void compare_edges(const struct model_source *s, const struct dataset_schema *dataset,
                          struct differences *d)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t expected = s->card.book.edge_width.of[c], found = dataset->edge_width.of[c];
        if (!(s->edge_use.columns >> c & 1) || found == expected)
            continue;
        if (!found)
            add(d,
                "it has no %s, which layers read: expected a column \"%s\" in the table of edges",
                edge_column[c].plural, edge_column[c].what);
        else
            add(d, "%" PRIu32 " %s, expected %" PRIu32, found, edge_column[c].plural, expected);
    }
}

static void compare_relations(const struct dataset_schema *own,
                              const struct dataset_schema *dataset, struct differences *d)
{
    const uint32_t count = dataset_relation_count(dataset), wanted = dataset_relation_count(own);
    if (count != wanted)
        add(d, "%" PRIu32 " relations, expected %" PRIu32, count, wanted);
    for (uint32_t r = 0; r < wanted && r < count; r++) {
        const struct relation expected = dataset_relation(own, r);
        const struct relation found = dataset_relation(dataset, r);
        if (strcmp(found.name, expected.name) != 0 || found.source_type != expected.source_type ||
            found.target_type != expected.target_type) {
            add(d, "relation %" PRIu32 " is %s from %s to %s, expected %s from %s to %s", r,
                found.name, dataset->node_type[found.source_type].name,
                dataset->node_type[found.target_type].name, expected.name,
                own->node_type[expected.source_type].name,
                own->node_type[expected.target_type].name);
            return;
        }
    }
}

/* Compares types and relations: tensors are named after them, and are in their order. */
static void compare_types(const struct dataset_schema *own, const struct dataset_schema *dataset,
                          struct differences *d)
{
    const uint32_t count = dataset_type_count(dataset), wanted = dataset_type_count(own);
    const bool has_names = dataset_type(dataset, 0).name[0] != '\0';
    if (has_names != (dataset_type(own, 0).name[0] != '\0')) {
        add(d, "it has %s, expected %s (ingest.relations)",
            has_names ? "relations" : "no relations",
            has_names ? "nodes and edges of one type" : "those of the model");
        return;
    }
    if (count != wanted)
        add(d, "%" PRIu32 " node types, expected %" PRIu32, count, wanted);
    for (uint32_t t = 0; t < wanted && t < count; t++) {
        const struct node_type expected = dataset_type(own, t), found = dataset_type(dataset, t);
        if (strcmp(found.name, expected.name) != 0) {
            add(d, "node type %" PRIu32 " is %s, expected %s", t, found.name, expected.name);
            return;
        }
        if (found.feature_dim != expected.feature_dim)
            add(d, "%" PRIu32 " feature columns%s%s, expected %" PRIu32, found.feature_dim,
                found.name[0] ? " of type " : "", found.name, expected.feature_dim);
    }
    compare_relations(own, dataset, d);
}

enum error_code model_source_check(const struct model_source *s,
                                   const struct dataset_schema *dataset, struct error *err)
{
    const struct partition_book *book = &s->card.book;
    struct differences d = {.size = 0};
    if (strcmp(dataset->feature_origin, s->card.dataset.feature_origin) != 0)
        add(&d, "its features are %s, expected %s (ingest.features)", dataset->feature_origin,
            s->card.dataset.feature_origin);
    compare_types(&s->card.dataset, dataset, &d);
    if (dataset->task != book->task)
        add(&d, "the task is %s, expected %s (ingest.task)", task_name(dataset->task),
            task_name(book->task));
    if (dataset->class_count != book->class_count)
        add(&d, "%" PRIu32 " classes, expected %" PRIu32, dataset->class_count, book->class_count);
    compare_edges(s, dataset, &d);
    if (!d.size)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "dataset %s does not fit the model of run %s: %s",
                     dataset->id, s->run_id, d.text);
}

/* --- the model as settings --- */

static enum edge_choice pinned(const struct model_source *s, enum edge_column column)
{
    return s->edge_use.columns >> column & 1 ? EDGE_CHOICE_TRUE : EDGE_CHOICE_FALSE;
}

/* Writes the class weights as numbers. `balanced` would count the new graph's classes instead of
 * those of the training graph. */
static enum error_code write_class_weights(const struct model_source *s,
                                           struct choice_or_numbers *out, struct error *err)
{
    const uint32_t count = s->card.book.class_count;
    if (!s->card.class_weight || out->count)
        return ERROR_NONE;
    if (count > SETTING_NUMBER_COUNT_MAX)
        return error_set(err, ERROR_INVALID,
                         "train-step.class_weights of %" PRIu32
                         " classes: expected at most %d to apply the model to another graph",
                         count, SETTING_NUMBER_COUNT_MAX);
    *out = (struct choice_or_numbers){.count = count};
    memcpy(out->value, s->card.class_weight, count * sizeof *out->value);
    return ERROR_NONE;
}

enum error_code model_source_settings(const struct model_source *s,
                                      struct pipeline_settings *settings, struct error *err)
{
    const struct pipeline_settings *theirs = &s->card.settings;
    settings->train_step = theirs->train_step;
    settings->train_step.initial[0] = '\0';
    settings->train_step.precision = PRECISION_FP32; /* infer uses no other precision */
    settings->train_step.edge_weights = pinned(s, EDGE_WEIGHT);
    settings->train_step.edge_features = pinned(s, EDGE_FEATURE);
    settings->sample = theirs->sample;
    settings->sample.sampler =
        SAMPLER_DEFAULT; /* nothing is sampled, so the graph needs no edge weights for sampling */
    settings->aggregate = theirs->aggregate;
    settings->checkpoint = theirs->checkpoint;
    settings->checkpoint.patience = 0;
    settings->epochs = theirs->epochs;
    run_import_name(settings, &s->identity, s->run_id);
    return write_class_weights(s, &settings->train_step.class_weights, err);
}
