/*
 * merged_records - edges, rows, labels, splits, ids and graphs of a dataset, be they stored or merged from a base and deltas.
 *
 * Whoever reads a dataset comes by here. A record that is stored is read as it is; where there is none and the dataset is a version with a
 * record "merge" (records/dataset_merge.h), what it would hold is made in memory, to the byte. The arrays are those of the record, and
 * are released in the same way, with store_release_record(). A merged chunk takes the heap that a stored one takes of mapped file, at most 2^24
 * edges or 2^22 numbers: so whoever passes over all edges takes them in pieces (struct merged_edges), which are small whatever the chunks are.
 *
 * All of them fail as the functions of the records do: ERROR_NOT_FOUND naming the record when it is neither stored nor to be merged;
 * ERROR_CORRUPT also for a chain of deltas that does not fit together. Threads: any at once.
 */
#ifndef STORE_VERSIONS_MERGED_RECORDS_H
#define STORE_VERSIONS_MERGED_RECORDS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/edge_chunk.h"
#include "store/records/edge_splits.h"
#include "store/records/feature_chunk.h"
#include "store/records/graph_index.h"
#include "store/records/node_ids.h"
#include "store/records/node_labels.h"
#include "store/records/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

/* What the heap of a program has of a merged dataset's edges during a pass, but for a row that takes more. It is beside the budgets. */
#define MERGED_PIECE_BYTES (UINT64_C(1) << 22)

/* A pass over the edges, in the order in which they are stored: chunks as they are, of a merged dataset pieces of them. */
struct merged_edges { /* {0} is closed */
    struct store *store;
    const char *id; /* borrowed */
    uint64_t chunk_count, piece_bytes;
    uint64_t next;            /* chunk that is stored */
    struct merged_rows *rows; /* of a merged one; owned */
};

/* `chunk_count`: of the schema. */
struct merged_edges merged_edges_begin(struct store *store, const char *dataset_id,
                                       uint64_t chunk_count, uint64_t piece_bytes);
/* *found: there is one more, which the caller releases. */
MUST_CHECK enum error_code merged_edges_next(struct merged_edges *pass, struct edge_chunk *out,
                                             bool *found, struct error *err);
void merged_edges_end(struct merged_edges *pass);

/* One chunk, as it is stored or would be. */
MUST_CHECK enum error_code merged_edges_get(struct store *store, const char *dataset_id,
                                            int64_t chunk, struct edge_chunk *out,
                                            struct error *err);
MUST_CHECK enum error_code merged_features_get(struct store *store, const char *dataset_id,
                                               int64_t chunk, struct feature_chunk *out,
                                               struct error *err);
MUST_CHECK enum error_code merged_labels_get(struct store *store, const char *dataset_id,
                                             struct node_labels *out, struct error *err);
MUST_CHECK enum error_code merged_splits_get(struct store *store, const char *dataset_id,
                                             struct node_splits *out, struct error *err);
/* `node_count` of the dataset. */
MUST_CHECK enum error_code merged_edge_splits_get(struct store *store, const char *dataset_id,
                                                  uint32_t node_count, struct edge_splits *out,
                                                  struct error *err);
/* Of a dataset of many graphs; `node_count` of it. */
MUST_CHECK enum error_code merged_graphs_get(struct store *store, const char *dataset_id,
                                             uint32_t node_count, struct graph_index *out,
                                             struct error *err);
/* *found: the user's ids are not the numbers of the nodes; *out is empty otherwise. */
MUST_CHECK enum error_code merged_ids_find(struct store *store, const char *dataset_id, bool *found,
                                           struct node_ids *out, struct error *err);

#endif
