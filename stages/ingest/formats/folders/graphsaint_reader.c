/*
 * graphsaint_reader - a folder in the form in which GraphSAINT's authors distribute graphs (format:
 * graphsaint): Flickr, Yelp, Reddit, AmazonProducts.
 *
 *   adj_full.npz      scipy's CSR of all edges; an undirected edge is stored in both directions
 *   feats.npy         optional: [nodes, columns]
 *   class_map.json    optional: {"node": class} or {"node": [0, 1, ...]} for several labels
 *   role.json         optional: {"tr": [node, ...], "va": [...], "te": [...]}
 *
 * adj_train.npz, the edges among training nodes, is not read, because training uses all edges.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/shared/csr_edges.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/formats/shared/npz_folder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct graphsaint { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char archive[FILE_PATH_SIZE]; /* path of adj_full.npz */
    struct npz_folder folder;     /* its arrays */
    uint64_t node_count;
};

/* Finds a file; `path` is "" when it does not exist. */
static enum error_code find_file(const struct graphsaint *g, const char *name,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/%s", g->settings->ingest.path, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (rc == ERROR_NONE && !found)
        path[0] = '\0';
    return rc;
}

static enum error_code read_edges(struct graphsaint *g, struct error *err)
{
    static const char *const wanted[] = {"indptr", "indices", "data", "shape", NULL};
    char indptr[FILE_PATH_SIZE], indices[FILE_PATH_SIZE], data[FILE_PATH_SIZE];
    int64_t shape[NPZ_SHAPE];
    enum error_code rc = find_file(g, "adj_full.npz", g->archive, err);
    if (rc == ERROR_NONE && !g->archive[0])
        return error_set(err, ERROR_NOT_FOUND, "%s: expected adj_full.npz, found no such file",
                         g->settings->ingest.path);
    if (rc == ERROR_NONE)
        rc = npz_folder_open(&g->folder, g->archive, "adj_full", wanted, g->builder, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_shape(&g->folder, "", shape, err);
    if (rc == ERROR_NONE && shape[0] != shape[1])
        return error_set(err, ERROR_INPUT,
                         "%s: shape: expected as many rows as columns, found %" PRId64
                         " x %" PRId64,
                         g->archive, shape[0], shape[1]);
    if (rc == ERROR_NONE)
        rc = npz_folder_need(&g->folder, "", "indptr", indptr, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_need(&g->folder, "", "indices", indices, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_find(&g->folder, "", "data", data, err);
    if (rc != ERROR_NONE)
        return rc;
    g->node_count = (uint64_t)shape[0];
    rc = dataset_builder_set_nodes(g->builder, g->node_count, STATED_DIRECTED, err);
    const struct csr_files files = {
        .indptr = indptr, .indices = indices, .data = data[0] ? data : NULL};
    return rc == ERROR_NONE ? csr_edges_push(&files, g->node_count, g->builder, err) : rc;
}

static enum error_code read_features(const struct graphsaint *g, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct feature_file file = {0};
    enum error_code rc = find_file(g, "feats.npy", path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = feature_file_open(&file, path, NULL, g->node_count, 0, err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&file, g->builder, err);
    feature_file_close(&file);
    return rc;
}

static enum error_code read_json(const char *path, struct json_document **out, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_read(path, 0, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, path, out, err);
    memory_free(text);
    if (rc == ERROR_NONE && !json_node_is_object(json_root(*out))) {
        json_free(*out);
        *out = NULL;
        rc = error_set(err, ERROR_INPUT, "%s: expected an object, found something else", path);
    }
    return rc;
}

/* --- labels --- */

/* Takes the classes of one node: a number, or an array of 0 and 1. */
static enum error_code take_label(struct label_table *table, const char *key,
                                  const struct json_node *value, struct error *err)
{
    int64_t node = 0;
    const bool is_array = json_node_is_array(value);
    const size_t columns = is_array ? json_count(value) : 1;
    enum error_code rc = ERROR_NONE;
    if (!text_int64(key, strlen(key), &node) || node < 0 || (uint64_t)node >= table->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected nodes from 0 to %" PRIu64 " as keys, found '%.40s'",
                         table->path, table->node_count - 1, key);
    if (table->column_count == 0)
        rc = label_table_columns(table, columns, err);
    if (rc == ERROR_NONE && columns != table->column_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: \"%s\": expected %" PRIu32 " labels as the first node has, found %zu",
                       table->path, key, table->column_count, columns);
    for (size_t i = 0; rc == ERROR_NONE && i < columns; i++)
        if (!json_double(is_array ? json_at(value, i) : value, &table->column[i]))
            rc = error_set(err, ERROR_INPUT, "%s: \"%s\": expected numbers, found something else",
                           table->path, key);
    return rc == ERROR_NONE ? label_table_take(table, (uint64_t)node, node, err) : rc;
}

static enum error_code read_labels(const struct graphsaint *g, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct json_document *document = NULL;
    enum error_code rc = find_file(g, "class_map.json", path, err);
    if (rc != ERROR_NONE || !path[0] || !pipeline_reads_targets(g->settings))
        return rc;
    struct label_table table = {.path = path,
                                .node_count = g->node_count,
                                .task = (enum task_kind)g->settings->ingest.task};
    rc = read_json(path, &document, err);
    const struct json_node *root = rc == ERROR_NONE ? json_root(document) : NULL;
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(root); i++) {
        const struct json_node *value = NULL;
        const char *key = json_member(root, i, &value);
        rc = take_label(&table, key, value, err);
    }
    if (rc == ERROR_NONE && table.column_count)
        rc = label_table_push(&table, 0, g->builder, err);
    label_table_release(&table);
    json_free(document);
    return rc;
}

/* --- splits --- */

static enum error_code push_split(const struct graphsaint *g, const char *path, enum split split,
                                  const struct json_node *list, struct error *err)
{
    static const char *const name[SPLIT_COUNT] = {"tr", "va", "te"};
    int64_t *node = NULL;
    const size_t count = json_count(list);
    enum error_code rc = memory_new(&node, count + 1, "the nodes of a split", err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        if (!json_int64(json_at(list, i), &node[i]))
            rc = error_set(err, ERROR_INPUT,
                           "%s: \"%s\": item %zu: expected a node, found something else", path,
                           name[split], i);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(g->builder, split, path, 0, node, count, err);
    memory_free(node);
    return rc;
}

static enum error_code read_splits(const struct graphsaint *g, struct error *err)
{
    static const char *const name[SPLIT_COUNT] = {"tr", "va", "te"};
    char path[FILE_PATH_SIZE];
    struct json_document *document = NULL;
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(g->settings, &shares, err);
    if (rc == ERROR_NONE)
        rc = find_file(g, "role.json", path, err);
    if (rc != ERROR_NONE || !path[0] || shares.is_random || !pipeline_reads_targets(g->settings))
        return rc;
    rc = read_json(path, &document, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        const struct json_node *list = json_get(json_root(document), name[s]);
        if (list && !json_node_is_array(list))
            rc = error_set(err, ERROR_INPUT,
                           "%s: \"%s\": expected a list of nodes, found something else", path,
                           name[s]);
        else if (list)
            rc = push_split(g, path, (enum split)s, list, err);
    }
    json_free(document);
    return rc;
}

static enum error_code graphsaint_run(const struct pipeline_settings *settings,
                                      uint64_t memory_bytes, struct dataset_builder *builder,
                                      struct error *err)
{
    (void)memory_bytes;
    struct graphsaint g = {.settings = settings, .builder = builder};
    enum error_code rc = read_edges(&g, err);
    rc = npz_folder_blame(&g.folder, rc, err);
    if (rc == ERROR_NONE)
        rc = read_features(&g, err);
    if (rc == ERROR_NONE)
        rc = read_labels(&g, err);
    if (rc == ERROR_NONE)
        rc = read_splits(&g, err);
    return rc == ERROR_NONE ? held_edge_files_push(settings, NULL, builder, err) : rc;
}

const struct input_format graphsaint_format = {
    .endings = {".npz", ".npy", ".json"},
    .advice = {"add class_map.json with a class for each node",
               "add role.json with lists tr, va and te, or a line `split: random 60/20/20` below "
               "`ingest:`"},
    .form = "mend it so that the folder has adj_full.npz of scipy, feats.npy with a row a node, "
            "class_map.json and role.json",
    .run = graphsaint_run,
};
