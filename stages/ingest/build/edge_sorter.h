/*
 * edge_sorter - turns spooled edges into rows of in-neighbours, in the order of nodes.
 *
 * A counting sort by destination in two passes. The first, counting, is the builder's while edges
 * arrive. The second takes as many consecutive nodes as fit the memory, reads the whole spool, drops
 * each edge of these nodes into its row, sorts the rows and hands them on; then the next nodes. The
 * spool is read once for each such range, so half the memory costs twice the reading and never
 * another result: ranges are invisible in what is handed on.
 *
 * Rows are filled by the threads of a pool, each of which reads the whole spool and drops the edges of a share of the range's
 * nodes, in the order of the spool as ever.
 *
 * Rejected: distributing the edges over bucket files first. It reads less when ranges are many, but
 * writes all edges once more, and with a sensible budget there are few ranges.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_SORTER_H
#define STAGES_INGEST_BUILD_EDGE_SORTER_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/ingest/build/edge_row.h"
#include "stages/ingest/build/edge_spool.h"
#include "stages/plan/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

/* One row: its edges are at the positions (low halves) order[0 .. kept) of `row`; the high halves are
 * the neighbours. Borrowed for the call, which may reorder it. */
typedef enum error_code (*edge_sorter_visitor)(void *context, uint32_t node,
                                               const struct edge_row *row, uint64_t *order,
                                               uint32_t kept, struct error *err);

struct edge_sorter {
    struct edge_spool *spool;
    uint32_t node_count;
    bool both_ways; /* an edge also goes back; a self loop does not go twice */
    /* An edge, and a self loop, also goes back with this added to its type; 0: it does not. */
    uint32_t reverse_types;
    bool skip_self_loops; /* they are in the spool but not in the graph */
    enum edge_policy duplicates;
    uint64_t memory_bytes;     /* for the rows of a range */
    struct thread_pool *pool;  /* borrowed; NULL: the calling thread fills rows */
    edge_sorter_visitor visit; /* NULL: only look for repeated edges */
    void *context;
    /* [node_count] edges that end in each node, by the spool; edge_sorter_run() lowers it to what is
     * kept. */
    uint32_t *in_degree;
    /* Results. Of an undirected edge that is removed both ways count as one. */
    uint64_t removed_duplicates;
    uint64_t range_count;
    /* With EDGES_REFUSE: the first repeated edge. Its columns go to edge 0 of `repeated`, the caller's. */
    uint32_t repeated_source, repeated_target;
    struct edge_columns repeated;
};

/* Fails: ERROR_INPUT for a repeated edge under EDGES_REFUSE; ERROR_NO_MEMORY when the edges of one node
 * do not fit; ERROR_IO; what `visit` returns. */
MUST_CHECK enum error_code edge_sorter_run(struct edge_sorter *sorter, struct error *err);

/* Bytes of the pieces that filling rows takes beside memory_bytes: of spool and pool. */
uint64_t edge_sorter_piece_bytes(const struct edge_spool *spool, const struct thread_pool *pool);
/* Least memory_bytes for a row of so many edges. */
uint64_t edge_sorter_bytes_of_row(const struct edge_spool *spool, uint64_t degree);
/* Bytes that let all nodes be one range. */
uint64_t edge_sorter_bytes_at_most(const struct edge_sorter *sorter);

#endif
