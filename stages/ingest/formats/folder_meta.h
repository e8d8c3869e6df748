/*
 * folder_meta - what a plain folder says about itself: meta.json, node-types.csv, edge-types.csv.
 *
 *   meta.json        {"num_nodes": 2708, "directed": false, ...}; these two are needed. With "directed": null the file says
 *                    nothing of the direction, and the edges are looked at. When there and not null, num_features,
 *                    num_classes and edge_rows are checked against the data.
 *   node-types.csv   type,name,count,first_id        types cover the nodes one behind the other
 *   edge-types.csv   etype,name,src_type,dst_type,count
 *   relations.csv    id,name                         the names of the edge types between nodes of one type
 *
 * The columns may stand in any order; `type` and `count` of edges may be missing, `id` is another word for `type` and
 * `etype`, `source` and `target` for src_type and dst_type. The type files are optional: without them there is one node
 * type and one edge type.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDER_META_H
#define STAGES_INGEST_FORMATS_FOLDER_META_H

#include "common/base/error.h"
#include "store/records/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct folder_meta {
    uint64_t node_count;
    bool says_direction, is_directed; /* without the first the second says nothing */
    uint32_t feature_dim;             /* 0: not said; likewise below */
    uint32_t class_count;
    const char *
        edge_label; /* set by the caller, borrowed: what the field of labels of edges is called; NULL: none */
    int64_t edge_rows;                         /* -1: not said */
    uint32_t node_type_count, edge_type_count; /* 0: no such file */
    struct node_type node_type[NODE_TYPE_COUNT_MAX];
    struct edge_type edge_type[EDGE_TYPE_COUNT_MAX];
};

/* Fails: ERROR_NOT_FOUND without meta.json; ERROR_INPUT naming file, line or key, expected, found. */
MUST_CHECK enum error_code folder_meta_read(const char *folder, struct folder_meta *meta,
                                            struct error *err);
/* The names of relations.csv, where edge-types.csv says none and there is one node type at most. Only graphs whose
 * relations are told apart read it. */
MUST_CHECK enum error_code folder_meta_read_relations(const char *folder, struct folder_meta *meta,
                                                      struct error *err);
/* Names for `found` edge types (0: of one) and for one node type, where no file says any.
 * Returns how many edge types there are. */
uint32_t folder_meta_name_types(struct folder_meta *meta, uint32_t found);

#endif
