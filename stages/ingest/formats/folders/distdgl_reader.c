/*
 * distdgl_reader - a graph in the chunks that DistDGL's partitioning pipeline reads (format:
 * distdgl).
 *
 *   metadata.json
 *     node_type            ["user", "item"]       names; the types follow each other in this order
 *     num_nodes_per_chunk  [[3, 2], [4]]          for each type, the nodes of each chunk; or
 *                                                 num_nodes_per_type [5, 4]
 *     edge_type            ["user:likes:item"]
 *     num_edges_per_chunk  [[7, 8]]               checked, if given
 *     edges                {"user:likes:item": {"format": {"name": "csv", "delimiter": " "},
 *                          "data": ["edges/0.txt", ...]}}
 *     node_data            {"user": {"feat": {"format": {"name": "numpy"}, "data": ["feat-0.npy",
 *                          ...]}, "label": ..., "train_mask": ..., "val_mask": ..., "test_mask":
 *                          ...}}
 *
 * Edges have the numbers that their ends have within their types. Paths are relative to the folder,
 * or absolute. Formats are csv (without a header) and numpy; parquet is refused with a message that
 * names it. Data of edges, and other data of nodes, are not read.
 *
 * Format: DGL's "Distributed graph partitioning pipeline" (tools/distpartitioning, chunk_graph.py).
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/ingest/formats/folders/typed_graph.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { METADATA_BYTES_MAX = 64 << 20, CHUNKS_MAX = 1 << 16 };

struct chunked { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char metadata[FILE_PATH_SIZE]; /* path of metadata.json */
    struct json_document *document;
    struct typed_graph *graph;
    struct chunk_rows *chunk; /* [chunk_count], the chunks of features */
    size_t chunk_count, chunk_capacity;
};

struct chunk_rows {
    struct typed_rows rows;
    char path[FILE_PATH_SIZE];
};

/* The entry of an array or of edges: its `format` and `data`. */
struct chunk_files {
    const char *name;             /* name of the array, for messages */
    const struct json_node *data; /* a list of paths */
    bool is_csv;
    enum delimiter delimiter;
};

static enum error_code wrong(const struct chunked *c, const char *key, const char *expected,
                             struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s: \"%s\": expected %s", c->metadata, key, expected);
}

static enum error_code read_metadata(struct chunked *c, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_path(c->metadata, err, "%s/metadata.json", c->settings->ingest.path);
    if (rc == ERROR_NONE)
        rc = file_read(c->metadata, METADATA_BYTES_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        rc = error_set(err, rc, "%s: expected metadata.json, found no such file",
                       c->settings->ingest.path);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, c->metadata, &c->document, err);
    memory_free(text);
    return rc;
}

static const struct json_node *root_of(const struct chunked *c)
{
    return json_root(c->document);
}

/* --- types --- */

/* Adds up a list of counts, one for each chunk; or reads a single count. */
static enum error_code sum_of(const struct chunked *c, const char *key,
                              const struct json_node *node, uint64_t *sum, struct error *err)
{
    const bool is_list = json_node_is_array(node);
    const size_t count = is_list ? json_count(node) : 1;
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = -1;
        if (!json_int64(is_list ? json_at(node, i) : node, &value) || value < 0 ||
            value > UINT32_MAX * (int64_t)CHUNKS_MAX)
            return wrong(c, key, "for each type a list of counts, one a chunk", err);
        *sum += (uint64_t)value;
    }
    return ERROR_NONE;
}

/* The names that DGL's tools have given to the counts of a chunk, or of a type. */
enum { COUNT_NAMES = 3 };
static const char *const node_counts[COUNT_NAMES] = {"num_nodes_per_chunk", "num_nodes_per_type",
                                                     "num_nodes"};
static const char *const edge_counts[COUNT_NAMES] = {"num_edges_per_chunk", "num_edges_per_type",
                                                     "num_edges"};

/* Finds the list of counts under one of the keys. It must be as long as the list `types`. */
static enum error_code counts_of(const struct chunked *c, const char *const keys[COUNT_NAMES],
                                 const struct json_node *types, const struct json_node **out,
                                 const char **found, struct error *err)
{
    *found = keys[0];
    *out = NULL;
    for (int i = 0; !*out && i < COUNT_NAMES; i++) {
        *out = json_get(root_of(c), keys[i]);
        if (*out)
            *found = keys[i];
    }
    if (*out && (!json_node_is_array(*out) || json_count(*out) != json_count(types)))
        return wrong(c, *found, "a list as long as that of types", err);
    return ERROR_NONE;
}

