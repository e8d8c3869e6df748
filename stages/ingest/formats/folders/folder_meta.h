/*
 * folder_meta - the description that a plain folder has of itself: meta.json, node-types.csv,
 * edge-types.csv.
 *
 *   meta.json        {"num_nodes": 2708, "directed": false, ...}; these two are needed. "directed":
 *                    null leaves the direction open, and ingest finds it from the edges.
 *                    num_features, num_classes and edge_rows, if given and not null, are checked
 *                    against the data.
 *   node-types.csv   type,name,count,first_id        types are consecutive and cover all nodes
 *   edge-types.csv   etype,name,src_type,dst_type,count
 *   relations.csv    id,name                         names of the edge types between nodes of one
 *                                                    type
 *
 * The columns may be in any order. `type` and `count` of edges may be missing. `id` is another word
 * for `type` and `etype`, `source` and `target` for src_type and dst_type. The type files are
 * optional: without them there is one node type and one edge type.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_FOLDER_META_H
#define STAGES_INGEST_FORMATS_FOLDERS_FOLDER_META_H

#include "common/base/error.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct folder_meta {
    uint64_t node_count;
    bool says_direction, is_directed; /* is_directed is valid only if says_direction */
    uint32_t feature_dim;             /* 0: not given; the same holds below */
    uint32_t class_count;
    /* set by the caller, borrowed: the name of the field of edge labels; NULL: none */
    const char *edge_label;
    int64_t edge_rows;                         /* -1: not given */
    uint32_t node_type_count, edge_type_count; /* 0: no such file */
    struct node_type node_type[NODE_TYPE_COUNT_MAX];
    struct edge_type edge_type[EDGE_TYPE_COUNT_MAX];
};

/* Reads the description. Fails: ERROR_NOT_FOUND without meta.json; ERROR_INPUT naming file, line or
 * key, expected, found. */
MUST_CHECK enum error_code folder_meta_read(const char *folder, struct folder_meta *meta,
                                            struct error *err);
/* Reads the names in relations.csv, if edge-types.csv has no names and there is at most one node
 * type. Only graphs whose relations stay apart have them read. */
MUST_CHECK enum error_code folder_meta_read_relations(const char *folder, struct folder_meta *meta,
                                                      struct error *err);
/* Sets names for `found` edge types (0: one type) and for one node type, if no file has names.
 * Returns the number of edge types. */
uint32_t folder_meta_name_types(struct folder_meta *meta, uint32_t found);

#endif
