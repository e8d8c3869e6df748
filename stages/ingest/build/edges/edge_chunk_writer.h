/*
 * edge_chunk_writer - gathers rows of in-neighbours into edge chunks and stores them.
 *
 * The rows alone determine where a chunk ends (edge_chunk.h). The writer holds the arrays of one
 * chunk and nothing else.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGE_CHUNK_WRITER_H
#define STAGES_INGEST_BUILD_EDGES_EDGE_CHUNK_WRITER_H

#include "common/base/error.h"
#include "stages/ingest/build/edges/edge_row.h"
#include "store/objects/store.h"

#include <stdint.h>

struct edge_chunk_writer { /* {0} is closed */
    struct store *store;
    const char *dataset_id;
    uint64_t edges_max; /* the limit for a chunk with several nodes */
    uint32_t nodes_max;
    uint32_t first_node, node_count; /* the chunk being gathered */
    uint64_t edge_count;
    uint64_t chunk_count;
    uint64_t edge_capacity;
    uint64_t *row_start; /* [nodes_max + 1] */
    uint32_t *neighbor;  /* [edge_capacity] */
    struct edge_columns columns;
};

/* The sizes that the writer has to hold, before duplicates are removed. */
struct edge_chunk_needs {
    uint32_t node_count;
    uint64_t edge_count;
    uint64_t largest_row;
    struct edge_widths width;
};

/* Returns the number of bytes that edge_chunk_writer_open() allocates. */
uint64_t edge_chunk_writer_bytes(const struct edge_chunk_needs *needs);
/* `dataset_id` is borrowed. */
MUST_CHECK enum error_code edge_chunk_writer_open(struct edge_chunk_writer *writer,
                                                  struct store *store, const char *dataset_id,
                                                  const struct edge_chunk_needs *needs,
                                                  struct error *err);
/* Adds the row of the next node; see edge_sorter_visitor for `order` and `kept`. */
MUST_CHECK enum error_code edge_chunk_writer_add(struct edge_chunk_writer *writer,
                                                 const struct edge_row *row, const uint64_t *order,
                                                 uint32_t kept, struct error *err);
/* Stores the last chunk. */
MUST_CHECK enum error_code edge_chunk_writer_finish(struct edge_chunk_writer *writer,
                                                    struct error *err);
void edge_chunk_writer_release(struct edge_chunk_writer *writer);

#endif
