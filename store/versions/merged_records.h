/*
 * merged_records - edges, features, labels, splits, ids and graphs of a dataset, stored or merged
 * from a base and deltas.
 *
 * All code reads datasets through these functions. A stored record is read. If there is none, and
 * the dataset is a version with a record "merge" (records/dataset/dataset_merge.h), the record is made in
 * memory, equal to the byte. The arrays are those of the record and are released in the same way,
 * with store_release_record(). A merged chunk is on the heap, with the size of the mapped file of a
 * stored one: at most 2^24 edges or 2^22 numbers. A pass over all edges therefore reads them in
 * pieces (struct merged_edges), which are small whatever the size of the chunks.
 *
 * All of them fail as the functions of the records do: ERROR_NOT_FOUND naming the record when it is
 * neither stored nor can be merged; ERROR_CORRUPT also for a chain of deltas that does not match.
 * Threads: any at once.
 */
#ifndef STORE_VERSIONS_MERGED_RECORDS_H
#define STORE_VERSIONS_MERGED_RECORDS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

/* The heap that a pass uses for the edges of a merged dataset, unless one row needs more. Budgets
 * do not include it. */
#define MERGED_PIECE_BYTES (UINT64_C(1) << 22)

/* A pass over the edges in the stored order: chunks of a whole dataset, pieces of chunks of a
 * merged one. */
struct merged_edges { /* {0} is closed */
    struct store *store;
    const char *id; /* borrowed */
    uint64_t chunk_count, piece_bytes;
    uint64_t next;            /* next stored chunk */
    struct merged_rows *rows; /* of a merged dataset; owned */
};

/* Starts a pass. `chunk_count` is the one of the schema. */
struct merged_edges merged_edges_begin(struct store *store, const char *dataset_id,
                                       uint64_t chunk_count, uint64_t piece_bytes);
/* Reads the next chunk or piece, which the caller releases. *found is false at the end. */
MUST_CHECK enum error_code merged_edges_next(struct merged_edges *pass, struct edge_chunk *out,
                                             bool *found, struct error *err);
void merged_edges_end(struct merged_edges *pass);

/* Read one chunk, stored or merged. */
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
/* `node_count` is that of the dataset. */
MUST_CHECK enum error_code merged_edge_splits_get(struct store *store, const char *dataset_id,
                                                  uint32_t node_count, struct edge_splits *out,
                                                  struct error *err);
/* Only for a dataset of many graphs; `node_count` is that of the dataset. */
MUST_CHECK enum error_code merged_graphs_get(struct store *store, const char *dataset_id,
                                             uint32_t node_count, struct graph_index *out,
                                             struct error *err);
/* Reads the user's ids. *found is false, and *out empty, if the ids equal the numbers of the
 * nodes. */
MUST_CHECK enum error_code merged_ids_find(struct store *store, const char *dataset_id, bool *found,
                                           struct node_ids *out, struct error *err);

#endif
