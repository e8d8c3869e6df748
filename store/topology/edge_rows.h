/*
 * edge_rows - the rows of edge features of a mini-batch, brought from the topology by the positions of its edges.
 *
 * A mini-batch has ids and no payload (store/records/mini_batch.h), so whoever computes on rows of edges reads them where
 * they lie: in the mapped files of the parts, whose pages are the system's. The rows of a batch are copied side by side,
 * in the order of its edges, because backward reads them again. Nearly every row is a cache miss, so they are asked for
 * EDGE_ROWS_AHEAD edges ahead of use.
 */
#ifndef STORE_TOPOLOGY_EDGE_ROWS_H
#define STORE_TOPOLOGY_EDGE_ROWS_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

enum { EDGE_ROWS_AHEAD = 32 };

/* Fills batch->columns with the rows of its edges, in the memory of the batch, by the threads of `pool`, which may be
 * NULL. Doing it again is success. All parts are open and have edge features; the batch has positions, and no node that
 * the topology has not.
 * Fails: ERROR_CORRUPT naming a position that its row has not; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_rows_fetch(const struct topology *topology,
                                           struct mini_batch *batch, struct thread_pool *pool,
                                           struct error *err);

#endif
