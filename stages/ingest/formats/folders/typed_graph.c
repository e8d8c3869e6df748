#include "stages/ingest/formats/folders/typed_graph.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/folders/folder_edges.h"
#include "stages/ingest/formats/folders/folder_meta.h"
#include "stages/ingest/formats/folders/type_feature_files.h"
#include "stages/ingest/formats/folders/typed_labels.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct split_nodes { /* the nodes of one split, by their numbers in the graph */
    int64_t *node;
    size_t count, capacity;
    char where[FILE_PATH_SIZE]; /* the file of the first nodes */
    int64_t first_line;
};

struct typed_graph {
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    const char *where;
    struct folder_meta meta; /* the types */
    struct label_table labels;
    struct split_nodes split[SPLIT_COUNT];
};

enum error_code typed_graph_new(const struct pipeline_settings *settings,
                                struct dataset_builder *builder, const char *where,
                                struct typed_graph **out, struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "the types of a graph", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->settings = settings;
    (*out)->builder = builder;
    (*out)->where = where;
    return ERROR_NONE;
}

void typed_graph_free(struct typed_graph *graph)
{
    if (!graph)
        return;
    label_table_release(&graph->labels);
    for (int s = 0; s < SPLIT_COUNT; s++)
        memory_free(graph->split[s].node);
    memory_free(graph);
}

/* --- types --- */

/* Reports an error at "metadata.yaml:7", or in the file as a whole. */
static enum error_code wrong(const struct typed_graph *graph, int64_t line, const char *expected,
                             const char *found, struct error *err)
{
    if (!line)
        return error_set(err, ERROR_INPUT, "%s: expected %s, found '%.80s'", graph->where, expected,
                         found);
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s, found '%.80s'", graph->where,
                     line, expected, found);
}

static int find_type(const struct typed_graph *graph, const char *name, size_t size)
{
    const struct folder_meta *meta = &graph->meta;
    for (uint32_t i = 0; i < meta->node_type_count; i++)
        if (strlen(meta->node_type[i].name) == size &&
            memcmp(meta->node_type[i].name, name, size) == 0)
            return (int)i;
    return -1;
}

enum error_code typed_graph_add_type(struct typed_graph *graph, int64_t line, const char *name,
                                     uint64_t count, struct error *err)
{
    struct folder_meta *meta = &graph->meta;
    struct node_type *type = &meta->node_type[meta->node_type_count];
    const size_t size = strlen(name);
    if (size == 0 || size >= TYPE_NAME_SIZE)
        return wrong(graph, line, "a node type whose name has 1 to 159 bytes", name, err);
    if (find_type(graph, name, size) >= 0)
        return wrong(graph, line, "each node type once", name, err);
    if (meta->node_type_count == NODE_TYPE_COUNT_MAX)
        return wrong(graph, line, "fewer node types", name, err);
    if (count > UINT32_MAX - 1 - meta->node_count)
        return wrong(graph, line, "fewer than 2^32 - 1 nodes in all, up to this type", name, err);
    (void)snprintf(type->name, sizeof type->name, "%s", name);
    type->first_node = (uint32_t)meta->node_count;
    type->node_count = (uint32_t)count;
    meta->node_count += count;
    meta->node_type_count++;
    return ERROR_NONE;
}

/* Splits source:name:target into its three parts; false unless it has exactly two colons. */
static bool split_relation(const char *relation, const char *part[3], size_t size[3])
{
    for (int i = 0; i < 3; i++) {
        const char *end = strchr(relation, ':');
        if ((i < 2) != (end != NULL))
            return false;
        part[i] = relation;
        size[i] = end ? (size_t)(end - relation) : strlen(relation);
        relation = end ? end + 1 : relation;
    }
    return true;
}

enum error_code typed_graph_add_relation(struct typed_graph *graph, int64_t line,
                                         const char *relation, struct error *err)
{
    struct folder_meta *meta = &graph->meta;
    struct edge_type *type = &meta->edge_type[meta->edge_type_count];
    const char *text = relation && relation[0] ? relation : "edge", *part[3] = {"", text, ""};
    size_t size[3] = {0, strlen(text), 0};
    int end[2] = {0, 0};
    if (meta->edge_type_count == EDGE_TYPE_COUNT_MAX)
        return wrong(graph, line, "fewer relations", text, err);
    const bool is_whole = split_relation(text, part, size);
    if (!is_whole && (meta->node_type_count > 1 || strchr(text, ':')))
        return wrong(graph, line, "a relation as source:name:target, with the types of both ends",
                     text, err);
    for (size_t i = 0; is_whole && i < 2; i++)
        end[i] = find_type(graph, part[2 * i], size[2 * i]);
    if (end[0] < 0 || end[1] < 0)
        return wrong(graph, line, "a relation between existing node types", text, err);
    if (size[1] == 0 || size[1] >= TYPE_NAME_SIZE)
        return wrong(graph, line, "a relation whose name has 1 to 159 bytes", text, err);
    type->source_type = (uint16_t)end[0];
    type->target_type = (uint16_t)end[1];
    memcpy(type->name, part[1], size[1]);
    for (uint32_t i = 0; i < meta->edge_type_count; i++)
        if (meta->edge_type[i].source_type == end[0] && meta->edge_type[i].target_type == end[1] &&
            strcmp(meta->edge_type[i].name, type->name) == 0)
            return wrong(graph, line, "each relation once", text, err);
    meta->edge_type_count++;
    return ERROR_NONE;
}

