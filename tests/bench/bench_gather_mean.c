/*
 * bench_gather_mean - gather and mean in one pass over random rows, against copying as many bytes.
 *
 *   bench_gather_mean [threads]       prints: name value unit ratio
 *
 * Floor: the time to copy the bytes that are gathered from one array to another, which counts them read
 * and written once. Random rows cannot reach it; design.md says what is near.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/nn/layer_pass.h"
#include "common/nn/mixing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7, COPY_BYTES = 1 << 28, COPY_PIECES = 64 };

struct shape {
    uint32_t sources, dim, fanout, rows;
};

static const struct shape shapes[] = {{2400000, 100, 15, 60000},
                                      {110000, 100, 10, 60000},
                                      {155700, 256, 10, 16264},
                                      {12000, 256, 10, 12000}};

struct bench {
    struct shape shape;
    struct mixing mixing;
    struct message_block block;
    struct input_rows input;
    float *out;
    char *copy_from, *copy_to;
};

static void *mapped(size_t count, size_t size)
{
    void *p = memory_map(count * size);
    must(p);
    memset(p, 1, count * size); /* the first touch is not what is measured */
    return p;
}

static void prepare(struct bench *bench, struct shape shape)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    const uint32_t edges = shape.rows * shape.fanout;
    uint32_t *row_start = mapped((size_t)shape.rows + 1, sizeof *row_start);
    uint32_t *neighbor = mapped(edges, sizeof *neighbor);
    float *scale = mapped(shape.rows, sizeof *scale);
    for (uint32_t i = 0; i <= shape.rows; i++)
        row_start[i] = i * shape.fanout;
    for (uint32_t e = 0; e < edges; e++)
        neighbor[e] = random_below(random_word(&stream, e, 0), shape.sources);
    for (uint32_t i = 0; i < shape.rows; i++)
        scale[i] = 1 / (float)shape.fanout;
    bench->shape = shape;
    bench->mixing = (struct mixing){
        .destination_count = shape.rows, .destination_scale = scale, .self_beside = true};
    bench->block = (struct message_block){.destination_count = shape.rows,
                                          .source_count = shape.sources,
                                          .row_start = row_start,
                                          .neighbor = neighbor};
    bench->input = (struct input_rows){
        .base = mapped((size_t)shape.sources * shape.dim, sizeof(float)), .stride = shape.dim};
    bench->out = mapped((size_t)shape.rows * shape.dim * 2, sizeof(float));
}

static void gather_tile(void *context, int64_t tile, int thread)
{
    const struct bench *b = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    mixing_gather(&b->mixing, &b->block, &b->input, b->shape.dim, first,
                  layer_pass_tile_end(first, b->shape.rows), NULL,
                  b->out + (size_t)first * 2 * b->shape.dim);
}

static void copy_piece(void *context, int64_t piece, int thread)
{
    const struct bench *b = context;
    const size_t size = COPY_BYTES / COPY_PIECES;
    (void)thread;
    memcpy(b->copy_to + (size_t)piece * size, b->copy_from + (size_t)piece * size, size);
}

static double least_seconds(struct thread_pool *pool, int64_t tiles, thread_pool_body body,
                            struct bench *bench)
{
    double least = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = clock_seconds();
        thread_pool_run(pool, tiles, body, bench);
        const double seconds = clock_seconds() - start;
        if (repeat == 0 || seconds < least)
            least = seconds;
    }
    return least;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    struct bench bench = {0};
    const long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || threads > 1024) {
        (void)fprintf(stderr, "usage: bench_gather_mean [threads]\n");
        return 64;
    }
    must(thread_pool_new((int)threads, &pool, &err) == ERROR_NONE);
    bench.copy_from = mapped(COPY_BYTES, 1);
    bench.copy_to = mapped(COPY_BYTES, 1);
    const double copy = least_seconds(pool, COPY_PIECES, copy_piece, &bench) / COPY_BYTES;
    printf("copy_bandwidth %.1f GB/s 1.00\n", 1e-9 / copy);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        prepare(&bench, shapes[i]); /* the memory of the last shape goes with the process */
        const double edges = (double)shapes[i].rows * shapes[i].fanout;
        const double floor_ns = copy * 4e9 * shapes[i].dim;
        const double our_ns =
            least_seconds(pool, layer_pass_tiles(shapes[i].rows), gather_tile, &bench) / edges *
            1e9;
        printf("gather_mean_%" PRIu32 "x%" PRIu32 "_floor %.1f ns/edge 1.00\n", shapes[i].sources,
               shapes[i].dim, floor_ns);
        printf("gather_mean_%" PRIu32 "x%" PRIu32 "_ours %.1f ns/edge %.2f\n", shapes[i].sources,
               shapes[i].dim, our_ns, our_ns / floor_ns);
    }
    thread_pool_free(pool);
    return 0;
}
