/*
 * Writes graph and partition for DGL's distributed partitioning (tools/dispatch_data.py), which
 * makes part0/, part1/, ... from these files:
 *
 *   metadata.json                   "Chunked Graph Format" of DGL's guide; a chunk of edges is a
 *                                   part of the partition
 *   edges/<relation>-<part>.csv     lines "source target"
 *   edge_data/<relation>-<column>-<part>.npy
 *   node_data/<type>-<array>.npy    feat, label, train_mask, val_mask, test_mask
 *   partition/<type>.txt            line i: the part of node i
 *   partition/partition_meta.json
 *   ids/<type>.csv, README.txt
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "pipelines/export/graph_tables.h"
#include "store/records/partition/partition_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char introduction[] =
    "A graph and its partition for DGL's distributed training.\n\n"
    "    python3 dgl/tools/dispatch_data.py --in-dir . --partitions-dir partition --out-dir OUT "
    "--ip-config IPS\n\n"
    "makes the part folders that DistGraph loads (with --use-graphbolt those of GraphBolt). "
    "`ingest: {format: distdgl}` of graphmill reads\nthis folder, too.\n";

struct distdgl { /* state of one export */
    struct graph_tables tables;
    struct json_writer metadata;
    int parts;
};

/* Formats a name such as "edges/likes-0.csv". */
__attribute__((format(printf, 3, 4))) static enum error_code
name_file(char out[FILE_PATH_SIZE], struct error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(out, FILE_PATH_SIZE, format, arguments);
    va_end(arguments);
    return size < FILE_PATH_SIZE ? ERROR_NONE
                                 : error_set(err, ERROR_INVALID, "the name %s is too long", out);
}

static void put_format(struct json_writer *json, bool is_text)
{
    json_open_object(json, "format");
    json_put_string(json, "name", is_text ? "csv" : "numpy");
    if (is_text)
        json_put_string(json, "delimiter", " ");
    json_close_object(json);
}

/* --- counts, under the names that the tools had and have --- */

static uint64_t edges_of(const struct distdgl *d, uint32_t relation)
{
    uint64_t count = 0;
    for (int part = 0; part < d->parts; part++)
        count += graph_tables_edges(&d->tables, relation, part);
    return count;
}

static void put_types(struct distdgl *d)
{
    struct json_writer *json = &d->metadata;
    const uint32_t types = d->tables.type_count;
    json_open_array(json, "node_type");
    for (uint32_t t = 0; t < types; t++)
        json_put_string(json, NULL, graph_tables_type(&d->tables, t));
    json_close_array(json);
    json_open_array(json, "num_nodes_per_type");
    for (uint32_t t = 0; t < types; t++)
        json_put_int64(json, NULL, graph_tables_type_size(&d->tables, t));
    json_close_array(json);
    json_open_array(json, "num_nodes_per_chunk");
    for (uint32_t t = 0; t < types; t++) {
        json_open_array(json, NULL);
        json_put_int64(json, NULL, graph_tables_type_size(&d->tables, t));
        json_close_array(json);
    }
    json_close_array(json);
}

static void put_relations(struct distdgl *d)
{
    struct json_writer *json = &d->metadata;
    const uint32_t relations = d->tables.relation_count;
    char name[FILE_PATH_SIZE];
    json_open_array(json, "edge_type");
    for (uint32_t r = 0; r < relations; r++) {
        graph_tables_relation(&d->tables, r, name);
        json_put_string(json, NULL, name);
    }
    json_close_array(json);
    json_open_array(json, "num_edges_per_type");
    for (uint32_t r = 0; r < relations; r++)
        json_put_int64(json, NULL, (int64_t)edges_of(d, r));
    json_close_array(json);
    json_open_array(json, "num_edges_per_chunk");
    for (uint32_t r = 0; r < relations; r++) {
        json_open_array(json, NULL);
        for (int part = 0; part < d->parts; part++)
            json_put_int64(json, NULL, (int64_t)graph_tables_edges(&d->tables, r, part));
        json_close_array(json);
    }
    json_close_array(json);
}

/* --- edges --- */

/* Writes the relation's name as a part of a path. Not every file system allows colons. */
static void stem_of(const struct distdgl *d, uint32_t relation, char out[FILE_PATH_SIZE])
{
    graph_tables_relation(&d->tables, relation, out);
    for (char *c = out; *c; c++)
        if (*c == ':')
            *c = '.';
}

