#include "pipelines/model_source.h"

#include "common/math/precision.h"
#include "stages/plan/chain.h"
#include "stages/plan/run_model.h"
#include "stages/plan/run_origin.h"
#include "stages/sampling/sampler_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum error_code read_weights(struct model_source *s, bool best, struct error *err)
{
    const struct run_binding *run = &s->folder.run;
    enum error_code rc = snapshot_get_current(s->folder.store, run->plan.id, &s->snapshot, err);
    if (rc == ERROR_NOT_FOUND || (rc == ERROR_NONE && !s->snapshot.stop))
        return error_set(err, ERROR_UNAVAILABLE,
                         "run %s has not ended training: expected a trained model", run->plan.id);
    if (rc != ERROR_NONE)
        return rc;
    if (s->snapshot.value_count != s->model.value_count)
        return error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s",
                         run->plan.id);
    s->identity = weights_identity_of(&s->snapshot, best, &s->value);
    return ERROR_NONE;
}

/* Of a dataset of an earlier release nobody knows by what its features were scaled. */
static enum error_code read_statistics(struct model_source *s, struct error *err)
{
    const struct pipeline_settings *settings = &s->folder.run.settings;
    const uint32_t types = s->dataset.has_relations ? s->dataset.node_type_count : 1;
    enum error_code rc = ERROR_NONE;
    if (!settings->ingest.standardise && !settings->ingest.normalise_rows)
        return ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++)
        if (!s->dataset.has_relations || s->dataset.node_type[t].feature_dim)
            rc = feature_statistics_get(s->folder.store, s->dataset.id, t, &s->statistics[t], err);
    return rc == ERROR_NOT_FOUND
               ? error_set(err, rc,
                           "dataset %s does not say by what its features were scaled, as an "
                           "earlier release made it: run the pipeline of the model in a new folder",
                           s->dataset.id)
               : rc;
}

static enum error_code check_kind(const struct model_source *s, struct error *err)
{
    const char *what = NULL;
    if (task_learns_pairs(s->folder.run.book.task))
        what = "learns pairs of nodes";
    else if (s->folder.run.schedule.embeddings.count > 0)
        what = "has learnt an embedding of each node of its graph";
    if (!what)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "the model of run %s %s: expected one that does not, to apply to another graph",
        s->folder.run.plan.id, what);
}

enum error_code model_source_open(struct model_source *s, const char *path, const char *run_id,
                                  bool best, struct error *err)
{
    enum error_code rc = run_folder_open(&s->folder, path, run_id, err);
    const struct run_binding *run = &s->folder.run;
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(s->folder.store, run->book.dataset_id, &s->dataset, err);
    if (rc == ERROR_NONE)
        rc = check_kind(s, err);
    if (rc == ERROR_NONE)
        rc = run_model_init(&s->model, &run->settings, &run->book, err);
    if (rc == ERROR_NONE)
        rc = edge_use_of(&run->settings, &s->model, &run->book.edge_width, &s->edge_use, err);
    if (rc == ERROR_NONE)
        rc = run_loss_init(&s->loss, s->folder.store, &run->settings, &run->book, err);
    if (rc == ERROR_NONE)
        rc = read_weights(s, best, err);
    return rc == ERROR_NONE ? read_statistics(s, err) : rc;
}

void model_source_close(struct model_source *s)
{
    store_release_record(&s->snapshot.view);
    for (uint32_t t = 0; t < NODE_TYPE_COUNT_MAX; t++)
        store_release_record(&s->statistics[t].view);
    run_loss_release(&s->loss);
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
        const uint32_t expected = s->folder.run.book.edge_width.of[c],
                       found = dataset->edge_width.of[c];
        if (!(s->edge_use.columns >> c & 1) || found == expected)
            continue;
        if (!found)
            add(d,
                "it has no %s, which layers read: expected a column \"%s\" in the table of edges",
                edge_column[c].plural, edge_column[c].words[0]);
        else
            add(d, "%" PRIu32 " %s, expected %" PRIu32, found, edge_column[c].plural, expected);
    }
}

static void compare_relations(const struct dataset_schema *own,
                              const struct dataset_schema *dataset, struct differences *d)
{
    if (dataset->edge_type_count != own->edge_type_count)
        add(d, "%" PRIu32 " relations, expected %" PRIu32, dataset->edge_type_count,
            own->edge_type_count);
    for (uint32_t r = 0; r < own->edge_type_count && r < dataset->edge_type_count; r++) {
        const struct edge_type *expected = &own->edge_type[r], *found = &dataset->edge_type[r];
        if (strcmp(found->name, expected->name) != 0 ||
            found->source_type != expected->source_type ||
            found->target_type != expected->target_type) {
            add(d, "relation %" PRIu32 " is %s from %s to %s, expected %s from %s to %s", r,
                found->name, dataset->node_type[found->source_type].name,
                dataset->node_type[found->target_type].name, expected->name,
                own->node_type[expected->source_type].name,
                own->node_type[expected->target_type].name);
            return;
        }
    }
}

