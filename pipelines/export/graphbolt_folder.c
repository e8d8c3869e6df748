/*
 * Writes graph and partition as a GraphBolt OnDiskDataset (graphbolt_reader.h shows the metadata).
 * The partition is a feature of the nodes:
 *
 *   metadata.yaml
 *   edges/<relation>.npy            int64 [2, edges]
 *   features/<type>-feat.npy        float32 [nodes, dim]
 *   features/<type>-part.npy        int64 [nodes, 1]: the part of each node
 *   features/<relation>-<column>.npy
 *   task/<split>-seeds.npy, task/<split>-labels.npy
 *   ids/<type>.csv, README.txt
 */
#include "common/base/memory.h"
#include "pipelines/export/graph_tables.h"
#include "pipelines/render/yaml_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char introduction[] =
    "A graph for DGL's GraphBolt, with the part of each node as its feature `part`.\n\n"
    "    dataset = dgl.graphbolt.OnDiskDataset(\".\").load()\n"
    "    part = dataset.feature.read(\"node\", None, \"part\")      # of several types: their name "
    "in place of None\n\n"
    "`ingest: {format: graphbolt}` of graphmill reads this folder, too.\n";

struct graphbolt { /* state of one export */
    struct graph_tables tables;
    struct yaml_writer yaml;
    bool has_types;
};

static void stem_of(const struct graphbolt *g, uint32_t relation, char out[FILE_PATH_SIZE])
{
    graph_tables_relation(&g->tables, relation, out);
    for (char *c = out; *c; c++)
        if (*c == ':')
            *c = '.';
}

/* Formats a name such as "features/paper-feat.npy". */
static enum error_code name_file(char out[FILE_PATH_SIZE], const char *folder, const char *stem,
                                 const char *array, struct error *err)
{
    return file_path(out, err, "%s/%s%s%s.npy", folder, stem, array[0] ? "-" : "", array);
}

static void put_path(struct graphbolt *g, const char *path)
{
    yaml_line(&g->yaml, "format: numpy");
    yaml_text(&g->yaml, "path", path);
}

static void put_type_name(struct graphbolt *g, uint32_t type)
{
    if (g->has_types)
        yaml_text(&g->yaml, "type", graph_tables_type(&g->tables, type));
}

/* --- the graph --- */

static void put_nodes(struct graphbolt *g)
{
    yaml_line(&g->yaml, "nodes:");
    for (uint32_t t = 0; t < g->tables.type_count; t++) {
        yaml_in(&g->yaml);
        yaml_dash(&g->yaml);
        put_type_name(g, t);
        yaml_line(&g->yaml, "num: %" PRIu32, graph_tables_type_size(&g->tables, t));
        yaml_out(&g->yaml, 1);
    }
}

