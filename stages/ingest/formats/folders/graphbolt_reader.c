/*
 * graphbolt_reader - the folder of a DGL GraphBolt OnDiskDataset (format: graphbolt), as it is
 * before DGL preprocesses it.
 *
 *   metadata.yaml
 *     graph:
 *       nodes: [{num: 34}]                             or, for several types, each with `type:
 *                                                      user`
 *       edges: [{format: csv | numpy, path: edges.csv}]      csv without a header, or [2, edges];
 *                                                            from
 *                                                      source to target; with types each has
 *                                                      `type: "user:likes:item"`, and the ends are
 *                                                      numbered within their types
 *     feature_data:
 *       - {domain: node, name: feat, format: numpy, path: feat.npy}
 *     tasks:                                           the first whose seeds are nodes
 *       - num_classes: 2
 *         train_set: [{data: [{name: seeds, format: numpy, path: ...},
 *                             {name: labels, format: numpy, path: ...}]}]
 *         validation_set: ...
 *         test_set: ...
 *
 * The format has no labels of nodes outside of the three sets. Names that GraphBolt had before 0.1
 * (seed_nodes) are read, too. The reader refuses, by name and line, what it cannot read: torch
 * files, seeds that are pairs. Features of nodes that have another name than feat, and features of
 * edges, are not read.
 *
 * Format: DGL's "OnDiskDataset specification".
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/yaml.h"
#include "common/files/file.h"
#include "stages/ingest/formats/folders/typed_graph.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <stdio.h>
#include <string.h>

enum { METADATA_BYTES_MAX = 1 << 20 };

/* A file that the metadata names. */
struct array_file {
    char path[FILE_PATH_SIZE];
    bool is_csv;
    int line; /* line in the metadata */
};

struct graphbolt { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char metadata[FILE_PATH_SIZE]; /* path of metadata.yaml */
    struct yaml_node *root;
    struct typed_graph *graph;
    struct typed_rows features[NODE_TYPE_COUNT_MAX]; /* [feature_count] */
    struct array_file *feature_file;                 /* [NODE_TYPE_COUNT_MAX], their paths */
    uint32_t feature_count;
};

/* --- metadata --- */

static const struct yaml_node *get(const struct yaml_node *map, const char *key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml_node *node = map->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

static const char *text_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = get(map, key);
    return node && node->kind == YAML_SCALAR ? node->text : NULL;
}

static enum error_code wrong(const struct graphbolt *g, const struct yaml_node *at,
                             const char *expected, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%d: expected %s, found none or another", g->metadata,
                     at ? at->line : 1, expected);
}

/* Finds the items of a key that must be a list. */
static enum error_code list_of(const struct graphbolt *g, const struct yaml_node *map,
                               const char *key, const struct yaml_node **first, struct error *err)
{
    char expected[96];
    const struct yaml_node *list = get(map, key);
    *first = NULL;
    if (!list)
        return ERROR_NONE;
    if (list->kind != YAML_LIST) {
        (void)snprintf(expected, sizeof expected, "a list below `%s:`", key);
        return wrong(g, list, expected, err);
    }
    *first = list->first;
    return ERROR_NONE;
}

static enum error_code file_of(const struct graphbolt *g, const struct yaml_node *item,
                               bool may_be_csv, struct array_file *out, struct error *err)
{
    const char *format = text_of(item, "format"), *path = text_of(item, "path");
    must(item);
    out->line = item->line;
    out->is_csv = may_be_csv && format && strcmp(format, "csv") == 0;
    if (!format || (!out->is_csv && strcmp(format, "numpy") != 0))
        return wrong(g, item,
                     may_be_csv ? "`format: numpy` or `format: csv`"
                                : "`format: numpy` (of a file of torch: numpy.save(path, "
                                  "torch.load(file).numpy()))",
                     err);
    if (!path || !path[0])
        return wrong(g, item, "a `path:` beside `format:`", err);
    return path[0] == '/' ? file_path(out->path, err, "%s", path)
                          : file_path(out->path, err, "%s/%s", g->settings->ingest.path, path);
}