/* Tensors are named by types and relations, and are in their order. */
static void compare_types(const struct dataset_schema *own, const struct dataset_schema *dataset,
                          struct differences *d)
{
    if (dataset->node_type_count != own->node_type_count)
        add(d, "%" PRIu32 " node types, expected %" PRIu32, dataset->node_type_count,
            own->node_type_count);
    for (uint32_t t = 0; t < own->node_type_count && t < dataset->node_type_count; t++) {
        const struct node_type *expected = &own->node_type[t], *found = &dataset->node_type[t];
        if (strcmp(found->name, expected->name) != 0) {
            add(d, "node type %" PRIu32 " is %s, expected %s", t, found->name, expected->name);
            return;
        }
        if (found->feature_dim != expected->feature_dim)
            add(d, "%" PRIu32 " feature columns of type %s, expected %" PRIu32, found->feature_dim,
                found->name, expected->feature_dim);
    }
    compare_relations(own, dataset, d);
}

enum error_code model_source_check(const struct model_source *s,
                                   const struct dataset_schema *dataset, struct error *err)
{
    const struct partition_book *book = &s->folder.run.book;
    struct differences d = {.size = 0};
    if (dataset->has_relations != s->dataset.has_relations)
        add(&d, "it has %s, expected %s (ingest.relations)",
            dataset->has_relations ? "relations" : "no relations",
            s->dataset.has_relations ? "those of the model" : "nodes and edges of one type");
    else if (dataset->has_relations)
        compare_types(&s->dataset, dataset, &d);
    if (strcmp(dataset->feature_origin, s->dataset.feature_origin) != 0)
        add(&d, "its features are %s, expected %s (ingest.features)", dataset->feature_origin,
            s->dataset.feature_origin);
    if (!dataset->has_relations && dataset->feature_dim != book->feature_dim)
        add(&d, "%" PRIu32 " feature columns, expected %" PRIu32, dataset->feature_dim,
            book->feature_dim);
    if (dataset->task != book->task)
        add(&d, "the task is %s, expected %s (ingest.task)", task_name(dataset->task),
            task_name(book->task));
    if (dataset->class_count != book->class_count)
        add(&d, "%" PRIu32 " classes, expected %" PRIu32, dataset->class_count, book->class_count);
    compare_edges(s, dataset, &d);
    if (!d.size)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "dataset %s does not fit the model of run %s: %s",
                     dataset->id, s->folder.run.plan.id, d.text);
}

/* --- the model as settings --- */

static int64_t pinned(const struct model_source *s, enum edge_column column)
{
    return s->edge_use.columns >> column & 1 ? EDGE_CHOICE_TRUE : EDGE_CHOICE_FALSE;
}

/* What `balanced` was in training is no longer to be counted. */
static enum error_code write_class_weights(const struct model_source *s,
                                           struct choice_or_numbers *out, struct error *err)
{
    const uint32_t count = s->folder.run.book.class_count;
    if (!s->loss.class_weight || out->count)
        return ERROR_NONE;
    if (count > SETTING_NUMBER_COUNT_MAX)
        return error_set(err, ERROR_INVALID,
                         "train-step.class_weights of %" PRIu32
                         " classes: expected at most %d to apply the model to another graph",
                         count, SETTING_NUMBER_COUNT_MAX);
    *out = (struct choice_or_numbers){.count = count};
    memcpy(out->value, s->loss.class_weight, count * sizeof *out->value);
    return ERROR_NONE;
}

enum error_code model_source_settings(const struct model_source *s,
                                      struct pipeline_settings *settings, struct error *err)
{
    const struct pipeline_settings *theirs = &s->folder.run.settings;
    settings->train_step = theirs->train_step;
    settings->train_step.precision = PRECISION_FP32; /* infer computes in no other */
    settings->train_step.edge_weights = pinned(s, EDGE_WEIGHT);
    settings->train_step.edge_features = pinned(s, EDGE_FEATURE);
    settings->sample = theirs->sample;
    settings->sample.sampler =
        SAMPLER_NEIGHBOR; /* nothing is drawn: the graph needs no weights for it */
    settings->aggregate = theirs->aggregate;
    settings->checkpoint = theirs->checkpoint;
    settings->checkpoint.patience = 0;
    settings->epochs = theirs->epochs;
    run_import_name(settings, &s->identity, s->folder.run.plan.id);
    return write_class_weights(s, &settings->train_step.class_weights, err);
}
