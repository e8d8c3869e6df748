#include "stages/ingest/update/version_builder.h"

#include "common/base/memory.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/edge_buffer.h"
#include "store/records/edge_chunk.h"
#include "store/records/feature_chunk.h"
#include "store/records/feature_statistics.h"
#include "store/records/node_columns.h"
#include "store/records/node_ids.h"
#include "store/records/node_labels.h"
#include "store/records/node_splits.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GONE UINT32_MAX

struct version {
    struct store *store;
    const struct dataset_delta *delta;
    const char *id;
    struct dataset_schema base;        /* large for a stack, as the next */
    struct pipeline_settings settings; /* what the builder is to do */
    struct dataset_builder *builder;
    uint32_t *number; /* [base nodes + added]: of the version, or GONE */
    uint32_t kept;    /* of the base */
    char where[sizeof "dataset " + ID_SIZE];
};

static uint32_t all_nodes(const struct version *v)
{
    return v->delta->base_nodes + v->delta->added_nodes;
}

/* ---- start ------------------------------------------------------------------------------------ */

static enum error_code number_nodes(struct version *v, struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    uint64_t gone = 0;
    const enum error_code rc = memory_new(&v->number, all_nodes(v), "numbers of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; node < all_nodes(v); node++) {
        const bool goes = gone < delta->gone_nodes && delta->gone_node[gone] == node;
        gone += goes;
        v->number[node] = goes ? GONE : (uint32_t)(node - gone);
    }
    v->kept = (uint32_t)(delta->base_nodes - delta->gone_nodes);
    return ERROR_NONE;
}

/* Rows of the user; others are made for each version, and scaled as ingest does. */
static bool has_given_rows(const struct version *v)
{
    return strcmp(v->base.feature_origin, "given") == 0;
}

/* Edges lie as they are stored, splits and classes are those that there are, and rows are scaled. */
static void choose_settings(struct version *v, const struct pipeline_settings *settings)
{
    static const struct {
        const char *origin;
        enum feature_choice choice;
    } features[] = {{"given", FEATURES_GIVEN},
                    {"degree", FEATURES_DEGREE},
                    {"random", FEATURES_RANDOM},
                    {"degree+random", FEATURES_DEGREE_RANDOM}};
    struct pipeline_settings *own = &v->settings;
    *own = *settings;
    own->ingest.direction = v->base.undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    own->ingest.task = v->base.task == TASK_NONE ? TASK_UNKNOWN : (int64_t)v->base.task;
    own->ingest.class_count = v->base.class_count;
    if (has_given_rows(v)) { /* they are scaled */
        own->ingest.normalise_rows = own->ingest.standardise = false;
        own->ingest.feature_statistics[0] = '\0';
    }
    (void)strcpy(own->ingest.split, "given"); /* of SETTING_NAME_SIZE */
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(v->base.feature_origin, features[i].origin) == 0)
            own->ingest.features = (struct choice_or_path){.choice = features[i].choice};
}

static enum error_code open_builder(struct version *v, uint64_t memory_bytes, struct error *err)
{
    const struct dataset_builder_config config = {.store = v->store,
                                                  .settings = &v->settings,
                                                  .dataset_id = v->id,
                                                  .name = v->base.name,
                                                  .memory_bytes = memory_bytes};
    const enum error_code rc = dataset_builder_new(&config, &v->builder, err);
    return rc == ERROR_NONE
               ? dataset_builder_set_nodes(v->builder, (uint64_t)v->kept + v->delta->added_nodes,
                                           v->base.undirected ? STATED_UNDIRECTED : STATED_DIRECTED,
                                           err)
               : rc;
}

/* ---- ids -------------------------------------------------------------------------------------- */

/* Adds the id of a node of `ids`, or its number, to the end of `out`. */
static void push_integer(int64_t *out, uint32_t *count, const struct node_ids *ids, uint32_t node)
{
    out[(*count)++] = ids->integer ? ids->integer[node] : (int64_t)node;
}