static enum error_code read_types(const struct chunked *c, struct error *err)
{
    const struct json_node *types = json_get(root_of(c), "node_type"), *counts = NULL;
    const char *key = NULL;
    if (!json_node_is_array(types) || json_count(types) == 0)
        return wrong(c, "node_type", "a list of names", err);
    enum error_code rc = counts_of(c, node_counts, types, &counts, &key, err);
    if (rc == ERROR_NONE && !counts)
        return wrong(c, key, "for each type a list of counts, one a chunk, found nothing", err);
    for (size_t t = 0; rc == ERROR_NONE && t < json_count(types); t++) {
        uint64_t count = 0;
        const char *name = json_text(json_at(types, t));
        if (!name)
            return wrong(c, "node_type", "a list of names", err);
        rc = sum_of(c, key, json_at(counts, t), &count, err);
        if (rc == ERROR_NONE)
            rc = typed_graph_add_type(c->graph, 0, name, count, err);
    }
    return rc;
}

static enum error_code read_relations(const struct chunked *c, struct error *err)
{
    const struct json_node *types = json_get(root_of(c), "edge_type");
    enum error_code rc = ERROR_NONE;
    if (!json_node_is_array(types) || json_count(types) == 0)
        return wrong(c, "edge_type", "a list of relations as source:name:target", err);
    for (size_t t = 0; rc == ERROR_NONE && t < json_count(types); t++) {
        const char *name = json_text(json_at(types, t));
        if (!name || !strchr(name, ':'))
            return wrong(c, "edge_type", "a list of relations as source:name:target", err);
        rc = typed_graph_add_relation(c->graph, 0, name, err);
    }
    return rc == ERROR_NONE ? typed_graph_declare(c->graph, STATED_DIRECTED, err) : rc;
}

/* --- files --- */

static enum error_code wrong_files(const struct chunked *c, const struct chunk_files *files,
                                   const char *expected, struct error *err)
{
    return wrong(c, files->name, expected, err);
}

static enum error_code take_format(const struct chunked *c, const struct json_node *node,
                                   struct chunk_files *files, struct error *err)
{
    const struct json_node *format = json_get(node, "format");
    const char *name = json_text(json_get(format, "name"));
    const char *delimiter = json_text(json_get(format, "delimiter"));
    files->data = json_get(node, "data");
    files->is_csv = name && strcmp(name, "csv") == 0;
    files->delimiter = DELIMITER_BLANKS;
    if (name && strcmp(name, "parquet") == 0)
        return wrong_files(
            c, files,
            "csv or numpy, found parquet (duckdb -c \"COPY (SELECT * FROM 'a.parquet') "
            "TO 'a.csv' (HEADER false)\" makes csv of it)",
            err);
    if (!name || (!files->is_csv && strcmp(name, "numpy") != 0))
        return wrong_files(c, files, "{\"format\": {\"name\": \"csv\" or \"numpy\"}, ...}", err);
    if (!json_node_is_array(files->data) || json_count(files->data) == 0)
        return wrong_files(c, files, "{\"data\": [files], ...}", err);
    if (delimiter && strcmp(delimiter, ",") == 0)
        files->delimiter = DELIMITER_COMMA;
    else if (delimiter && strcmp(delimiter, "\t") == 0)
        files->delimiter = DELIMITER_TAB;
    else if (delimiter && strcmp(delimiter, " ") != 0)
        return wrong_files(c, files, "a delimiter that is a blank, a comma or a tab", err);
    return ERROR_NONE;
}

static enum error_code path_of(const struct chunked *c, const struct chunk_files *files, size_t i,
                               char path[FILE_PATH_SIZE], struct error *err)
{
    const char *text = json_text(json_at(files->data, i));
    if (!text || !text[0])
        return wrong_files(c, files, "paths of files below \"data\"", err);
    const enum error_code rc = text[0] == '/'
                                   ? file_path(path, err, "%s", text)
                                   : file_path(path, err, "%s/%s", c->settings->ingest.path, text);
    if (rc == ERROR_NONE && files->is_csv == input_files_ends_in(path, ".npy"))
        return error_set(err, ERROR_INPUT, "%s: \"%s\": expected %s, found %s", c->metadata,
                         files->name,
                         files->is_csv ? "files of text, as the format is csv"
                                       : "files .npy, as the format is numpy",
                         text);
    return rc;
}

