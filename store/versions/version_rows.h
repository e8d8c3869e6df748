/*
 * version_rows - makes the records of a version from its fold and the records of its base:
 * in-neighbours, features, labels, splits, ids, graphs.
 *
 * These are the functions behind merged_records.h, for callers that already have the fold. All
 * arrays of a result are in one block of heap that its view holds; release it with
 * store_release_record().
 */
#ifndef STORE_VERSIONS_VERSION_ROWS_H
#define STORE_VERSIONS_VERSION_ROWS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/version_fold.h"

#include <stdint.h>

/* Counts added edges that exist already, while rows are made with `removes_repeated`. */
struct repeated_edges {
    /* Set by the caller: the first reverse relation, whose edges count with those that they
     * reverse; 0: there are none. */
    uint32_t first_reverse;
    uint64_t
        of_newest;  /* edges of the last delta that were left out; an undirected edge counts once */
    uint64_t first; /* index in the delta of the first of them; UINT64_MAX: none */
    uint32_t source, target; /* its ends */
};

/* The current chunk of the base's edges, kept from call to call. Set `store` and `first`, and call
 * base_cursor_close() at the end. */
struct base_cursor {
    struct store *store;
    const uint32_t
        *first; /* [base->edge_chunk_count + 1]: first node of each chunk of the base; borrowed */
    struct edge_chunk chunk;
};

void base_cursor_close(struct base_cursor *cursor);
/* Makes the rows of the nodes [first, end) of the version. `repeated` may be NULL. Fails:
 * ERROR_CORRUPT, ERROR_NO_MEMORY, and as edge_chunk_get(). */
MUST_CHECK enum error_code version_edges(const struct version_fold *fold,
                                         struct base_cursor *cursor, uint32_t first, uint32_t end,
                                         struct edge_chunk *out, struct repeated_edges *repeated,
                                         struct error *err);
/* Makes the rows of as many nodes from `first` on, up to `end`, as need at most `bytes_most` bytes
 * together, but of at least one. *piece_end is the node after the last of them. Fails: as above. */
MUST_CHECK enum error_code version_edges_piece(const struct version_fold *fold,
                                               struct base_cursor *cursor, uint32_t first,
                                               uint32_t end, uint64_t bytes_most,
                                               uint32_t *piece_end, struct error *err);
/* Makes the rows of chunk `chunk`, divided as in feature_chunk.h; in a graph with relations each
 * type is divided separately. Fails: as above; ERROR_NOT_FOUND also for rows that ingest makes,
 * which are stored with each version. */
MUST_CHECK enum error_code version_features(const struct version_fold *fold, struct store *store,
                                            int64_t chunk, struct feature_chunk *out,
                                            struct error *err);
MUST_CHECK enum error_code version_labels(const struct version_fold *fold, struct store *store,
                                          struct node_labels *out, struct error *err);
MUST_CHECK enum error_code version_splits(const struct version_fold *fold, struct store *store,
                                          struct node_splits *out, struct error *err);
/* Makes the held-out edges, for a task on pairs: those of the base that are left, merged with the
 * new ones by target and source, in the order of those that ingest draws. Given negatives lose
 * those with removed nodes. `train_class` [classes of the base] has the number of labelled training
 * edges of each class; NULL if it is not needed, or there are no classes. `repeated` may be NULL;
 * repeated labelled edges are added to it. Fails: ERROR_CORRUPT also if held-out edges have types
 * and those of the dataset do not, or vice versa. */
MUST_CHECK enum error_code version_edge_splits(const struct version_fold *fold, struct store *store,
                                               const uint64_t *train_class,
                                               struct repeated_edges *repeated,
                                               struct edge_splits *out, struct error *err);
/* Makes the ids. *are_numbers, with *out empty, if each node's id is its number. */
MUST_CHECK enum error_code version_ids(const struct version_fold *fold, struct store *store,
                                       bool *are_numbers, struct node_ids *out, struct error *err);

/* Makes the graph index of a dataset of many graphs. Graphs that stay keep their ids. Fails:
 * ERROR_CORRUPT also for graphs that do not match. */
MUST_CHECK enum error_code version_graphs(const struct version_fold *fold, struct store *store,
                                          struct graph_index *out, struct error *err);

/* Allocates the memory of a result as the bytes of its view, which frees them. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_block(struct record_view *view, const struct version_fold *fold,
                                         const char *what, uint64_t bytes, struct error *err);

#endif