static enum error_code push_integer_ids(const struct version *v, const struct node_ids *base,
                                        struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    struct node_ids ids = {0};
    int64_t *integer = NULL;
    bool are_numbers = true;
    enum error_code rc = memory_new(&integer, (size_t)v->kept + delta->added_nodes, "ids", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; node < delta->base_nodes; node++)
        if (v->number[node] != GONE)
            push_integer(integer, &ids.node_count, base, node);
    for (uint32_t i = 0; i < delta->added_nodes; i++)
        push_integer(integer, &ids.node_count, &delta->new_ids, i);
    for (uint32_t node = 0; node < ids.node_count; node++)
        are_numbers &= integer[node] == (int64_t)node;
    ids.integer = integer;
    if (!are_numbers)
        rc = dataset_builder_set_ids(v->builder, &ids, err);
    memory_free(integer);
    return rc;
}

/* Appends one id to text and offset. */
static void push_text(char *text, uint64_t *offset, uint32_t *count, const struct node_ids *ids,
                      uint32_t node)
{
    must(ids->offset);
    const uint64_t size = ids->offset[node + 1] - ids->offset[node];
    if (size)
        memcpy(text + offset[*count], ids->text + ids->offset[node], size);
    offset[*count + 1] = offset[*count] + size;
    ++*count;
}

static enum error_code push_text_ids(const struct version *v, const struct node_ids *base,
                                     struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    const uint64_t *added_offset = delta->new_ids.offset;
    must(base->offset); /* push_ids() has compared the forms */
    const uint64_t added = added_offset ? added_offset[delta->added_nodes] : 0;
    struct node_ids ids = {0};
    uint64_t *offset = NULL;
    char *text = NULL;
    enum error_code rc =
        memory_new(&offset, (size_t)v->kept + delta->added_nodes + 1, "ids of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&text, base->offset[delta->base_nodes] + added, "ids of nodes", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < delta->base_nodes; node++)
        if (v->number[node] != GONE)
            push_text(text, offset, &ids.node_count, base, node);
    for (uint32_t i = 0; rc == ERROR_NONE && i < delta->added_nodes; i++)
        push_text(text, offset, &ids.node_count, &delta->new_ids, i);
    ids.offset = offset;
    ids.text = text;
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_ids(v->builder, &ids, err);
    memory_free(offset);
    memory_free(text);
    return rc;
}

static enum error_code push_ids(const struct version *v, struct error *err)
{
    struct node_ids base = {0};
    const bool of_text = v->base.node_id_form == NODE_ID_STRING;
    bool has_record = v->base.node_id_form != NODE_ID_CONSECUTIVE;
    enum error_code rc = ERROR_NONE;
    if (has_record)
        rc = merged_ids_find(v->store, v->base.id, &has_record, &base, err);
    if (rc == ERROR_NONE &&
        ((has_record && base.node_count != v->base.node_count) ||
         of_text != (base.offset != NULL) ||
         (v->delta->added_nodes && of_text != (v->delta->new_ids.offset != NULL))))
        rc = error_set(err, ERROR_CORRUPT, "dataset %s: the ids of its base are of another form",
                       v->id);
    if (rc == ERROR_NONE)
        rc = of_text ? push_text_ids(v, &base, err) : push_integer_ids(v, &base, err);
    store_release_record(&base.view);
    return rc;
}

/* ---- edges ------------------------------------------------------------------------------------ */

struct edge_pass {
    const struct version *v;
    uint64_t *gone; /* [gone_edges] target and source of one each, ascending */
    uint64_t next;  /* the first of them that is not behind the edge at hand */
    int64_t row;    /* edges so far, for messages */
    struct edge_buffer buffer;
};

/* Whether an edge of the base goes, with its nodes or by itself. Targets ascend, and sources of each target. */
static bool goes(struct edge_pass *pass, uint32_t source, uint32_t target)
{
    const uint64_t count = pass->v->delta->gone_edges;
    const uint64_t key = (uint64_t)target << 32 | source;
    if (pass->v->number[source] == GONE || pass->v->number[target] == GONE)
        return true;
    while (pass->next < count && pass->gone[pass->next] < key)
        pass->next++;
    return pass->next < count && pass->gone[pass->next] == key;
}

static enum error_code push_row(struct edge_pass *pass, const struct edge_chunk *chunk,
                                uint32_t row, struct error *err)
{
    const struct version *v = pass->v;
    const uint32_t target = chunk->first_node + row;
    enum error_code rc = ERROR_NONE;
    for (uint64_t e = chunk->row_start[row]; rc == ERROR_NONE && e < chunk->row_start[row + 1];
         e++) {
        const uint32_t source = chunk->neighbor[e];
        if (source >= v->base.node_count || target >= v->base.node_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: an edge from %" PRIu32 " to %" PRIu32
                             ", expected nodes below %" PRIu32,
                             v->where, source, target, v->base.node_count);
        if ((v->base.undirected && source > target) || goes(pass, source, target))
            continue; /* of an edge that lies both ways one is taken */
        const struct edge_columns_view value = edge_columns_from(&chunk->columns, e);
        rc = edge_buffer_add(&pass->buffer, pass->row++, v->number[source], v->number[target],
                             &value, err);
    }
    return rc;
}

static enum error_code push_base_edges(struct edge_pass *pass, struct error *err)
{
    const struct version *v = pass->v;
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && c < v->base.edge_chunk_count; c++) {
        struct edge_chunk chunk;
        rc = merged_edges_get(v->store, v->base.id, (int64_t)c, &chunk, err);
        if (rc != ERROR_NONE)
            return rc;
        for (uint32_t row = 0; rc == ERROR_NONE && row < chunk.node_count; row++)
            rc = push_row(pass, &chunk, row, err);
        store_release_record(&chunk.view);
    }
    return rc == ERROR_NONE ? edge_buffer_flush(&pass->buffer, err) : rc;
}

