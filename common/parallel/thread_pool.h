/*
 * thread_pool - a fixed number of threads that share out the tiles of one loop at a time.
 *
 * The tiles are fixed by the data, not by the thread count, and which thread takes which tile must not
 * change any bit of the result: a body writes only what belongs to its tile.
 */
#ifndef COMMON_PARALLEL_THREAD_POOL_H
#define COMMON_PARALLEL_THREAD_POOL_H

#include "common/base/error.h"

#include <stdint.h>

struct thread_pool;

/* `threads` >= 1 counts the calling thread. */
MUST_CHECK enum error_code thread_pool_new(int threads, struct thread_pool **out,
                                           struct error *err);
void thread_pool_free(struct thread_pool *pool);
int thread_pool_size(const struct thread_pool *pool); /* 1 for NULL */

/* Calls body(context, tile, thread) for each tile in [0, tile_count), thread in [0, size); returns when
 * all are done. Tiles are begun in ascending order. A NULL pool runs them here. Not from inside a body. No allocation. */
typedef void (*thread_pool_body)(void *context, int64_t tile, int thread);
void thread_pool_run(struct thread_pool *pool, int64_t tile_count, thread_pool_body body,
                     void *context);

#endif
