/*
 * edge_chunk - edges of a dataset, as rows of in-neighbours.
 *
 * ingest writes them, and partition reads them. Nodes are numbered 0..N-1 in the order of ingest.
 * Chunk boundaries depend on the data only, never on the memory at hand.
 *
 *   dataset/<id>/edges/<chunk>     in-neighbours of the nodes [first_node, first_node + node_count)
 *       "range"     U64 [3]        first_node, node_count, edge_count
 *       "row_start" U64 [node_count + 1], from 0
 *       "neighbor"  U32 [edge_count], ascending within a row
 *       edge columns               the columns that the schema has (edge_sections.h)
 *       A chunk ends before the node that would bring it above 2^24 edges or 2^20 nodes. If an edge
 *       takes more than 32 bytes, neighbour and columns, the limit is 2^29 bytes of edges.
 */
#ifndef STORE_RECORDS_DATASET_EDGE_CHUNK_H
#define STORE_RECORDS_DATASET_EDGE_CHUNK_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "store/objects/store.h"

#include <stdint.h>

enum { EDGE_CHUNK_EDGES_MAX = 1 << 24, EDGE_CHUNK_NODES_MAX = 1 << 20 };

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct edge_chunk {
    uint32_t first_node, node_count;
    uint64_t edge_count;
    const uint64_t *row_start;
    const uint32_t *neighbor;
    struct edge_columns_view columns; /* [edge_count] */
    struct record_view view;
};

/* Returns how many edges a chunk of several nodes may have, with columns of these widths. */
uint64_t edge_chunk_edges_max(const struct edge_widths *width);

MUST_CHECK enum error_code edge_chunk_put(struct store *store, const char *dataset_id,
                                          int64_t chunk, const struct edge_chunk *edges,
                                          struct error *err);
MUST_CHECK enum error_code edge_chunk_get(struct store *store, const char *dataset_id,
                                          int64_t chunk, struct edge_chunk *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released; after a failure it is zero. Fails: ERROR_CORRUPT naming key and section,
 * what was expected and what was found. */
MUST_CHECK enum error_code edge_chunk_decode(const struct record_view *view, struct edge_chunk *out,
                                             struct error *err);

#endif
