/*
 * row_pipe - visits feature rows with all threads of a pool.
 *
 * Stripes of rows (store/features/feature_walk.h) may be read in parallel, but the visitor must
 * get them one after the other in their order. A free thread visits the next stripe if that stripe
 * was read and no other thread is visiting. Otherwise it reads the next stripe that nobody has
 * begun. Reading takes longer than visiting, so a thread has often just finished a stripe when its
 * turn comes, with the rows still in the core's own cache. No thread waits for one that has no
 * core.
 *
 * At most a few stripes are being read or wait for their turn.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ROW_PIPE_H
#define STAGES_TRAIN_STEP_ROWS_ROW_PIPE_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "store/features/feature_source.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes that a visit takes in addition to feature_source_visit(). */
uint64_t row_pipe_bytes(const struct feature_source *source);
/* Visits rows as feature_source_visit(). Threads of the pool call the visitor, one at a time. */
MUST_CHECK enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node,
                                          size_t count, feature_visitor visitor, void *context,
                                          struct thread_pool *pool, struct error *err);

#endif
