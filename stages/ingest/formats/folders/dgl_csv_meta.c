#include "stages/ingest/formats/folders/dgl_csv_meta.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <string.h>

enum { META_BYTES_MAX = 1 << 20 };

static const struct yaml_node *get(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = map && map->kind == YAML_MAP ? map->first : NULL;
    while (node && strcmp(node->key, key) != 0)
        node = node->next;
    return node;
}

/* Returns the text of the key, or `other` if there is none. */
static const char *text_or(const struct yaml_node *map, const char *key, const char *other)
{
    const struct yaml_node *node = get(map, key);
    return node && node->kind == YAML_SCALAR && node->text[0] ? node->text : other;
}

static enum error_code wrong(const struct dgl_csv_meta *meta, int line, const char *expected,
                             struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%d: expected %s", meta->path, line, expected);
}

static enum error_code read_yaml(const char *folder, struct dgl_csv_meta *meta, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_path(meta->path, err, "%s/meta.yaml", folder);
    if (rc == ERROR_NONE)
        rc = file_read(meta->path, META_BYTES_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        rc = error_set(err, rc, "%s: expected meta.yaml, found no such file", folder);
    if (rc == ERROR_NONE)
        rc = yaml_parse(text, size, meta->path, &meta->root, err);
    memory_free(text);
    return rc == ERROR_INVALID ? ERROR_INPUT : rc;
}

static enum error_code take_delimiter(struct dgl_csv_meta *meta, struct error *err)
{
    const struct yaml_node *node = get(meta->root, "separator");
    const char *text = node && node->kind == YAML_SCALAR ? node->text : ",";
    meta->delimiter = DELIMITER_COMMA;
    if (strcmp(text, "\t") == 0)
        meta->delimiter = DELIMITER_TAB;
    else if (strcmp(text, " ") == 0)
        meta->delimiter = DELIMITER_BLANKS;
    else if (strcmp(text, ",") != 0)
        return wrong(meta, node->line, "a `separator:` that is a comma, a tab or a blank", err);
    return ERROR_NONE;
}

static enum error_code take_path(const char *folder, const struct dgl_csv_meta *meta,
                                 const struct yaml_node *item, struct dgl_csv_file *file,
                                 struct error *err)
{
    const char *name = text_or(item, "file_name", NULL);
    file->line = item->line;
    if (!name)
        return wrong(meta, item->line, "`file_name:` with the name of a file", err);
    return file_path(file->path, err, "%s/%s", folder, name);
}

/* Reads etype: [user, likes, item]. It may be missing if there is one node type. */
static enum error_code take_relation(const struct dgl_csv_meta *meta, const struct yaml_node *item,
                                     struct dgl_csv_file *file, struct error *err)
{
    const struct yaml_node *list = get(item, "etype"), *part = NULL;
    size_t size = 0;
    /* a relation between nodes of the one type */
    if (!list)
        return ERROR_NONE;
    part = list->kind == YAML_LIST && list->count == 3 ? list->first : NULL;
    for (int i = 0; i < 3 && part && part->kind == YAML_SCALAR; i++, part = part->next)
        size += (size_t)snprintf(file->relation + size, sizeof file->relation - size, "%s%s",
                                 i ? ":" : "", part->text);
    if (size == 0 || part || size >= sizeof file->relation)
        return wrong(meta, list->line,
                     "`etype:` with the node type of sources, a name, and the node type of targets",
                     err);
    return ERROR_NONE;
}

/* Returns the list below `key`, which must have at least one item. */
static enum error_code items_of(const struct dgl_csv_meta *meta, const char *key,
                                const struct yaml_node **list, struct error *err)
{
    *list = get(meta->root, key);
    if (*list && (*list)->kind == YAML_LIST && (*list)->count >= 1 &&
        (*list)->count <= DGL_CSV_FILES_MAX)
        return ERROR_NONE;
    return wrong(meta, *list ? (*list)->line : 1,
                 strcmp(key, "node_data") == 0 ? "`node_data:` with a list of 1 to 128 files"
                                               : "`edge_data:` with a list of 1 to 128 files",
                 err);
}

static enum error_code read_nodes(const char *folder, struct dgl_csv_meta *meta, struct error *err)
{
    const struct yaml_node *list = NULL;
    enum error_code rc = items_of(meta, "node_data", &list, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&meta->nodes, list->count, "files of nodes", err);
    for (const struct yaml_node *item = rc == ERROR_NONE ? list->first : NULL;
         rc == ERROR_NONE && item; item = item->next) {
        struct dgl_csv_file *file = &meta->nodes[meta->node_count++];
        file->type = text_or(item, "ntype", "_N");
        file->id = text_or(item, "node_id_field", "node_id");
        rc = take_path(folder, meta, item, file, err);
    }
    return rc;
}

static enum error_code read_edges(const char *folder, struct dgl_csv_meta *meta, struct error *err)
{
    const struct yaml_node *list = NULL;
    enum error_code rc = items_of(meta, "edge_data", &list, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&meta->edges, list->count, "files of edges", err);
    for (const struct yaml_node *item = rc == ERROR_NONE ? list->first : NULL;
         rc == ERROR_NONE && item; item = item->next) {
        struct dgl_csv_file *file = &meta->edges[meta->edge_count++];
        file->source = text_or(item, "src_id_field", "src_id");
        file->target = text_or(item, "dst_id_field", "dst_id");
        rc = take_path(folder, meta, item, file, err);
        if (rc == ERROR_NONE)
            rc = take_relation(meta, item, file, err);
    }
    return rc;
}

enum error_code dgl_csv_meta_read(const char *folder, struct dgl_csv_meta *meta, struct error *err)
{
    enum error_code rc = read_yaml(folder, meta, err);
    const struct yaml_node *graphs = rc == ERROR_NONE ? get(meta->root, "graph_data") : NULL;
    if (graphs)
        rc =
            wrong(meta, graphs->line,
                  "a data set of one graph; many, of which each has a label, go into a folder with "
                  "node-graph.csv and graph-label.csv (format: folder)",
                  err);
    if (rc == ERROR_NONE)
        rc = take_delimiter(meta, err);
    if (rc == ERROR_NONE)
        rc = read_nodes(folder, meta, err);
    return rc == ERROR_NONE ? read_edges(folder, meta, err) : rc;
}

void dgl_csv_meta_release(struct dgl_csv_meta *meta)
{
    memory_free(meta->nodes);
    memory_free(meta->edges);
    yaml_tree_free(meta->root);
    *meta = (struct dgl_csv_meta){0};
}
