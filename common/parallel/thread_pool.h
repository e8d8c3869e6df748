/*
 * thread_pool - a fixed number of threads that process the tiles of one loop at a time.
 *
 * The tiles are fixed by the data, not by the number of threads, and the result must have the same
 * bits whichever thread takes which tile: a body writes only what belongs to its tile.
 */
#ifndef COMMON_PARALLEL_THREAD_POOL_H
#define COMMON_PARALLEL_THREAD_POOL_H

#include "common/base/error.h"

#include <stdint.h>

struct thread_pool;

/* `threads` >= 1 includes the calling thread. */
MUST_CHECK enum error_code thread_pool_new(int threads, struct thread_pool **out,
                                           struct error *err);
void thread_pool_free(struct thread_pool *pool);
int thread_pool_size(const struct thread_pool *pool); /* returns 1 for NULL */

/* Calls body(context, tile, thread) for each tile in [0, tile_count), thread in [0, size); returns
 * when all are done. Tiles are started in ascending order. For a NULL pool the calling thread runs
 * them all. A body must not call it. Allocates nothing. */
typedef void (*thread_pool_body)(void *context, int64_t tile, int thread);
void thread_pool_run(struct thread_pool *pool, int64_t tile_count, thread_pool_body body,
                     void *context);

#endif