/* Makes relation names unique: relations that share a name get the names of their types, too:
 * user_likes_item. */
static enum error_code tell_apart(struct folder_meta *meta, const struct typed_graph *graph,
                                  struct error *err)
{
    bool is_shared[EDGE_TYPE_COUNT_MAX] = {false};
    for (uint32_t i = 0; i < meta->edge_type_count; i++)
        for (uint32_t k = 0; k < meta->edge_type_count; k++)
            is_shared[i] |= k != i && strcmp(meta->edge_type[i].name, meta->edge_type[k].name) == 0;
    for (uint32_t i = 0; i < meta->edge_type_count; i++) {
        struct edge_type *type = &meta->edge_type[i];
        char name[3 * TYPE_NAME_SIZE];
        if (!is_shared[i])
            continue;
        (void)snprintf(name, sizeof name, "%s_%s_%s", meta->node_type[type->source_type].name,
                       type->name, meta->node_type[type->target_type].name);
        if (strlen(name) >= TYPE_NAME_SIZE)
            return wrong(graph, 0, "relations of one name with short types, or other names", name,
                         err);
        memcpy(type->name, name, strlen(name) + 1);
    }
    return ERROR_NONE;
}

enum error_code typed_graph_declare(struct typed_graph *graph, enum stated_direction stated,
                                    struct error *err)
{
    struct folder_meta *meta = &graph->meta;
    enum error_code rc = dataset_builder_set_nodes(graph->builder, meta->node_count, stated, err);
    graph->labels = (struct label_table){.path = graph->where,
                                         .node_count = meta->node_count,
                                         .task = (enum task_kind)graph->settings->ingest.task};
    if (rc == ERROR_NONE)
        rc = tell_apart(meta, graph, err);
    return rc == ERROR_NONE && typed_graph_has_types(graph)
               ? dataset_builder_set_types(graph->builder, meta->node_type, meta->node_type_count,
                                           meta->edge_type, meta->edge_type_count, err)
               : rc;
}

enum error_code typed_graph_type(const struct typed_graph *graph, int64_t line, const char *name,
                                 uint32_t *type, struct error *err)
{
    const int found = name && name[0] ? find_type(graph, name, strlen(name)) : 0;
    *type = (uint32_t)found;
    if (name && name[0])
        return found >= 0 ? ERROR_NONE
                          : wrong(graph, line, "one of the node types of the graph", name, err);
    return graph->meta.node_type_count > 1
               ? wrong(graph, line, "a node type, because there are several", "none", err)
               : ERROR_NONE;
}

uint64_t typed_graph_type_size(const struct typed_graph *graph, uint32_t type)
{
    return graph->meta.node_type[type].node_count;
}

uint64_t typed_graph_type_first(const struct typed_graph *graph, uint32_t type)
{
    return graph->meta.node_type[type].first_node;
}

bool typed_graph_has_types(const struct typed_graph *graph)
{
    return graph->meta.node_type_count > 1 || graph->meta.edge_type_count > 1;
}

void typed_graph_relation_ends(const struct typed_graph *graph, uint32_t relation, uint32_t *source,
                               uint32_t *target)
{
    must(relation < graph->meta.edge_type_count);
    *source = graph->meta.edge_type[relation].source_type;
    *target = graph->meta.edge_type[relation].target_type;
}

/* --- edges and features --- */

enum error_code typed_graph_push_edges(struct typed_graph *graph, uint32_t relation,
                                       const char *path, enum delimiter delimiter,
                                       uint64_t *row_count, struct error *err)
{
    static const struct edge_files none;
    const struct edge_type *type = &graph->meta.edge_type[relation];
    struct edge_ends ends = {.source = graph->meta.node_type[type->source_type],
                             .target = graph->meta.node_type[type->target_type],
                             .type = typed_graph_has_types(graph) ? (int32_t)relation
                                                                  : EDGE_ENDS_NO_TYPE,
                             .delimiter = delimiter};
    must(relation < graph->meta.edge_type_count);
    return input_files_ends_in(path, ".npy")
               ? folder_edges_read_npy(path, &none, &ends, graph->builder, row_count, err)
               : folder_edges_read_csv(path, NULL, NULL, &none, &ends, graph->builder, row_count,
                                       err);
}

