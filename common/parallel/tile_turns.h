/*
 * tile_turns - runs the last step of each tile of a loop in the order of the tiles.
 *
 * Any thread may compute the result of a tile at any time, but the results must go into a file or a
 * sum in order. A body computes its result, waits for its turn, writes the result, and passes the
 * turn on:
 *
 *   tile_turns_wait(turns, tile);
 *   ...
 *   tile_turns_pass(turns);
 *
 * Every tile passes its turn once, also after a failure. Threads take tiles in ascending order
 * (thread_pool.h), so the tile whose turn it is always has a thread, and there is no deadlock.
 */
#ifndef COMMON_PARALLEL_TILE_TURNS_H
#define COMMON_PARALLEL_TILE_TURNS_H

#include <pthread.h>
#include <stdint.h>

struct tile_turns { /* end with tile_turns_end() */
    pthread_mutex_t lock;
    pthread_cond_t passed;
    int64_t next;
};

/* Begins with the turn of tile 0. Call it before thread_pool_run(). */
void tile_turns_begin(struct tile_turns *turns);
void tile_turns_wait(struct tile_turns *turns, int64_t tile);
void tile_turns_pass(struct tile_turns *turns);
void tile_turns_end(struct tile_turns *turns);

#endif
