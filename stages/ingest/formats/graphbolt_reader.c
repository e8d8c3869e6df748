#include "stages/ingest/formats/graphbolt_reader.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/yaml.h"
#include "common/formats/npy_reader.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/edge_files.h"
#include "stages/ingest/formats/feature_file.h"
#include "stages/ingest/formats/folder_edges.h"
#include "stages/ingest/formats/held_edge_files.h"
#include "stages/ingest/formats/integer_column.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { METADATA_BYTES_MAX = 1 << 20 };

struct graphbolt { /* one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char metadata[FILE_PATH_SIZE]; /* path of metadata.yaml */
    struct yaml_node *root;
    uint64_t node_count;
    struct label_table labels;
};

/* A file that the metadata name. */
struct array_file {
    char path[FILE_PATH_SIZE];
    bool is_csv;
    int line; /* of the metadata */
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
    return error_set(err, ERROR_INPUT, "%s:%d: expected %s", g->metadata, at ? at->line : 1,
                     expected);
}

/* The items of a list that must be one. */
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

/* The one item of graph.nodes or graph.edges. */
static enum error_code only_item(const struct graphbolt *g, const char *key,
                                 const struct yaml_node **out, struct error *err)
{
    const struct yaml_node *graph = get(g->root, "graph");
    const enum error_code rc = list_of(g, graph, key, out, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!*out)
        return wrong(
            g, graph,
            strcmp(key, "nodes") == 0 ? "`nodes:` below `graph:`" : "`edges:` below `graph:`", err);
    return (*out)->next
               ? wrong(g, (*out)->next,
                       "one type of nodes and one of edges; of several write a folder with "
                       "node-types.csv and edge-types.csv (format: folder, relations: true)",
                       err)
               : ERROR_NONE;
}

static enum error_code read_nodes(struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    int64_t count = 0;
    const enum error_code rc = only_item(g, "nodes", &item, err);
    if (rc != ERROR_NONE)
        return rc;
    const char *text = text_of(item, "num");
    if (!text || !text_int64(text, strlen(text), &count) || count < 1)
        return wrong(g, item, "`num:` with the number of nodes", err);
    g->node_count = (uint64_t)count;
    return dataset_builder_set_nodes(g->builder, g->node_count, STATED_DIRECTED, err);
}

static enum error_code read_edges(const struct graphbolt *g, struct error *err)
{
    const struct edge_files none = {0};
    const struct yaml_node *item = NULL;
    struct array_file file;
    uint64_t rows = 0;
    enum error_code rc = only_item(g, "edges", &item, err);
    if (rc == ERROR_NONE)
        rc = file_of(g, item, true, &file, err);
    if (rc != ERROR_NONE)
        return rc;
    return file.is_csv
               ? folder_edges_read_csv(file.path, false, NULL, NULL, &none, g->builder, &rows, err)
               : folder_edges_read_npy(file.path, &none, g->builder, &rows, err);
}

static enum error_code read_features(const struct graphbolt *g, struct error *err)
{
    const struct yaml_node *item = NULL;
    struct array_file file;
    struct feature_file features = {0};
    enum error_code rc = list_of(g, g->root, "feature_data", &item, err);
    for (; rc == ERROR_NONE && item; item = item->next) {
        const char *domain = text_of(item, "domain"), *name = text_of(item, "name");
        if (domain && name && strcmp(domain, "node") == 0 && strcmp(name, "feat") == 0)
            break;
    }
    if (rc != ERROR_NONE || !item)
        return rc;
    rc = file_of(g, item, false, &file, err);
    if (rc == ERROR_NONE)
        rc = feature_file_open(&features, file.path, NULL, g->node_count, 0, err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&features, g->builder, err);
    feature_file_close(&features);
    return rc;
}

/* --- tasks --- */

static bool is_named(const struct yaml_node *item, const char *name, const char *older)
{
    const char *found = text_of(item, "name");
    return found && (strcmp(found, name) == 0 || (older && strcmp(found, older) == 0));
}

/* The item of `data:` with that name; NULL when there is none. */
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

static enum error_code take_row(struct graphbolt *g, const struct npy_reader *reader, uint64_t row,
                                uint64_t columns, int64_t node, struct error *err)
{
    struct label_table *table = &g->labels;
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && c < columns; c++) {
        float real = 0.0F;
        int64_t whole = 0;
        rc = npy_is_integer(&reader->header)
                 ? npy_reader_int64(reader, row * columns + c, 1, &whole, err)
                 : npy_reader_float(reader, row * columns + c, 1, &real, err);
        table->column[c] = npy_is_integer(&reader->header) ? (double)whole : (double)real;
    }
    if (rc == ERROR_NONE && (node < 0 || (uint64_t)node >= g->node_count))
        rc = error_set(err, ERROR_INPUT,
                       "%s: row %" PRIu64 " is of node %" PRId64
                       ": expected nodes from 0 to %" PRIu64,
                       reader->path, row, node, g->node_count - 1);
    return rc == ERROR_NONE ? label_table_take(table, (uint64_t)node, (int64_t)row, err) : rc;
}