static enum error_code push_added_edges(const struct version *v, struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    struct edge_buffer buffer = {0};
    enum error_code rc =
        edge_buffer_init(&buffer, v->builder, "added edges, number", &v->base.edge_width, err);
    if (rc == ERROR_NONE && delta->added_edges &&
        !edge_widths_equal(&delta->columns.width, &v->base.edge_width))
        rc = error_set(err, ERROR_CORRUPT, "dataset %s: its edges have other columns than its base",
                       v->id);
    for (uint64_t e = 0; rc == ERROR_NONE && e < delta->added_edges; e++) {
        const uint32_t source = v->number[delta->source[e]], target = v->number[delta->target[e]];
        const struct edge_columns_view value = edge_columns_from(&delta->columns, e);
        if (source == GONE || target == GONE)
            rc = error_set(err, ERROR_CORRUPT, "dataset %s: an edge is added to a node that goes",
                           v->id);
        else
            rc = edge_buffer_add(&buffer, (int64_t)e + 1, source, target, &value, err);
    }
    if (rc == ERROR_NONE)
        rc = edge_buffer_flush(&buffer, err);
    edge_buffer_release(&buffer);
    return rc;
}

static enum error_code push_edges(const struct version *v, struct error *err)
{
    struct edge_pass pass = {.v = v, .row = 1};
    enum error_code rc = memory_new(&pass.gone, v->delta->gone_edges, "edges that go", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < v->delta->gone_edges; i++)
        pass.gone[i] = (uint64_t)v->delta->gone_target[i] << 32 | v->delta->gone_source[i];
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&pass.buffer, v->builder, v->where, &v->base.edge_width, err);
    if (rc == ERROR_NONE)
        rc = push_base_edges(&pass, err);
    edge_buffer_release(&pass.buffer);
    memory_free(pass.gone);
    return rc == ERROR_NONE ? push_added_edges(v, err) : rc;
}

/* ---- labels, splits, rows ------------------------------------------------------------------------ */

