/*
 * version_rows - what a fold makes of the records of its base: rows of in-neighbours, rows of features, labels, splits, ids, graphs.
 *
 * The functions behind merged_records.h, for who has the fold already. Arrays are made on the heap, in one block that the view of what is
 * returned holds: release it with store_release_record().
 */
#ifndef STORE_VERSIONS_VERSION_ROWS_H
#define STORE_VERSIONS_VERSION_ROWS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/edge_chunk.h"
#include "store/records/edge_splits.h"
#include "store/records/feature_chunk.h"
#include "store/records/graph_index.h"
#include "store/records/node_ids.h"
#include "store/records/node_labels.h"
#include "store/records/node_splits.h"
#include "store/versions/version_fold.h"

#include <stdint.h>

/* What was met of added edges that are there already, while rows were made with `removes_repeated`. */
struct repeated_edges {
    uint32_t
        first_reverse; /* relations from there on are reverses, whose edges count with those of which they are; 0: there are none.
                               Set by the caller */
    uint64_t
        of_newest; /* edges of the last delta that were left out; of an undirected graph each counted once */
    uint64_t first;          /* the first of them, by its place in the delta; UINT64_MAX: none */
    uint32_t source, target; /* its ends */
};

/* The chunk of the base's edges at hand, kept from one call to the next. Fill `store` and `first`, and call base_cursor_close() in the end. */
struct base_cursor {
    struct store *store;
    const uint32_t
        *first; /* [base->edge_chunk_count + 1] where the base's chunks begin, borrowed */
    struct edge_chunk chunk;
};

void base_cursor_close(struct base_cursor *cursor);
/* The rows of the nodes [first, end) of the version. `repeated` may be NULL. Fails: ERROR_CORRUPT, ERROR_NO_MEMORY, and as edge_chunk_get(). */
MUST_CHECK enum error_code version_edges(const struct version_fold *fold,
                                         struct base_cursor *cursor, uint32_t first, uint32_t end,
                                         struct edge_chunk *out, struct repeated_edges *repeated,
                                         struct error *err);
/* As many nodes from `first` on, up to `end`, as have rows of `bytes_most` bytes or less together, but one at least: *piece_end is behind the
 * last of them. Fails: as above. */
MUST_CHECK enum error_code version_edges_piece(const struct version_fold *fold,
                                               struct base_cursor *cursor, uint32_t first,
                                               uint32_t end, uint64_t bytes_most,
                                               uint32_t *piece_end, struct error *err);
/* Rows of chunk `chunk`, as feature_chunk.h cuts them; of a graph with relations those of each type for themselves. Fails: as above;
 * ERROR_NOT_FOUND also for rows that ingest made, which are stored with each version. */
MUST_CHECK enum error_code version_features(const struct version_fold *fold, struct store *store,
                                            int64_t chunk, struct feature_chunk *out,
                                            struct error *err);
MUST_CHECK enum error_code version_labels(const struct version_fold *fold, struct store *store,
                                          struct node_labels *out, struct error *err);
MUST_CHECK enum error_code version_splits(const struct version_fold *fold, struct store *store,
                                          struct node_splits *out, struct error *err);
/* Of a task of pairs: those of the base that are left, and with new ones among them in the order of target and source, as ingest has those that it
 * draws; their given negatives without nodes that are gone. `train_class` [classes of the base]: of labelled edges how many that are trained
 * on have each; NULL where that is not wanted, or nothing is of classes. `repeated` may be NULL, and has what labelled edges repeat added to it.
 * Fails: ERROR_CORRUPT also where held-out edges have no types and those of the dataset do, or the other way. */
MUST_CHECK enum error_code version_edge_splits(const struct version_fold *fold, struct store *store,
                                               const uint64_t *train_class,
                                               struct repeated_edges *repeated,
                                               struct edge_splits *out, struct error *err);
/* *are_numbers: each node is called by its number, and *out is empty. */
MUST_CHECK enum error_code version_ids(const struct version_fold *fold, struct store *store,
                                       bool *are_numbers, struct node_ids *out, struct error *err);

/* Of a dataset of many graphs: those that stay are called what they were. Fails: ERROR_CORRUPT also for graphs that do not fit together. */
MUST_CHECK enum error_code version_graphs(const struct version_fold *fold, struct store *store,
                                          struct graph_index *out, struct error *err);

/* Room for what is made, as the bytes of a view that are given back with it. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_block(struct record_view *view, const struct version_fold *fold,
                                         const char *what, uint64_t bytes, struct error *err);

#endif
