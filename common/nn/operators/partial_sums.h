/*
 * partial_sums - sums over tiles of rows, in an order that the number of rows alone decides.
 *
 * The gradient of a weight is a sum over all rows, dW = sum over tiles t of dy_t^T x_t. It is cut so that 64 threads have
 * work, and so that the cuts do not show: any number of threads gives the same bits.
 *
 *   tiles    of 64 to 512 rows, a multiple of 32: as many as 64 if the rows allow, and more when tiles are full
 *   chains   at most 64: chain c adds the tiles c, c + 64, ... in order
 *   groups   at most 16: group g adds the chains g, g + 16, g + 32, g + 48 in order
 *   total    the groups in order
 *
 * A sum takes as much memory as the weights, so there is not one for each chain as long as threads are few. Up to 16 threads
 * take a group each: its first chain is summed where the group is, the others in room of the thread's, from where they are
 * added while they are in its cache. More threads take a chain each, and the groups are added up in the end.
 */
#ifndef COMMON_NN_OPERATORS_PARTIAL_SUMS_H
#define COMMON_NN_OPERATORS_PARTIAL_SUMS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PARTIAL_SUMS_CHAINS = 64,
    PARTIAL_SUMS_GROUPS = 16,
    PARTIAL_SUMS_ROWS_LEAST = 64,
    PARTIAL_SUMS_ROWS_UNIT = 32,
    PARTIAL_SUMS_ROWS_MOST = 512
};

struct partial_sums {
    uint32_t rows, tile_rows;
    int64_t tiles;
    size_t size;   /* floats of a sum, and from one to the next */
    bool by_chain; /* a unit of work is a chain, not a group */
    float *sum;    /* [units, size] */
    float *spare;  /* [threads, size]; NULL when no group has two chains, or by_chain */
};

/* A tile's turn. */
struct partial_sums_tile {
    uint32_t first, end; /* rows */
    bool fresh;          /* `sum` holds nothing yet: write, else add */
    float *sum;          /* [size] */
    int thread;
};
typedef void (*partial_sums_body)(void *context, const struct partial_sums_tile *tile);

/* Rows of a tile, but for the last one. */
uint32_t partial_sums_tile_rows(uint32_t rows);
/* Room for sums of `size` floats over `rows` rows (at least 1), for a pool of `threads`. */
MUST_CHECK enum error_code partial_sums_init(struct partial_sums *out, uint32_t rows, size_t size,
                                             int threads, struct arena *arena, struct error *err);
/* Calls the body for every tile. It writes what belongs to its rows, and its tile's share of the sum. */
void partial_sums_run(const struct partial_sums *sums, struct thread_pool *pool,
                      partial_sums_body body, void *context);
/* The total of the floats first .. first + count - 1, after the run, once; valid as long as the arena. Threads may ask for
 * different floats at once. */
const float *partial_sums_total(const struct partial_sums *sums, size_t first, size_t count);
/* The same into out [count], by all threads of the pool. */
void partial_sums_total_into(const struct partial_sums *sums, struct thread_pool *pool,
                             size_t first, size_t count, float *out);

#endif