static enum error_code push_labels(const struct version *v, struct error *err)
{
    const struct task *task = task_of(v->base.task);
    const struct dataset_delta *delta = v->delta;
    struct node_labels labels;
    uint32_t *row = NULL;
    if (!task)
        return ERROR_NONE;
    const uint32_t width = task->label_width(v->base.class_count);
    const uint64_t count = (uint64_t)v->kept + delta->added_nodes;
    enum error_code rc = merged_labels_get(v->store, v->base.id, &labels, err);
    if (rc != ERROR_NONE)
        return rc;
    if (labels.node_count != delta->base_nodes ||
        (delta->added_nodes && delta->label_width != width))
        rc = error_set(err, ERROR_CORRUPT, "dataset %s: labels of its base do not fit", v->id);
    if (rc == ERROR_NONE)
        rc = memory_new(&row, count * width, "labels", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < delta->base_nodes; node++)
        if (v->number[node] != GONE)
            memcpy(row + (size_t)v->number[node] * width,
                   (const uint32_t *)labels.row + (size_t)node * width, width * sizeof *row);
    if (rc == ERROR_NONE && delta->added_nodes)
        memcpy(row + (size_t)v->kept * width, delta->new_label,
               (size_t)delta->added_nodes * width * sizeof *row);
    store_release_record(&labels.view);
    const struct label_rows all = {.task = v->base.task,
                                   .columns = task->is_class_number ? 1 : v->base.class_count,
                                   .count = count,
                                   .row = row};
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_labels(v->builder, v->where, 1, &all, err);
    memory_free(row);
    return rc;
}

/* The nodes of a split, in ascending order. */
static enum error_code push_split(const struct version *v, const struct node_splits *base,
                                  enum split split, struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    int64_t *node = NULL;
    uint64_t count = 0;
    enum error_code rc =
        memory_new(&node, (size_t)base->count[split] + delta->added_nodes, "a split", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < base->count[split]; i++) {
        const uint32_t number = base->node[split][i];
        if (number >= delta->base_nodes)
            rc = error_set(err, ERROR_CORRUPT, "%s: a split has node %" PRIu32, v->where, number);
        else if (v->number[number] != GONE)
            node[count++] = v->number[number];
    }
    for (uint32_t i = 0; rc == ERROR_NONE && i < delta->added_nodes; i++)
        if (delta->new_split[i] == 1 + (int)split)
            node[count++] = (int64_t)v->kept + i;
    if (rc == ERROR_NONE && count)
        rc = dataset_builder_set_split(v->builder, split, v->where, 1, node, count, err);
    memory_free(node);
    return rc;
}

static enum error_code push_splits(const struct version *v, struct error *err)
{
    struct node_splits base;
    enum error_code rc = merged_splits_get(v->store, v->base.id, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        rc = push_split(v, &base, (enum split)s, err);
    store_release_record(&base.view);
    return rc;
}

/* Given rows of the base, and over them those of the delta; each node has one in the end. */
static enum error_code push_base_rows(const struct version *v, const uint8_t *is_new,
                                      struct error *err)
{
    const uint32_t dim = v->base.feature_dim;
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && c < v->base.feature_chunk_count; c++) {
        struct feature_chunk chunk;
        rc = merged_features_get(v->store, v->base.id, (int64_t)c, &chunk, err);
        if (rc != ERROR_NONE)
            return rc;
        if (chunk.dim != dim ||
            (uint64_t)chunk.first_node + chunk.node_count > v->delta->base_nodes)
            rc = error_set(err, ERROR_CORRUPT, "%s: a chunk of features does not fit", v->where);
        for (uint32_t i = 0; rc == ERROR_NONE && i < chunk.node_count; i++) {
            const uint32_t node = chunk.first_node + i;
            if (v->number[node] != GONE && !is_new[node])
                rc = dataset_builder_put_features(v->builder, v->where, (int64_t)node + 1,
                                                  v->number[node], chunk.row + (size_t)i * dim, dim,
                                                  err);
        }
        store_release_record(&chunk.view);
    }
    return rc;
}

