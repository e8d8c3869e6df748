/*
 * dataset_arrays - the arrays of a dataset: edges, features, labels, splits, ids.
 *
 * Written by ingest, read by partition (all) and infer (ids). Node ids here are 0..N-1 in the order of
 * ingest. Chunk boundaries depend on the data only, never on the memory at hand.
 *
 *   dataset/<id>/edges/<chunk>     in-neighbours of the nodes [first_node, first_node + node_count)
 *       "range"     U64 [3]        first_node, node_count, edge_count
 *       "row_start" U64 [node_count + 1], from 0
 *       "neighbor"  U32 [edge_count], ascending within a row
 *       "weight" F32, "time" F64, "edge_type" U16 [edge_count]   when the schema has them
 *       A chunk ends before the node that would take it above 2^24 edges or 2^20 nodes.
 *   dataset/<id>/features/<chunk>  rows [first_node, first_node + node_count)
 *       "range" U64 [3]            first_node, node_count, dim
 *       "row"   F32 [node_count, dim]
 *       A chunk has 2^22 / dim rows, rounded down to a multiple of 256, at least 256.
 *   dataset/<id>/labels
 *       "shape" U64 [2]            N, class_count of multi-label (else 0)
 *       "label" I32 [N], -1 none; or "multi" F32 [N, class_count] of 0 and 1, NaN for a node without
 *   dataset/<id>/splits
 *       "train", "valid", "test" U32, ascending; no node in two of them
 *   dataset/<id>/node_ids          only when ids are not 0..N-1 themselves
 *       "integer" I64 [N]; or "offset" U64 [N + 1] and "text" U8 [offset[N]]
 */
#ifndef STORE_RECORDS_DATASET_ARRAYS_H
#define STORE_RECORDS_DATASET_ARRAYS_H

#include "common/base/error.h"
#include "store/store.h"

#include <stdint.h>

enum {
    EDGE_CHUNK_EDGES_MAX = 1 << 24,
    EDGE_CHUNK_NODES_MAX = 1 << 20,
    FEATURE_CHUNK_FLOATS = 1 << 22
};

/* Rows of a feature chunk for this dim. */
uint32_t feature_chunk_rows(uint32_t dim);

/* Arrays point into `view`, which the caller releases with store_release_record(). For writing, fill
 * the pointers and leave `view` zero. */
struct edge_chunk {
    uint32_t first_node, node_count;
    uint64_t edge_count;
    const uint64_t *row_start;
    const uint32_t *neighbor;
    const float *weight; /* NULL when there is none; likewise below */
    const double *time;
    const uint16_t *edge_type;
    struct record_view view;
};

MUST_CHECK enum error_code edge_chunk_put(struct store *store, const char *dataset_id,
                                          int64_t chunk, const struct edge_chunk *edges,
                                          struct error *err);
MUST_CHECK enum error_code edge_chunk_get(struct store *store, const char *dataset_id,
                                          int64_t chunk, struct edge_chunk *out, struct error *err);

struct feature_chunk {
    uint32_t first_node, node_count, dim;
    const float *row; /* [node_count, dim] */
    struct record_view view;
};

MUST_CHECK enum error_code feature_chunk_put(struct store *store, const char *dataset_id,
                                             int64_t chunk, const struct feature_chunk *rows,
                                             struct error *err);
MUST_CHECK enum error_code feature_chunk_get(struct store *store, const char *dataset_id,
                                             int64_t chunk, struct feature_chunk *out,
                                             struct error *err);

struct node_labels {
    uint32_t node_count;
    uint32_t class_count; /* of multi-label */
    const int32_t *label; /* [node_count] or NULL */
    const float *multi;   /* [node_count, class_count] or NULL */
    struct record_view view;
};

MUST_CHECK enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                           const struct node_labels *labels, struct error *err);
MUST_CHECK enum error_code node_labels_get(struct store *store, const char *dataset_id,
                                           struct node_labels *out, struct error *err);

enum split { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_COUNT };

struct node_splits {
    uint32_t count[SPLIT_COUNT];
    const uint32_t *node[SPLIT_COUNT];
    struct record_view view;
};

/* `key` is dataset/<id>/splits, or partition/<id>/splits where ids are those of the partition. */
MUST_CHECK enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                           const struct node_splits *splits, struct error *err);
MUST_CHECK enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                           struct node_splits *out, struct error *err);

struct node_ids {
    uint32_t node_count;
    const int64_t *integer; /* [node_count] or NULL */
    const uint64_t *offset; /* [node_count + 1] or NULL */
    const char *text;       /* id of node i is text[offset[i]] .. text[offset[i + 1]], no NUL */
    struct record_view view;
};

MUST_CHECK enum error_code node_ids_put(struct store *store, const char *dataset_id,
                                        const struct node_ids *ids, struct error *err);
MUST_CHECK enum error_code node_ids_get(struct store *store, const char *dataset_id,
                                        struct node_ids *out, struct error *err);

/* The checks alone, of a decoded record of any origin. out->view is a copy of `view`, so only one of
 * the two is to be released, failure or not. Fails: ERROR_CORRUPT naming key and section, what was
 * expected and what was found. */
MUST_CHECK enum error_code edge_chunk_decode(const struct record_view *view, struct edge_chunk *out,
                                             struct error *err);
MUST_CHECK enum error_code feature_chunk_decode(const struct record_view *view,
                                                struct feature_chunk *out, struct error *err);
MUST_CHECK enum error_code node_labels_decode(const struct record_view *view,
                                              struct node_labels *out, struct error *err);
MUST_CHECK enum error_code node_splits_decode(const struct record_view *view,
                                              struct node_splits *out, struct error *err);
MUST_CHECK enum error_code node_ids_decode(const struct record_view *view, struct node_ids *out,
                                           struct error *err);

#endif
