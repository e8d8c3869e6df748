/*
 * dataset_schema - what a dataset is, before any of its bytes.
 *
 * Written by ingest when all other records of the dataset are stored (it is the dataset's commit);
 * read by partition, by the driver and by reports. Lives as long as the dataset.
 *
 *   key       dataset/<id>/schema
 *   sections  "json" U8: one object; keys below. Text, because schemas grow.
 *             "report" U8 (optional): one object, what ingest found out about the data and warned
 *                      of (stages/ingest/build/dataset_summary.h), for people and programs. Nothing
 *                      computes with it.
 *   valid     1 to 2^32 - 2 nodes, feature_dim >= 1, self loops <= edges; node types are
 *             consecutive and cover all nodes; edge types' counts add up to edge_count;
 *             feature_chunk_count as feature_chunk.h makes it, 1 to node_count edge chunks;
 *             class_count 0 exactly when there is no task; the three splits together hold at most
 *             node_count nodes, or graphs (of a task of pairs valid_count and test_count are edges,
 *             which are in edge_splits.h and not among edge_count)
 *   version   2: one graph, whose types of nodes and edges are names that nothing computes with. 3:
 *             has_relations; each node type has a feature_dim of its own (0: its nodes have no
 *             features), each edge type is a relation with a source and a target type, and
 *             feature_dim is that of the target type
 *
 * Three keys stand only where they say something: "pairs_together" of a directed graph whose edges
 * and edges back are held out together; "back" of an edge type, which is then another relation; and
 * "lacks" of an edge type, a bit for each enum edge_column that the input has for other edge types
 * alone, so that no edge has it.
 *
 * A homogeneous graph is one node type and one edge type. "edge_columns" has the width of each edge
 * column that there is, by its name in common/graph/edge_column.h. "time_unit" is there where times
 * were not stored as they were written, "weight_least" and "weight_most" where edges have weights
 * (schemas of earlier releases lack them). Of a graph with relations the column EDGE_TYPE of the
 * edge chunks is the relation; without that column all edges are of relation 0.
 */
#ifndef STORE_RECORDS_DATASET_DATASET_SCHEMA_H
#define STORE_RECORDS_DATASET_DATASET_SCHEMA_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/relation_block.h"
#include "common/nn/tasks/task.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TYPE_NAME_SIZE = RELATION_NAME_SIZE,
    NODE_TYPE_COUNT_MAX = RELATION_TYPE_COUNT_MAX,
    EDGE_TYPE_COUNT_MAX = RELATION_COUNT_MAX
};

enum { FEATURE_ORIGIN_SIZE = 64 };

enum node_id_form { NODE_ID_UNKNOWN = 0, NODE_ID_CONSECUTIVE, NODE_ID_INTEGER, NODE_ID_STRING };

struct node_type {
    char name[TYPE_NAME_SIZE];
    uint32_t first_node, node_count; /* nodes of one type are consecutive */
    uint32_t feature_dim;            /* of a graph with relations; 0: no features */
};

struct edge_type {
    char name[TYPE_NAME_SIZE];
    uint64_t edge_count;
    uint16_t source_type, target_type; /* of a graph with relations: node types, by number */
};

struct dataset_schema {
    char id[80];
    char name[64];
    uint32_t node_count;
    uint64_t edge_count; /* directed, as stored: after making undirected, removing duplicates */
    uint64_t self_loop_count; /* stored ones */
    uint64_t input_edge_rows, removed_self_loops, removed_duplicates;
    bool undirected;     /* each edge is stored both ways */
    bool pairs_together; /* of a task of pairs: an edge and the edge back are held out together */
    struct edge_widths edge_width; /* the edge columns that there are */
    /* what times of edges mean (time_format_meaning()); "": numbers as they were given */
    char time_unit[32];
    double weight_least,
        weight_most; /* the smallest and the largest size of a weight that is not 0; 0: not known */
    uint64_t negative_weight_count;  /* rows of the input with a weight below 0 */
    char first_negative_weight[128]; /* "edges.csv:17", or its end; "" when there is none */
    uint32_t feature_dim;
    char feature_origin[FEATURE_ORIGIN_SIZE]; /* "given", "degree", "random", "degree+random" */
    enum task_kind task;
    uint32_t class_count; /* outputs of a model: classes, or labels a node of multi-label */
    uint32_t train_count, valid_count,
        test_count; /* nodes, or graphs; of a task of pairs 0, and edges held out */
    uint64_t edge_chunk_count, feature_chunk_count;
    enum node_id_form node_id_form;
    bool has_relations;   /* node types and relations are told apart */
    uint32_t target_type; /* the node type of labels and splits */
    uint32_t node_type_count, edge_type_count;
    struct node_type node_type[NODE_TYPE_COUNT_MAX];
    /* Of a graph with relations: what each type has, "none" without; "" where an earlier release
     * wrote the schema. */
    char type_origin[NODE_TYPE_COUNT_MAX][FEATURE_ORIGIN_SIZE];
    struct edge_type edge_type[EDGE_TYPE_COUNT_MAX];
    /* A graph with relations has here 1 + the relation with the edges back of most edges of each
     * one, found by content; 0: none. */
    uint16_t back_plus[EDGE_TYPE_COUNT_MAX];
    /* A bit for each column that the input has for other edge types alone. */
    uint32_t lacks[EDGE_TYPE_COUNT_MAX];
};

/* Counts the weight of a stored edge among the sizes of weights. */
static inline void dataset_weights_note(struct dataset_schema *schema, float weight)
{
    const double size = weight < 0 ? -(double)weight : (double)weight;
    if (size > 0 && (schema->weight_least <= 0 || size < schema->weight_least))
        schema->weight_least = size;
    if (size > schema->weight_most)
        schema->weight_most = size;
}

MUST_CHECK enum error_code
dataset_schema_put(struct store *store, const struct dataset_schema *schema, struct error *err);
MUST_CHECK enum error_code dataset_schema_get(struct store *store, const char *dataset_id,
                                              struct dataset_schema *out, struct error *err);
/* The same with a report, the JSON of one object. */
MUST_CHECK enum error_code dataset_schema_put_with_report(struct store *store,
                                                          const struct dataset_schema *schema,
                                                          const char *report, struct error *err);
/* *report is that JSON, or NULL for a dataset of an earlier version, which has none. Owned: free it
 * with memory_free(). Fails: ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_report_get(struct store *store, const char *dataset_id,
                                              char **report, struct error *err);
/* The reading alone, of a decoded record of any origin: ERROR_CORRUPT names the key, what was
 * expected and what was found. */
MUST_CHECK enum error_code dataset_schema_decode(const struct record_view *view,
                                                 struct dataset_schema *out, struct error *err);

#endif
