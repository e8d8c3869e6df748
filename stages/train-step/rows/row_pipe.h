/*
 * row_pipe - a visit of feature rows on all threads of a pool.
 *
 * Stripes of rows (store/features/feature_walk.h) may be read side by side, but have to come to the visitor one after the
 * other in their order. So a thread that is free sees to the stripe whose turn it is, when that was read and
 * nobody else is at one, and else reads the next that nobody has begun. Reading takes longer than what is done
 * with rows, so one thread is often at its end of a stripe when that one's turn comes, with its rows in the
 * core's own cache; and nobody waits for a thread that has no core.
 *
 * A few stripes at a time are read or wait for their turn.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ROW_PIPE_H
#define STAGES_TRAIN_STEP_ROWS_ROW_PIPE_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "store/features/feature_source.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that a visit takes beside those of feature_source_visit(). */
uint64_t row_pipe_bytes(const struct feature_source *source);
/* As feature_source_visit(). The visitor is called from threads of the pool, by one of them at a time. */
MUST_CHECK enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node,
                                          size_t count, feature_visitor visitor, void *context,
                                          struct thread_pool *pool, struct error *err);

#endif