static enum error_code read_metadata(struct graphbolt *g, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_path(g->metadata, err, "%s/metadata.yaml", g->settings->ingest.path);
    if (rc == ERROR_NONE)
        rc = file_read(g->metadata, METADATA_BYTES_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        rc = error_set(err, rc, "%s: expected metadata.yaml, found no such file",
                       g->settings->ingest.path);
    if (rc == ERROR_NONE)
        rc = yaml_parse(text, size, g->metadata, &g->root, err);
    memory_free(text);
    return rc == ERROR_INVALID ? ERROR_INPUT : rc;
}

/* --- the graph --- */

/* Finds the items of graph.nodes or graph.edges, of which there must be at least one. */
static enum error_code items_of(const struct graphbolt *g, const char *key,
                                const struct yaml_node **out, struct error *err)
{
    const struct yaml_node *graph = get(g->root, "graph");
    const enum error_code rc = list_of(g, graph, key, out, err);
    if (rc != ERROR_NONE || *out)
        return rc;
    return wrong(g, graph,
                 strcmp(key, "nodes") == 0 ? "`nodes:` below `graph:`" : "`edges:` below `graph:`",
                 err);
}

/* Returns the value of `type:`; NULL for null, which stands for the only type. */
static const char *type_of(const struct yaml_node *item)
{
    const char *text = text_of(item, "type");
    return !text || !text[0] || strcmp(text, "null") == 0 || strcmp(text, "~") == 0 ? NULL : text;
}

static enum error_code read_nodes(struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    enum error_code rc = items_of(g, "nodes", &item, err);
    for (const struct yaml_node *first = item; rc == ERROR_NONE && item; item = item->next) {
        const char *text = text_of(item, "num");
        int64_t count = 0;
        if (!text || !text_int64(text, strlen(text), &count) || count < 1)
            return wrong(g, item, "`num:` with the number of nodes", err);
        if (!type_of(item) && (item->next || item != first))
            return wrong(g, item, "a `type:` of each item of `nodes:`, as there are several", err);
        rc = typed_graph_add_type(g->graph, item->line, type_of(item) ? type_of(item) : "node",
                                  (uint64_t)count, err);
    }
    return rc;
}

static enum error_code declare(struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    enum error_code rc = items_of(g, "edges", &item, err);
    for (; rc == ERROR_NONE && item; item = item->next)
        rc = typed_graph_add_relation(g->graph, item->line, type_of(item), err);
    return rc == ERROR_NONE ? typed_graph_declare(g->graph, STATED_DIRECTED, err) : rc;
}

static enum error_code read_edges(struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    struct array_file file;
    uint64_t rows = 0;
    uint32_t relation = 0;
    enum error_code rc = items_of(g, "edges", &item, err);
    for (; rc == ERROR_NONE && item; item = item->next) {
        rc = file_of(g, item, true, &file, err);
        if (rc == ERROR_NONE && file.is_csv == input_files_ends_in(file.path, ".npy"))
            rc = wrong(g, item, "`format: numpy` of a file .npy, `format: csv` of another", err);
        if (rc == ERROR_NONE)
            rc = typed_graph_push_edges(g->graph, relation++, file.path, DELIMITER_COMMA, &rows,
                                        err);
    }
    return rc;
}

static bool is_features(const struct yaml_node *item)
{
    const char *domain = text_of(item, "domain"), *name = text_of(item, "name");
    return domain && name && strcmp(domain, "node") == 0 && strcmp(name, "feat") == 0;
}

static enum error_code read_features(struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    enum error_code rc = list_of(g, g->root, "feature_data", &item, err);
    for (; rc == ERROR_NONE && item; item = item->next) {
        if (!is_features(item))
            continue;
        if (g->feature_count == NODE_TYPE_COUNT_MAX)
            return wrong(g, item, "features called feat once for each node type", err);
        struct array_file *file = &g->feature_file[g->feature_count];
        struct typed_rows *rows = &g->features[g->feature_count++];
        rc = file_of(g, item, false, file, err);
        if (rc == ERROR_NONE)
            rc = typed_graph_type(g->graph, item->line, type_of(item), &rows->type, err);
        if (rc != ERROR_NONE)
            return rc;
        for (const struct typed_rows *before = g->features; before < rows; before++)
            if (before->type == rows->type)
                return wrong(g, item, "features called feat once for each node type", err);
        rows->path = file->path;
        rows->count = typed_graph_type_size(g->graph, rows->type);
    }
    return rc == ERROR_NONE
               ? typed_graph_push_features(g->graph, g->features, g->feature_count, err)
               : rc;
}

/* --- tasks --- */

static bool is_named(const struct yaml_node *item, const char *name, const char *older)
{
    const char *found = text_of(item, "name");
    return found && (strcmp(found, name) == 0 || (older && strcmp(found, older) == 0));
}

/* Returns the item of `data:` with that name; NULL when there is none. */
static const struct yaml_node *data_named(const struct yaml_node *set, const char *name,
                                          const char *older)
{
    const struct yaml_node *list = get(set, "data");
    for (const struct yaml_node *item = list && list->kind == YAML_LIST ? list->first : NULL; item;
         item = item->next)
        if (is_named(item, name, older))
            return item;
    return NULL;
}

/* Reads the seeds and labels of one item of a set. */
static enum error_code read_item(const struct graphbolt *g, const struct yaml_node *item,
                                 enum split split, struct error *err)
{
    const struct yaml_node *seeds = data_named(item, "seeds", "seed_nodes");
    const struct yaml_node *labels = data_named(item, "labels", NULL);
    struct array_file seed_file, label_file;
    struct integer_column node = {0};
    struct typed_rows rows = {.path = label_file.path};
    if (!seeds)
        return wrong(g, item, "`data:` with an item `name: seeds`", err);
    enum error_code rc = file_of(g, seeds, false, &seed_file, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_type(g->graph, item->line, type_of(item), &rows.type, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&node, seed_file.path, typed_graph_type_size(g->graph, rows.type),
                                 err);
    if (rc == ERROR_NONE && labels)
        rc = file_of(g, labels, false, &label_file, err);
    if (rc == ERROR_NONE && labels)
        rc = typed_graph_take_labels(g->graph, &rows, &node, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_take_split(g->graph, rows.type, split, seed_file.path, node.first_line,
                                    node.value, node.count, err);
    integer_column_release(&node);
    return rc;
}

static enum error_code read_set(const struct graphbolt *g, const struct yaml_node *task,
                                const char *key, enum split split, struct error *err)
{
    const struct yaml_node *item = NULL;
    enum error_code rc = list_of(g, task, key, &item, err);
    for (; rc == ERROR_NONE && item; item = item->next)
        rc = read_item(g, item, split, err);
    return rc;
}

/* Finds the task called ingest.split_name, or the first task. */
static enum error_code find_task(const struct graphbolt *g, const struct yaml_node **task,
                                 struct error *err)
{
    const char *name = g->settings->ingest.split_name;
    const enum error_code rc = list_of(g, g->root, "tasks", task, err);
    const struct yaml_node *first = *task;
    while (rc == ERROR_NONE && name[0] && *task && !is_named(*task, name, NULL))
        *task = (*task)->next;
    return rc == ERROR_NONE && name[0] && !*task
               ? error_set(err, ERROR_INPUT,
                           "%s:%d: expected a task called as ingest.split_name says, found none",
                           g->metadata, first ? first->line : 1)
               : rc;
}

static enum error_code read_task(struct graphbolt *g, struct error *err)
{
    static const char *const key[SPLIT_COUNT] = {"train_set", "validation_set", "test_set"};
    const struct yaml_node *task = NULL;
    enum error_code rc = find_task(g, &task, err);
    if (rc != ERROR_NONE || !pipeline_reads_targets(g->settings))
        return rc;
    for (int s = 0; rc == ERROR_NONE && task && s < SPLIT_COUNT; s++)
        rc = read_set(g, task, key[s], (enum split)s, err);
    return rc;
}

static enum error_code read_all(struct graphbolt *g, struct error *err)
{
    static enum error_code (*const step[])(struct graphbolt *, struct error *) = {
        read_nodes, declare, read_edges, read_features, read_task};
    enum error_code rc = read_metadata(g, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&g->feature_file, NODE_TYPE_COUNT_MAX, "paths of features", err);
    if (rc == ERROR_NONE)
        rc = typed_graph_new(g->settings, g->builder, g->metadata, &g->graph, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof step / sizeof *step; i++)
        rc = step[i](g, err);
    return rc == ERROR_NONE ? typed_graph_push_targets(g->graph, err) : rc;
}

static enum error_code graphbolt_run(const struct pipeline_settings *settings,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    (void)memory_bytes;
    struct graphbolt g = {.settings = settings, .builder = builder};
    const enum error_code rc = read_all(&g, err);
    typed_graph_free(g.graph);
    memory_free(g.feature_file);
    yaml_tree_free(g.root);
    return rc;
}

const struct input_format graphbolt_format = {
    .has_folders = true,
    .endings = {".yaml", ".npy", ".csv"},
    .advice = {"add an item `name: labels` to the sets below `tasks:`",
               "add train_set below `tasks:`, or a line `split: random 60/20/20` below `ingest:`"},
    .form = "mend it so that metadata.yaml lists nodes, edges, features and the sets of a task "
            "with their csv and numpy files, as OnDiskDataset takes them",
    .run = graphbolt_run,
};
