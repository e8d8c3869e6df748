/*
 * feature_chunk - feature rows of consecutive nodes of a dataset.
 *
 * ingest writes them, and partition reads them. Chunk boundaries depend on the data only.
 *
 *   dataset/<id>/features/<chunk>  rows [first_node, first_node + node_count)
 *       "range" U64 [3]            first_node, node_count, dim
 *       "row"   F32 [node_count, dim]
 *       A chunk has 2^22 / dim rows, rounded down to a multiple of 256, and at least 256 rows.
 */
#ifndef STORE_RECORDS_DATASET_FEATURE_CHUNK_H
#define STORE_RECORDS_DATASET_FEATURE_CHUNK_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

enum { FEATURE_CHUNK_FLOATS = 1 << 22 };

/* Returns how many rows a full chunk has. */
uint32_t feature_chunk_rows(uint32_t dim);
/* Returns how many chunks the rows of `node_count` nodes take; 0 without columns. */
uint64_t feature_chunk_count(uint32_t node_count, uint32_t dim);

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
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
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released; after a failure it is zero. Fails: ERROR_CORRUPT naming key and section,
 * what was expected and what was found. */
MUST_CHECK enum error_code feature_chunk_decode(const struct record_view *view,
                                                struct feature_chunk *out, struct error *err);

#endif