static enum error_code put_relation_edges(struct distdgl *d, uint32_t relation, struct error *err)
{
    struct json_writer *json = &d->metadata;
    char stem[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    graph_tables_relation(&d->tables, relation, stem);
    json_open_object(json, stem);
    put_format(json, true);
    json_open_array(json, "data");
    stem_of(d, relation, stem);
    for (int part = 0; rc == ERROR_NONE && part < d->parts; part++) {
        rc = name_file(path, err, "edges/%s-%d.csv", stem, part);
        if (rc == ERROR_NONE)
            rc = graph_tables_put_text(&d->tables, relation, part, path, err);
        json_put_string(json, NULL, path);
    }
    json_close_array(json);
    json_close_object(json);
    return rc;
}

static enum error_code put_column(struct distdgl *d, uint32_t relation, enum edge_column column,
                                  struct error *err)
{
    struct json_writer *json = &d->metadata;
    char stem[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    stem_of(d, relation, stem);
    json_open_object(json, edge_column_shown(column));
    put_format(json, false);
    json_open_array(json, "data");
    for (int part = 0; rc == ERROR_NONE && part < d->parts; part++) {
        rc = name_file(path, err, "edge_data/%s-%s-%d.npy", stem, edge_column_shown(column), part);
        if (rc == ERROR_NONE)
            rc = graph_tables_put_column(&d->tables, relation, part, part + 1, column, path, err);
        json_put_string(json, NULL, path);
    }
    json_close_array(json);
    json_close_object(json);
    return rc;
}

static enum error_code put_edges(struct distdgl *d, struct error *err)
{
    struct json_writer *json = &d->metadata;
    char name[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    json_open_object(json, "edges");
    for (uint32_t r = 0; rc == ERROR_NONE && r < d->tables.relation_count; r++)
        rc = put_relation_edges(d, r, err);
    json_close_object(json);
    json_open_object(json, "edge_data");
    for (uint32_t r = 0; rc == ERROR_NONE && r < d->tables.relation_count; r++) {
        graph_tables_relation(&d->tables, r, name);
        json_open_object(json, name);
        for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
            if (d->tables.topology.width.of[c])
                rc = put_column(d, r, (enum edge_column)c, err);
        json_close_object(json);
    }
    json_close_object(json);
    return rc;
}

/* --- nodes --- */

/* Adds an array of a type to the metadata; the caller writes its file. */
static enum error_code put_array(struct distdgl *d, uint32_t type, const char *array,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    struct json_writer *json = &d->metadata;
    const enum error_code rc =
        name_file(path, err, "node_data/%s-%s.npy", graph_tables_type(&d->tables, type), array);
    json_open_object(json, array);
    put_format(json, false);
    json_open_array(json, "data");
    json_put_string(json, NULL, path);
    json_close_array(json);
    json_close_object(json);
    return rc;
}

static enum error_code put_targets(struct distdgl *d, uint32_t type, struct error *err)
{
    static const char *const mask[SPLIT_COUNT] = {"train_mask", "val_mask", "test_mask"};
    char path[FILE_PATH_SIZE];
    enum error_code rc = put_array(d, type, "label", path, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_labels(&d->tables, SPLIT_COUNT, path, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = put_array(d, type, mask[s], path, err);
        if (rc == ERROR_NONE)
            rc = graph_tables_put_split(&d->tables, (enum split)s, true, path, err);
    }
    return rc;
}

static enum error_code put_type(struct distdgl *d, uint32_t type, struct error *err)
{
    const struct partition_book *book = &d->tables.folder->run.book;
    const char *name = graph_tables_type(&d->tables, type);
    char path[FILE_PATH_SIZE];
    bool has_ids = false;
    enum error_code rc = ERROR_NONE;
    json_open_object(&d->metadata, name);
    if (partition_book_dim(book, type)) {
        rc = put_array(d, type, "feat", path, err);
        if (rc == ERROR_NONE)
            rc = graph_tables_put_features(&d->tables, type, path, err);
    }
    if (rc == ERROR_NONE && d->tables.labels.row && type == book->target_type)
        rc = put_targets(d, type, err);
    json_close_object(&d->metadata);
    if (rc == ERROR_NONE)
        rc = name_file(path, err, "partition/%s.txt", name);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_parts(&d->tables, type, true, path, err);
    if (rc == ERROR_NONE)
        rc = name_file(path, err, "ids/%s.csv", name);
    return rc == ERROR_NONE ? graph_tables_put_ids(&d->tables, type, path, &has_ids, err) : rc;
}

/* Writes the metadata of the partition. The tools know only two names of algorithms. */
static enum error_code put_partition(const struct distdgl *d, struct error *err)
{
    const int64_t method = d->tables.folder->run.settings.partition.method;
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_string(&json, "algo_name", method == PARTITION_HASH ? "random" : "metis");
    json_put_int64(&json, "num_parts", d->parts);
    json_put_string(&json, "version", "1.0.0");
    json_close_object(&json);
    enum error_code rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_file(&d->tables, "partition/partition_meta.json", json.text,
                                   json.size, err);
    json_writer_release(&json);
    return rc;
}

static enum error_code put_all(struct distdgl *d, struct error *err)
{
    struct json_writer *json = &d->metadata;
    json_open_object(json, NULL);
    json_put_string(json, "graph_name", d->tables.folder->run.settings.name);
    put_types(d);
    put_relations(d);
    enum error_code rc = put_edges(d, err);
    json_open_object(json, "node_data");
    for (uint32_t t = 0; rc == ERROR_NONE && t < d->tables.type_count; t++)
        rc = put_type(d, t, err);
    json_close_object(json);
    json_close_object(json);
    json_put_raw(json, "\n");
    if (rc == ERROR_NONE)
        rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_file(&d->tables, "metadata.json", json->text, json->size, err);
    if (rc == ERROR_NONE)
        rc = put_partition(d, err);
    return rc == ERROR_NONE ? graph_tables_put_note(&d->tables, introduction, err) : rc;
}

enum error_code export_distdgl(const struct run_folder *folder, const char *output,
                               struct error *err)
{
    struct distdgl d = {.parts = folder->run.book.part_count};
    enum error_code rc = graph_tables_open(&d.tables, folder, output, err);
    if (rc == ERROR_NONE)
        rc = put_all(&d, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_finish(&d.tables, err);
    graph_tables_close(&d.tables);
    json_writer_release(&d.metadata);
    return rc;
}