/* --- edges --- */

static enum error_code push_relation(const struct chunked *c, uint32_t relation,
                                     const struct chunk_files *files,
                                     const struct json_node *expected, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    uint64_t sum = 0, want = 0;
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(files->data); i++) {
        char path[FILE_PATH_SIZE];
        uint64_t rows = 0;
        rc = path_of(c, files, i, path, err);
        if (rc == ERROR_NONE)
            rc = typed_graph_push_edges(c->graph, relation, path, files->delimiter, &rows, err);
        sum += rows;
    }
    if (rc != ERROR_NONE || !expected)
        return rc;
    rc = sum_of(c, "num_edges_per_chunk", expected, &want, err);
    if (rc == ERROR_NONE && want != sum)
        return error_set(err, ERROR_INPUT,
                         "%s: \"%s\": expected %" PRIu64
                         " edges as num_edges_per_chunk says, found "
                         "%" PRIu64,
                         c->metadata, files->name, want, sum);
    return rc;
}

static enum error_code read_edges(const struct chunked *c, struct error *err)
{
    const struct json_node *types = json_get(root_of(c), "edge_type"), *counts = NULL;
    const struct json_node *edges = json_get(root_of(c), "edges");
    const char *key = NULL;
    enum error_code rc = counts_of(c, edge_counts, types, &counts, &key, err);
    for (size_t t = 0; rc == ERROR_NONE && t < json_count(types); t++) {
        struct chunk_files files = {.name = json_text(json_at(types, t))};
        const struct json_node *node = json_get(edges, files.name);
        if (!node)
            return wrong(c, "edges", "files for each relation of edge_type", err);
        rc = take_format(c, node, &files, err);
        if (rc == ERROR_NONE)
            rc = push_relation(c, (uint32_t)t, &files, counts ? json_at(counts, t) : NULL, err);
    }
    return rc;
}

/* --- nodes --- */

/* Handles a chunk of an array of nodes. */
typedef enum error_code (*chunk_taker)(struct chunked *c, const struct typed_rows *rows,
                                       struct error *err);

static enum error_code take_features(struct chunked *c, const struct typed_rows *rows,
                                     struct error *err)
{
    const enum error_code rc =
        memory_grow(&c->chunk, &c->chunk_capacity, c->chunk_count + 1, "paths of features", err);
    if (rc != ERROR_NONE)
        return rc;
    struct chunk_rows *chunk = &c->chunk[c->chunk_count++];
    chunk->rows = *rows;
    (void)snprintf(chunk->path, sizeof chunk->path, "%s", rows->path);
    return ERROR_NONE;
}

static enum error_code take_labels(struct chunked *c, const struct typed_rows *rows,
                                   struct error *err)
{
    return typed_graph_take_labels(c->graph, rows, NULL, err);
}

static enum error_code take_train(struct chunked *c, const struct typed_rows *rows,
                                  struct error *err)
{
    return typed_graph_take_mask(c->graph, rows, SPLIT_TRAIN, err);
}

static enum error_code take_valid(struct chunked *c, const struct typed_rows *rows,
                                  struct error *err)
{
    return typed_graph_take_mask(c->graph, rows, SPLIT_VALID, err);
}

static enum error_code take_test(struct chunked *c, const struct typed_rows *rows,
                                 struct error *err)
{
    return typed_graph_take_mask(c->graph, rows, SPLIT_TEST, err);
}

static const struct known_array {
    const char *name[3];
    chunk_taker take;
} known[] = {{{"feat", "features"}, take_features},
             {{"label", "labels"}, take_labels},
             {{"train_mask"}, take_train},
             {{"val_mask", "valid_mask"}, take_valid},
             {{"test_mask"}, take_test}};

/* Finds the number of rows of chunk i of a type: num_nodes_per_chunk has it, unless there is one
 * file with all rows. */
