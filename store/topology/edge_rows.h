/*
 * edge_rows - copies the edge features of a mini-batch from the topology, by the positions of its
 * edges.
 *
 * A mini-batch has ids but no features (store/records/batch/mini_batch.h). Code that computes on edge
 * features reads them from the mapped files of the parts, whose pages belong to the system. The
 * rows of a batch are copied into one array, in the order of its edges, because backward reads them
 * again. Nearly every row is a cache miss, so each is prefetched EDGE_ROWS_AHEAD edges before it is
 * used.
 */
#ifndef STORE_TOPOLOGY_EDGE_ROWS_H
#define STORE_TOPOLOGY_EDGE_ROWS_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

enum { EDGE_ROWS_AHEAD = 32 };

/* Fills batch->columns with the rows of its edges, in the memory of the batch, using the threads of
 * `pool`, which may be NULL. Calling it again succeeds. All parts must be open and have edge
 * features; the batch must have positions, and only nodes of the topology. Fails: ERROR_CORRUPT
 * naming a position that is outside its row; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_rows_fetch(const struct topology *topology,
                                           struct mini_batch *batch, struct thread_pool *pool,
                                           struct error *err);

#endif
