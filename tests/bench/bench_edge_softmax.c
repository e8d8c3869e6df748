/*
 * bench_edge_softmax - converts scores of edges to shares, compared with passes over the same
 * numbers.
 *
 *   bench_edge_softmax [threads]      prints: name value unit ratio
 *
 * 155,764 destinations with five edges each: the slots of the first layer of a batch of the shape
 * that ogbn-products gives (bench_step.c). It works tile by tile, as attention does.
 *
 *   edge_softmax_<heads>_floor        three passes over a tile's values without regard to rows: one
 *                                     finds the maximum, one computes exponentials
 *                                     (common/math/vector_exp.h), one multiplies; ratio 1
 *   edge_softmax_<heads>_ours         edge_softmax()
 *
 * Floor and ours alternate; the least time of all repeats is printed.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/math/vector_exp.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/edge_softmax.h"
#include "common/numbers/cpu_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 9, DESTINATIONS = 155764, SOURCES = 664264, FANOUT = 5 };

struct bench {
    struct edge_shape shape;
    float *given, *value; /* [slots, heads] */
};

static void *mapped(size_t count, size_t size)
{
    void *p = memory_map(count * size);
    must(p);
    memset(p, 1, count * size); /* so that the first touch is not measured */
    return p;
}

static void prepare(struct bench *bench, uint32_t heads)
{
    uint32_t *row_start = mapped((size_t)DESTINATIONS + 1, sizeof *row_start);
    uint32_t *neighbor = mapped((size_t)DESTINATIONS * FANOUT, sizeof *neighbor);
    for (uint32_t i = 0; i <= DESTINATIONS; i++)
        row_start[i] = i * FANOUT;
    for (uint32_t e = 0; e < DESTINATIONS * FANOUT; e++)
        neighbor[e] = (uint32_t)((uint64_t)e * 2654435761U % SOURCES);
    bench->shape = (struct edge_shape){.block = {.destination_count = DESTINATIONS,
                                                 .source_count = SOURCES,
                                                 .row_start = row_start,
                                                 .neighbor = neighbor},
                                       .heads = heads};
    const size_t count = edge_slot_count(&bench->shape.block) * heads;
    bench->given = mapped(count, sizeof(float));
    bench->value = mapped(count, sizeof(float));
    for (size_t i = 0; i < count; i++)
        bench->given[i] = (float)((i * 2654435761U >> 8) % 2001) / 200 - 5;
}

CPU_KERNEL(pass_over, (float *value, size_t count), (value, count))
{
    float most = 0;
    for (size_t i = 0; i < count; i += 16) /* every cache line */
        most = value[i] > most ? value[i] : most;
    __asm__ volatile("" : : "x"(most));
    vector_exp(value, count);
    __asm__ volatile("" : : : "memory");
    for (size_t i = 0; i < count; i++)
        value[i] *= 0.5F;
    __asm__ volatile("" : : : "memory");
}

static void floor_tile(void *context, int64_t tile, int thread)
{
    const struct bench *b = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, DESTINATIONS);
    const size_t from = edge_slot(&b->shape.block, first) * b->shape.heads;
    (void)thread;
    pass_over(b->value + from, edge_slot(&b->shape.block, end) * b->shape.heads - from);
}

static void softmax_tile(void *context, int64_t tile, int thread)
{
    const struct bench *b = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    edge_softmax(&b->shape, first, layer_pass_tile_end(first, DESTINATIONS), b->value);
}

static void keep_least(double *least, struct thread_pool *pool, thread_pool_body body,
                       struct bench *bench)
{
    const size_t count = edge_slot_count(&bench->shape.block) * bench->shape.heads;
    memcpy(bench->value, bench->given, count * sizeof *bench->value);
    const double start = clock_seconds();
    thread_pool_run(pool, layer_pass_tiles(DESTINATIONS), body, bench);
    const double seconds = clock_seconds() - start;
    if (*least <= 0 || seconds < *least)
        *least = seconds;
}

static void run_heads(uint32_t heads, struct thread_pool *pool)
{
    struct bench bench = {0};
    double floor = 0, ours = 0;
    prepare(&bench, heads); /* the process ends here, and its memory with it */
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        keep_least(&floor, pool, floor_tile, &bench);
        keep_least(&ours, pool, softmax_tile, &bench);
    }
    const double scale = 1e9 / ((double)edge_slot_count(&bench.shape.block) * heads);
    printf("edge_softmax_%" PRIu32 "_floor %.2f ns/value 1.00\n", heads, floor * scale);
    printf("edge_softmax_%" PRIu32 "_ours %.2f ns/value %.2f\n", heads, ours * scale, ours / floor);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    const long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || threads > 1024) {
        (void)fprintf(stderr, "usage: bench_edge_softmax [threads]\n");
        return error_exit_status(ERROR_USAGE);
    }
    must(thread_pool_new((int)threads, &pool, &err) == ERROR_NONE);
    run_heads(1, pool);
    run_heads(4, pool);
    run_heads(8, pool);
    thread_pool_free(pool);
    return 0;
}
