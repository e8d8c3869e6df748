/*
 * door_graph - a dataset as a reader of the user's own file would describe it: nodes, edges,
 * relations and classes by their names.
 *
 * For tests with small datasets. Held-out edges are among the edges. An undirected edge is listed
 * once.
 */
#ifndef TESTS_STAGES_INGEST_DOOR_GRAPH_H
#define TESTS_STAGES_INGEST_DOOR_GRAPH_H

#include "store/objects/keys.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_columns.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DOOR_EDGES = 4096, DOOR_NODES = 4096, DOOR_TEXT = 512 };

struct door_edge {
    uint32_t source, target, type;
    float weight; /* NaN if it is unknown: a held-out edge has none */
    int64_t time;
};

struct door_graph {
    struct store *store;
    struct dataset_schema schema;
    uint64_t edge_count;
    struct door_edge edge[DOOR_EDGES];
    char id[DOOR_NODES][DOOR_TEXT];
    char label[DOOR_NODES][DOOR_TEXT]; /* "": none */
};

/* ---- edges ----------------------------------------------------------------------------------- */

static int64_t door_time(const struct edge_columns_view *columns, uint64_t edge)
{
    const void *at = edge_columns_at(columns, EDGE_TIME, edge);
    return edge_column[EDGE_TIME].type == ELEMENT_F64 ? (int64_t) * (const double *)at
                                                      : *(const int64_t *)at;
}

static void door_add(struct door_graph *graph, struct door_edge edge)
{
    assert_true(graph->edge_count < DOOR_EDGES);
    graph->edge[graph->edge_count++] = edge;
}

static void door_take_chunk(struct door_graph *graph, const struct edge_chunk *chunk)
{
    const struct edge_columns_view *columns = &chunk->columns;
    for (uint32_t v = 0; v < chunk->node_count; v++)
        for (uint64_t i = chunk->row_start[v]; i < chunk->row_start[v + 1]; i++) {
            struct door_edge edge = {chunk->neighbor[i], chunk->first_node + v, 0, NAN, 0};
            if (columns->width.of[EDGE_TYPE])
                edge.type = *(const uint16_t *)edge_columns_at(columns, EDGE_TYPE, i);
            if (columns->width.of[EDGE_WEIGHT])
                edge.weight = *(const float *)edge_columns_at(columns, EDGE_WEIGHT, i);
            if (columns->width.of[EDGE_TIME])
                edge.time = door_time(columns, i);
            if (!graph->schema.undirected || edge.source <= edge.target)
                door_add(graph, edge);
        }
}

static void door_read_edges(struct door_graph *graph, struct error *err)
{
    const struct dataset_schema *schema = &graph->schema;
    for (uint64_t i = 0; i < schema->edge_chunk_count; i++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(graph->store, schema->id, (int64_t)i, &chunk, err), err);
        door_take_chunk(graph, &chunk);
        store_release_record(&chunk.view);
    }
}

static void door_read_held_out(struct door_graph *graph, struct error *err)
{
    struct edge_splits splits;
    const struct dataset_schema *schema = &graph->schema;
    const struct key key = key_dataset(schema->id, "edge_splits");
    bool found = false;
    assert_ok(store_has(graph->store, key.text, &found, err), err);
    if (!found)
        return;
    assert_ok(edge_splits_get(graph->store, key.text, schema->id, schema->node_count, &splits, err),
              err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits.count[s]; i++)
            door_add(graph,
                     (struct door_edge){splits.source[s][i], splits.target[s][i],
                                        splits.type[s] ? splits.type[s][i] : 0, NAN,
                                        splits.is_timed ? edge_time_at(splits.time[s], i) : 0});
    store_release_record(&splits.view);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t door_type_of(const struct door_graph *graph, uint32_t node)
{
    uint32_t type = 0;
    while (type + 1 < graph->schema.node_type_count &&
           node >= graph->schema.node_type[type + 1].first_node)
        type++;
    return type;
}

static void door_read_ids(struct door_graph *graph, struct error *err)
{
    struct node_ids ids = {0};
    const bool has_record = graph->schema.node_id_form != NODE_ID_CONSECUTIVE;
    if (has_record)
        assert_ok(node_ids_get(graph->store, graph->schema.id, &ids, err), err);
    assert_true(graph->schema.node_count <= DOOR_NODES);
    for (uint32_t node = 0; node < graph->schema.node_count; node++)
        if (ids.text)
            (void)snprintf(graph->id[node], DOOR_TEXT, "%.*s",
                           (int)(ids.offset[node + 1] - ids.offset[node]),
                           ids.text + ids.offset[node]);
        else
            (void)snprintf(graph->id[node], DOOR_TEXT, "%" PRId64,
                           ids.integer ? ids.integer[node] : (int64_t)node);
    if (has_record)
        store_release_record(&ids.view);
}

static void door_read_labels(struct door_graph *graph, struct error *err)
{
    struct node_labels labels;
    struct column_encoding words = {0};
    bool found = false;
    const struct key key = key_dataset(graph->schema.id, "labels");
    assert_ok(store_has(graph->store, key.text, &found, err), err);
    if (!found || graph->schema.task != TASK_SINGLE_LABEL)
        return;
    assert_ok(node_columns_get(graph->store, graph->schema.id, &words, err), err);
    assert_ok(node_labels_get(graph->store, graph->schema.id, &labels, err), err);
    for (uint32_t node = 0; node < labels.node_count; node++) {
        const int32_t class = ((const int32_t *)labels.row)[node];
        if (class >= 0 && (size_t) class < words.class_count)
            (void)snprintf(graph->label[node], DOOR_TEXT, "%s", words.class_name[class]);
        else if (class >= 0)
            (void)snprintf(graph->label[node], DOOR_TEXT, "%" PRId32, class);
    }
    store_release_record(&labels.view);
    column_encoding_release(&words);
}

/* Reads the dataset `id`. *graph is too large for the stack. */
static void door_graph_read(struct door_graph *graph, struct store *store, const char *id,
                            struct error *err)
{
    *graph = (struct door_graph){.store = store};
    assert_ok(dataset_schema_get(store, id, &graph->schema, err), err);
    door_read_edges(graph, err);
    door_read_held_out(graph, err);
    door_read_ids(graph, err);
    door_read_labels(graph, err);
}

/* Returns the node whose id is `name`, alone or after its type ("user:7"); -1 if there is none. */
static int64_t door_graph_node(const struct door_graph *graph, const char *name)
{
    for (uint32_t node = 0; node < graph->schema.node_count; node++) {
        char typed[DOOR_TEXT + TYPE_NAME_SIZE + 1];
        (void)snprintf(typed, sizeof typed, "%s:%s",
                       graph->schema.node_type[door_type_of(graph, node)].name, graph->id[node]);
        if (strcmp(graph->id[node], name) == 0 || strcmp(typed, name) == 0)
            return node;
    }
    return -1;
}

/* Returns a feature of a node, NaN if the node has none. */
static float door_graph_feature(const struct door_graph *graph, uint32_t node, uint32_t column,
                                struct error *err)
{
    float out = NAN;
    for (uint64_t i = 0; i < graph->schema.feature_chunk_count; i++) {
        struct feature_chunk chunk;
        assert_ok(feature_chunk_get(graph->store, graph->schema.id, (int64_t)i, &chunk, err), err);
        if (node - chunk.first_node < chunk.node_count && column < chunk.dim)
            out = chunk.row[(uint64_t)(node - chunk.first_node) * chunk.dim + column];
        store_release_record(&chunk.view);
    }
    return out;
}

#endif