static enum error_code push_rows(const struct version *v, struct error *err)
{
    const struct dataset_delta *delta = v->delta;
    uint8_t *is_new = NULL; /* a row of the delta is that of the node */
    if (!has_given_rows(v))
        return ERROR_NONE;
    if (delta->feature_dim != v->base.feature_dim)
        return error_set(err, ERROR_CORRUPT, "dataset %s: its base has other features", v->id);
    enum error_code rc = memory_new(&is_new, all_nodes(v), "marks of nodes", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->rows; i++) {
        const uint32_t node = delta->row_node[i];
        if (v->number[node] == GONE || is_new[node]++)
            rc = error_set(err, ERROR_CORRUPT, "dataset %s: a row of features too many", v->id);
    }
    if (rc == ERROR_NONE)
        rc = push_base_rows(v, is_new, err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->rows; i++)
        rc = dataset_builder_put_features(
            v->builder, "added rows", (int64_t)i + 1, v->number[delta->row_node[i]],
            delta->row + i * delta->feature_dim, delta->feature_dim, err);
    memory_free(is_new);
    return rc;
}

/* What features were scaled by: that of the root. */
static enum error_code copy_statistics(const struct version *v, struct error *err)
{
    struct feature_statistics by;
    if (!has_given_rows(v))
        return ERROR_NONE;
    enum error_code rc = feature_statistics_get(v->store, v->base.id, 0, &by, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = feature_statistics_put(v->store, v->id, 0, &by, err);
    store_release_record(&by.view);
    return rc;
}

/* Words of classes and encoded columns are those of the root, too. */
static enum error_code copy_columns(const struct version *v, struct error *err)
{
    struct column_encoding encoding = {0};
    const enum error_code rc = node_columns_get(v->store, v->base.id, &encoding, err);
    if (rc == ERROR_NONE)
        dataset_builder_take_encoding(v->builder, &encoding);
    return rc;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static enum error_code build(struct version *v, uint64_t memory_bytes, struct error *err)
{
    enum error_code rc = number_nodes(v, err);
    if (rc == ERROR_NONE)
        rc = open_builder(v, memory_bytes, err);
    if (rc == ERROR_NONE)
        rc = push_ids(v, err);
    if (rc == ERROR_NONE)
        rc = push_edges(v, err);
    if (rc == ERROR_NONE)
        rc = push_labels(v, err);
    if (rc == ERROR_NONE)
        rc = push_splits(v, err);
    if (rc == ERROR_NONE)
        rc = push_rows(v, err);
    if (rc == ERROR_NONE)
        rc = copy_statistics(v, err);
    if (rc == ERROR_NONE)
        rc = copy_columns(v, err);
    return rc == ERROR_NONE ? dataset_builder_finish(v->builder, NULL, err) : rc;
}

enum error_code version_builder_run(struct store *store, const struct pipeline_settings *settings,
                                    const char *dataset_id, const struct dataset_delta *delta,
                                    uint64_t memory_bytes, struct error *err)
{
    struct version *v = NULL;
    enum error_code rc = memory_new(&v, 1, "a version of a dataset", err);
    if (rc != ERROR_NONE)
        return rc;
    v->store = store;
    v->delta = delta;
    v->id = dataset_id;
    rc = dataset_schema_get(store, delta->base, &v->base, err);
    if (rc == ERROR_NONE && v->base.node_count != delta->base_nodes)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: its base %s has %" PRIu32 " nodes, expected %" PRIu32,
                       dataset_id, delta->base, v->base.node_count, delta->base_nodes);
    (void)snprintf(v->where, sizeof v->where, "dataset %s", delta->base);
    if (rc == ERROR_NONE) {
        choose_settings(v, settings);
        rc = build(v, memory_bytes, err);
    }
    dataset_builder_free(v->builder);
    memory_free(v->number);
    memory_free(v);
    return rc;
}