enum error_code typed_graph_push_features(const struct typed_graph *graph,
                                          const struct typed_rows *files, uint32_t count,
                                          struct error *err)
{
    return type_feature_files_push(&graph->meta, graph->settings->ingest.relations, files, count,
                                   graph->where, graph->builder, err);
}

/* --- labels and splits --- */

enum error_code typed_graph_take_labels(struct typed_graph *graph, const struct typed_rows *rows,
                                        const struct integer_column *node, struct error *err)
{
    const struct node_type *type = &graph->meta.node_type[rows->type];
    if (!pipeline_reads_targets(graph->settings))
        return ERROR_NONE;
    const enum error_code rc = typed_labels_take(&graph->labels, rows, type, node, err);
    graph->labels.path = graph->where; /* the path of the rows is not valid after them */
    return rc;
}

enum error_code typed_graph_take_label(struct typed_graph *graph, uint32_t type, uint64_t row,
                                       const struct field *label, const char *where, int64_t line,
                                       struct error *err)
{
    struct label_table *table = &graph->labels;
    struct delimited list;
    enum error_code rc = ERROR_NONE;
    if (!pipeline_reads_targets(graph->settings))
        return ERROR_NONE;
    table->path = where;
    if (table->column_count == 0)
        rc = label_table_columns(
            table, delimited_split(label->text, label->size, DELIMITER_COMMA, NULL, 0), err);
    delimited_begin(&list, label->text, label->size, DELIMITER_COMMA);
    if (rc == ERROR_NONE)
        rc = label_table_parse(table, &list, line, err);
    if (rc == ERROR_NONE)
        rc = label_table_take(table, graph->meta.node_type[type].first_node + row, line, err);
    table->path = graph->where;
    return rc;
}

enum error_code typed_graph_take_split(struct typed_graph *graph, uint32_t type, enum split split,
                                       const char *where, int64_t first_line, const int64_t *node,
                                       uint64_t count, struct error *err)
{
    struct split_nodes *nodes = &graph->split[split];
    const struct node_type *of = &graph->meta.node_type[type];
    const enum error_code rc =
        memory_grow(&nodes->node, &nodes->capacity, nodes->count + count, "nodes of a split", err);
    if (rc != ERROR_NONE)
        return rc;
    if (!nodes->where[0]) {
        (void)snprintf(nodes->where, sizeof nodes->where, "%s", where);
        nodes->first_line = first_line;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (node[i] < 0 || node[i] >= (int64_t)of->node_count)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected a node of type %s, which has %" PRIu32
                             ", numbered from 0, found %" PRId64,
                             where, first_line + (int64_t)i, of->name, of->node_count, node[i]);
        nodes->node[nodes->count++] = node[i] + of->first_node;
    }
    return ERROR_NONE;
}

enum error_code typed_graph_take_mask(struct typed_graph *graph, const struct typed_rows *rows,
                                      enum split split, struct error *err)
{
    struct integer_column mask = {0};
    uint64_t found = 0;
    enum error_code rc = integer_column_read(&mask, rows->path, rows->count, err);
    if (rc == ERROR_NONE && mask.count != rows->count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " rows, one for each node, found %" PRIu64,
                       rows->path, rows->count, mask.count);
    for (uint64_t i = 0; rc == ERROR_NONE && i < mask.count; i++) {
        if (mask.value[i] != 0 && mask.value[i] != 1)
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRIu64 ": expected 0 or 1, whether the node is in the split, "
                           "found %" PRId64,
                           rows->path, (uint64_t)mask.first_line + i, mask.value[i]);
        else if (mask.value[i])
            mask.value[found++] = (int64_t)(rows->first + i);
    }
    if (rc == ERROR_NONE)
        rc = typed_graph_take_split(graph, rows->type, split, graph->where, 0, mask.value, found,
                                    err);
    integer_column_release(&mask);
    return rc;
}

enum error_code typed_graph_push_targets(struct typed_graph *graph, struct error *err)
{
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(graph->settings, &shares, err);
    if (rc == ERROR_NONE && graph->labels.column_count)
        rc = label_table_push(&graph->labels, 0, graph->builder, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT && !shares.is_random; s++) {
        const struct split_nodes *nodes = &graph->split[s];
        if (nodes->count)
            rc = dataset_builder_set_split(graph->builder, (enum split)s, nodes->where,
                                           nodes->first_line, nodes->node, nodes->count, err);
    }
    return rc == ERROR_NONE ? held_edge_files_push(graph->settings, NULL, graph->builder, err) : rc;
}
