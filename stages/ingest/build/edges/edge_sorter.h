/*
 * edge_sorter - turns spooled edges into rows of in-neighbours, in the order of nodes.
 *
 * The sorter is a counting sort by destination in two passes. The builder does the first, counting,
 * while edges arrive. The second takes as many consecutive nodes as fit the memory, reads the whole
 * spool, writes each edge of these nodes into its row, sorts the rows and passes them to the
 * visitor; then it takes the next range of nodes. The spool is read once for each range, so half
 * the memory costs twice the reading, but the rows are the same.
 *
 * The threads of a pool fill the rows. Each thread reads the whole spool and writes the edges of
 * its share of the range's nodes, so each row keeps the order of the spool.
 *
 * Rejected: distributing the edges over bucket files first. It reads less when ranges are many, but
 * writes all edges once more, and with a sensible budget there are few ranges.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGE_SORTER_H
#define STAGES_INGEST_BUILD_EDGES_EDGE_SORTER_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/ingest/build/edges/edge_row.h"
#include "stages/ingest/build/edges/edge_spool.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

/* Is called with each row in turn. The edges of the row are at the positions (low halves) order[0
 * .. kept) of `row`; the high halves are the neighbours. All are borrowed for the call, which may
 * reorder `order`. */
typedef enum error_code (*edge_sorter_visitor)(void *context, uint32_t node,
                                               const struct edge_row *row, uint64_t *order,
                                               uint32_t kept, struct error *err);

struct edge_sorter {
    struct edge_spool *spool;
    uint32_t node_count;
    bool both_ways; /* each edge also gets its reverse; a self loop does not */
    /* Each edge, also a self loop, gets a reverse whose type is higher by this number; 0: no
     * reverses. */
    uint32_t reverse_types;
    bool skip_self_loops; /* self loops are in the spool but not in the graph */
    enum edge_policy duplicates;
    uint64_t memory_bytes;     /* for the rows of one range */
    struct thread_pool *pool;  /* borrowed; NULL: the calling thread fills the rows */
    edge_sorter_visitor visit; /* NULL: only look for repeated edges */
    void *context;
    /* [node_count] how many edges of the spool end in each node; edge_sorter_run() lowers it to the
     * number that is kept. */
    uint32_t *in_degree;
    /* Results. When an undirected edge is removed, its two directions count as one. */
    uint64_t removed_duplicates;
    uint64_t range_count;
    /* With EDGES_REFUSE: the first repeated edge. Its columns are written to edge 0 of `repeated`,
     * which the caller owns. */
    uint32_t repeated_source, repeated_target;
    struct edge_columns repeated;
};

/* Sorts the edges and calls `visit` for each row. Fails: ERROR_INPUT for a repeated edge under
 * EDGES_REFUSE; ERROR_NO_MEMORY when the edges of one node do not fit; ERROR_IO; the error that
 * `visit` returns. */
MUST_CHECK enum error_code edge_sorter_run(struct edge_sorter *sorter, struct error *err);

/* Returns the bytes that filling rows takes on top of memory_bytes: the pieces of the spool that
 * the threads of the pool read. */
uint64_t edge_sorter_piece_bytes(const struct edge_spool *spool, const struct thread_pool *pool);
/* Returns the least memory_bytes for a row of `degree` edges. */
uint64_t edge_sorter_bytes_of_row(const struct edge_spool *spool, uint64_t degree);
/* Returns the memory_bytes with which all nodes are one range. */
uint64_t edge_sorter_bytes_at_most(const struct edge_sorter *sorter);

#endif