/* Row i is the label of the seed `node[i]`. */
static enum error_code take_labels(struct graphbolt *g, const struct array_file *file,
                                   const struct integer_column *node, struct error *err)
{
    struct npy_reader reader = {0};
    enum error_code rc = npy_reader_open(&reader, file->path, err);
    const struct npy_header *header = &reader.header;
    if (rc == ERROR_NONE && (header->dimension_count < 1 || header->dimension_count > 2 ||
                             header->shape[0] != node->count))
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " rows, one for each seed, found %" PRIu64
                       " in %" PRIu32 " dimensions",
                       file->path, node->count, header->shape[0], header->dimension_count);
    const uint64_t columns = header->dimension_count == 2 ? header->shape[1] : 1;
    g->labels.path = file->path;
    if (rc == ERROR_NONE && g->labels.column_count == 0)
        rc = label_table_columns(&g->labels, columns, err);
    if (rc == ERROR_NONE && columns != g->labels.column_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu32 " columns as the labels before have, found %" PRIu64,
                       file->path, g->labels.column_count, columns);
    for (uint64_t i = 0; rc == ERROR_NONE && i < node->count; i++)
        rc = take_row(g, &reader, i, columns, node->value[i], err);
    npy_reader_close(&reader);
    return rc;
}

/* Its labels; the seeds themselves come behind those of all sets. */
static enum error_code read_set(struct graphbolt *g, const struct yaml_node *set, struct error *err)
{
    const struct yaml_node *seeds = data_named(set, "seeds", "seed_nodes");
    const struct yaml_node *labels = data_named(set, "labels", NULL);
    struct array_file seed_file, label_file;
    struct integer_column node = {0};
    if (!seeds)
        return wrong(g, set, "`data:` with an item `name: seeds`", err);
    enum error_code rc = file_of(g, seeds, false, &seed_file, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&node, seed_file.path, g->node_count, err);
    if (rc == ERROR_NONE && labels)
        rc = file_of(g, labels, false, &label_file, err);
    if (rc == ERROR_NONE && labels)
        rc = take_labels(g, &label_file, &node, err);
    g->labels.path = g->metadata; /* label_file ends here */
    integer_column_release(&node);
    return rc;
}

/* Seeds are pushed behind the labels, which they need. */
static enum error_code push_seeds(const struct graphbolt *g, const struct yaml_node *set,
                                  enum split split, struct error *err)
{
    struct array_file file;
    struct integer_column node = {0};
    const struct yaml_node *seeds = data_named(set, "seeds", "seed_nodes");
    must(seeds); /* read_set() found it */
    enum error_code rc = file_of(g, seeds, false, &file, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&node, file.path, g->node_count, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(g->builder, split, file.path, node.first_line, node.value,
                                       node.count, err);
    integer_column_release(&node);
    return rc;
}

static enum error_code read_task(struct graphbolt *g, struct error *err)
{
    static const char *const key[SPLIT_COUNT] = {"train_set", "validation_set", "test_set"};
    const struct yaml_node *task = NULL, *set[SPLIT_COUNT] = {NULL};
    struct split_shares shares;
    enum error_code rc = list_of(g, g->root, "tasks", &task, err);
    if (rc == ERROR_NONE)
        rc = pipeline_split_shares(g->settings, &shares, err);
    if (rc != ERROR_NONE || !task || pipeline_learns_pairs(g->settings))
        return rc;
    g->labels = (struct label_table){.path = g->metadata,
                                     .node_count = g->node_count,
                                     .task = (enum task_kind)g->settings->ingest.task};
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = list_of(g, task, key[s], &set[s], err);
        if (rc == ERROR_NONE && set[s])
            rc = read_set(g, set[s], err);
    }
    if (rc == ERROR_NONE && g->labels.column_count)
        rc = label_table_push(&g->labels, 0, g->builder, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT && !shares.is_random; s++)
        if (set[s])
            rc = push_seeds(g, set[s], (enum split)s, err);
    label_table_release(&g->labels);
    return rc;
}

enum error_code graphbolt_reader_run(const struct pipeline_settings *settings,
                                     struct dataset_builder *builder, struct error *err)
{
    struct graphbolt g = {.settings = settings, .builder = builder};
    enum error_code rc = read_metadata(&g, err);
    if (rc == ERROR_NONE)
        rc = read_nodes(&g, err);
    if (rc == ERROR_NONE)
        rc = read_edges(&g, err);
    if (rc == ERROR_NONE)
        rc = read_features(&g, err);
    if (rc == ERROR_NONE)
        rc = read_task(&g, err);
    yaml_tree_free(g.root);
    return rc == ERROR_NONE ? held_edge_files_push(settings, NULL, builder, err) : rc;
}
