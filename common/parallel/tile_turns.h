/*
 * tile_turns - the last step of each tile of a loop, in the order of the tiles.
 *
 * What a tile gives may be made by any thread at any time, and yet has to go into a file or a sum in order. A body
 * makes it, waits for its turn, puts it there, and passes the turn on:
 *
 *   tile_turns_wait(turns, tile);
 *   ...
 *   tile_turns_pass(turns);
 *
 * Every tile passes its turn once, also when it failed. Threads take tiles in ascending order (thread_pool.h), so the
 * one whose turn it is always runs.
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

/* Before thread_pool_run(): the first turn is that of tile 0. */
void tile_turns_begin(struct tile_turns *turns);
void tile_turns_wait(struct tile_turns *turns, int64_t tile);
void tile_turns_pass(struct tile_turns *turns);
void tile_turns_end(struct tile_turns *turns);

#endif