static enum error_code put_edges(struct graphbolt *g, uint32_t relation, struct error *err)
{
    char name[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    stem_of(g, relation, name);
    enum error_code rc = name_file(path, "edges", name, "", err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_edges(&g->tables, relation, path, err);
    yaml_in(&g->yaml);
    yaml_dash(&g->yaml);
    graph_tables_relation(&g->tables, relation, name);
    if (g->has_types)
        yaml_text(&g->yaml, "type", name);
    put_path(g, path);
    yaml_out(&g->yaml, 1);
    return rc;
}

static enum error_code put_graph(struct graphbolt *g, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    yaml_line(&g->yaml, "graph:");
    yaml_in(&g->yaml);
    put_nodes(g);
    yaml_line(&g->yaml, "edges:");
    for (uint32_t r = 0; rc == ERROR_NONE && r < g->tables.relation_count; r++)
        rc = put_edges(g, r, err);
    yaml_out(&g->yaml, 1);
    return rc;
}

/* --- features --- */

static void open_feature(struct graphbolt *g, const char *domain, const char *name)
{
    yaml_in(&g->yaml);
    yaml_dash(&g->yaml);
    yaml_text(&g->yaml, "domain", domain);
    yaml_text(&g->yaml, "name", name);
}

static enum error_code put_feature(struct graphbolt *g, uint32_t type, const char *array,
                                   char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc =
        name_file(path, "features", graph_tables_type(&g->tables, type), array, err);
    open_feature(g, "node", array);
    put_type_name(g, type);
    put_path(g, path);
    yaml_out(&g->yaml, 1);
    return rc;
}

static enum error_code put_type(struct graphbolt *g, uint32_t type, struct error *err)
{
    const char *name = graph_tables_type(&g->tables, type);
    char path[FILE_PATH_SIZE];
    bool has_ids = false;
    enum error_code rc = put_feature(g, type, "part", path, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_parts(&g->tables, type, false, path, err);
    if (rc == ERROR_NONE && partition_book_dim(&g->tables.folder->run.book, type)) {
        rc = put_feature(g, type, "feat", path, err);
        if (rc == ERROR_NONE)
            rc = graph_tables_put_features(&g->tables, type, path, err);
    }
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "ids/%s.csv", name);
    return rc == ERROR_NONE ? graph_tables_put_ids(&g->tables, type, path, &has_ids, err) : rc;
}

static enum error_code put_column(struct graphbolt *g, uint32_t relation, enum edge_column column,
                                  struct error *err)
{
    char name[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    stem_of(g, relation, name);
    const enum error_code rc = name_file(path, "features", name, edge_column_shown(column), err);
    graph_tables_relation(&g->tables, relation, name);
    open_feature(g, "edge", edge_column_shown(column));
    if (g->has_types)
        yaml_text(&g->yaml, "type", name);
    put_path(g, path);
    yaml_out(&g->yaml, 1);
    return rc == ERROR_NONE
               ? graph_tables_put_column(&g->tables, relation, 0, g->tables.topology.part_count,
                                         column, path, err)
               : rc;
}

static enum error_code put_features(struct graphbolt *g, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    yaml_line(&g->yaml, "feature_data:");
    for (uint32_t t = 0; rc == ERROR_NONE && t < g->tables.type_count; t++)
        rc = put_type(g, t, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < g->tables.relation_count; r++)
        for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
            if (g->tables.topology.width.of[c])
                rc = put_column(g, r, (enum edge_column)c, err);
    return rc;
}

/* --- the task --- */

static void put_item(struct graphbolt *g, const char *name, const char *path)
{
    yaml_in(&g->yaml);
    yaml_dash(&g->yaml);
    yaml_text(&g->yaml, "name", name);
    put_path(g, path);
    yaml_out(&g->yaml, 1);
}

static enum error_code put_split(struct graphbolt *g, enum split split, struct error *err)
{
    static const char *const key[SPLIT_COUNT] = {"train_set", "validation_set", "test_set"};
    char seeds[FILE_PATH_SIZE], labels[FILE_PATH_SIZE];
    enum error_code rc = name_file(seeds, "task", key[split], "seeds", err);
    if (rc == ERROR_NONE)
        rc = name_file(labels, "task", key[split], "labels", err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_split(&g->tables, split, false, seeds, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_labels(&g->tables, split, labels, err);
    if (rc != ERROR_NONE)
        return rc;
    yaml_line(&g->yaml, "%s:", key[split]);
    yaml_in(&g->yaml);
    yaml_dash(&g->yaml);
    put_type_name(g, g->tables.folder->run.book.target_type);
    yaml_line(&g->yaml, "data:");
    put_item(g, "seeds", seeds);
    put_item(g, "labels", labels);
    yaml_out(&g->yaml, 1);
    return ERROR_NONE;
}

static enum error_code put_task(struct graphbolt *g, struct error *err)
{
    const struct task *task = task_of(g->tables.labels.task);
    enum error_code rc = ERROR_NONE;
    if (!g->tables.labels.row)
        return rc;
    yaml_line(&g->yaml, "tasks:");
    yaml_in(&g->yaml);
    yaml_dash(&g->yaml);
    yaml_line(&g->yaml, "name: %s", task->name);
    yaml_line(&g->yaml, "num_classes: %" PRIu32, g->tables.labels.class_count);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        if (g->tables.splits.count[s])
            rc = put_split(g, (enum split)s, err);
    yaml_out(&g->yaml, 1);
    return rc;
}

static enum error_code put_all(struct graphbolt *g, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    g->yaml.out = open_memstream(&text, &size);
    if (!g->yaml.out)
        return error_set(err, ERROR_NO_MEMORY, "no memory for metadata.yaml");
    yaml_text(&g->yaml, "dataset_name", g->tables.folder->run.settings.name);
    enum error_code rc = put_graph(g, err);
    if (rc == ERROR_NONE)
        rc = put_features(g, err);
    if (rc == ERROR_NONE)
        rc = put_task(g, err);
    if (fclose(g->yaml.out) != 0 && rc == ERROR_NONE)
        rc = error_set(err, ERROR_NO_MEMORY, "no memory for metadata.yaml");
    if (rc == ERROR_NONE)
        rc = graph_tables_put_file(&g->tables, "metadata.yaml", text, size, err);
    free(text); /* allocated by open_memstream() */
    return rc == ERROR_NONE ? graph_tables_put_note(&g->tables, introduction, err) : rc;
}

enum error_code export_graphbolt(const struct run_folder *folder, const char *output,
                                 struct error *err)
{
    struct graphbolt g = {.has_types = folder->run.book.type_count > 0};
    enum error_code rc = graph_tables_open(&g.tables, folder, output, err);
    if (rc == ERROR_NONE)
        rc = put_all(&g, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_finish(&g.tables, err);
    graph_tables_close(&g.tables);
    return rc;
}