static enum error_code rows_of(const struct chunked *c, const struct chunk_files *files,
                               uint32_t type, size_t i, uint64_t *rows, struct error *err)
{
    const size_t count = json_count(files->data);
    const struct json_node *chunks =
        json_at(json_get(root_of(c), "num_nodes_per_chunk"), (size_t)type);
    int64_t value = 0;
    *rows = typed_graph_type_size(c->graph, type);
    if (count == 1)
        return ERROR_NONE;
    if (!json_node_is_array(chunks) || json_count(chunks) != count)
        return wrong_files(c, files, "one file, or as many as num_nodes_per_chunk has counts", err);
    (void)json_int64(json_at(chunks, i), &value); /* read_types() has checked it */
    *rows = (uint64_t)value;
    return ERROR_NONE;
}

static enum error_code take_array(struct chunked *c, uint32_t type, const char *name,
                                  const struct json_node *node, chunk_taker take, struct error *err)
{
    struct chunk_files files = {.name = name};
    char path[FILE_PATH_SIZE];
    struct typed_rows rows = {.type = type, .path = path};
    enum error_code rc = take_format(c, node, &files, err);
    if (rc == ERROR_NONE && files.is_csv && files.delimiter != DELIMITER_COMMA)
        rc = wrong_files(c, &files, "the delimiter \",\" of text with data of nodes", err);
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(files.data); i++) {
        rc = path_of(c, &files, i, path, err);
        if (rc == ERROR_NONE)
            rc = rows_of(c, &files, type, i, &rows.count, err);
        if (rc == ERROR_NONE && rows.count)
            rc = take(c, &rows, err);
        rows.first += rows.count;
    }
    return rc;
}

static enum error_code read_type_data(struct chunked *c, uint32_t type,
                                      const struct json_node *arrays, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t k = 0; rc == ERROR_NONE && k < sizeof known / sizeof *known; k++)
        for (int i = 0; rc == ERROR_NONE && known[k].name[i]; i++) {
            const struct json_node *node = json_get(arrays, known[k].name[i]);
            if (node)
                rc = take_array(c, type, known[k].name[i], node, known[k].take, err);
        }
    return rc;
}

static enum error_code read_node_data(struct chunked *c, struct error *err)
{
    const struct json_node *data = json_get(root_of(c), "node_data");
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(data); i++) {
        const struct json_node *arrays = NULL;
        const char *name = json_member(data, i, &arrays);
        uint32_t type = 0;
        if (!name || !json_node_is_object(arrays))
            return wrong(c, "node_data", "an object of arrays for each node type", err);
        rc = typed_graph_type(c->graph, 0, name, &type, err);
        if (rc == ERROR_NONE)
            rc = read_type_data(c, type, arrays, err);
    }
    return rc;
}

static enum error_code push_features(const struct chunked *c, struct error *err)
{
    struct typed_rows *rows = NULL;
    enum error_code rc = memory_new(&rows, c->chunk_count + 1, "files of features", err);
    for (size_t i = 0; rc == ERROR_NONE && i < c->chunk_count; i++) {
        rows[i] = c->chunk[i].rows;
        rows[i].path = c->chunk[i].path;
    }
    if (rc == ERROR_NONE)
        rc = typed_graph_push_features(c->graph, rows, (uint32_t)c->chunk_count, err);
    memory_free(rows);
    return rc;
}

static enum error_code distdgl_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                   struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct chunked c = {.settings = settings, .builder = builder};
    enum error_code rc = read_metadata(&c, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_new(settings, builder, c.metadata, &c.graph, err);
    if (rc == ERROR_NONE)
        rc = read_types(&c, err);
    if (rc == ERROR_NONE)
        rc = read_relations(&c, err);
    if (rc == ERROR_NONE)
        rc = read_edges(&c, err);
    if (rc == ERROR_NONE)
        rc = read_node_data(&c, err);
    if (rc == ERROR_NONE)
        rc = push_features(&c, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_push_targets(c.graph, err);
    typed_graph_free(c.graph);
    memory_free(c.chunk);
    json_free(c.document);
    return rc;
}

const struct input_format distdgl_format = {
    .has_folders = true,
    .endings = {".json", ".npy", ".csv", ".csv.gz", ".csv.zst", ".txt"},
    .advice = {"add \"label\" to the arrays of a type below \"node_data\"",
               "add \"train_mask\" to them, or write `split: random 60/20/20` below `ingest:`"},
    .form = "mend it so that metadata.json lists types, chunks and their csv and numpy files, as "
            "DGL's chunk_graph writes them",
    .run = distdgl_run,
};
