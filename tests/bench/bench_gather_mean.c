/*
 * bench_gather_mean - gather and (weighted) mean in one pass over random rows, compared with
 * reading the same rows.
 *
 *   bench_gather_mean [threads]       prints: name value unit ratio
 *
 *   gather_mean_<sources>x<columns>_floor   every cache line of the same rows in the same order,
 *                                           prefetched, own rows copied, and as many bytes written;
 *                                           ratio 1
 *   gather_mean_<sources>x<columns>_ours    aggregation_forward(): means and own rows
 *   gather_mean_<sources>x<columns>_read    the same in bytes of neighbours' rows
 *   gather_weighted_..._floor, _ours        the same two with a value for each edge, which the
 *                                           floor reads too
 *   copy_bandwidth                          of one long array to another, read and written bytes
 *
 * Floor and ours alternate; the least time of all repeats is printed.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/math/vector.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/aggregation.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/random.h"

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
    struct aggregation aggregation;
    const float *edge_value; /* for the weighted lines */
    struct message_block block;
    struct input_rows input;
    float *out;
    char *copy_from, *copy_to;
};

static void *mapped(size_t count, size_t size)
{
    void *p = memory_map(count * size);
    must(p);
    memset(p, 1, count * size); /* so that the first touch is not measured */
    return p;
}

static void prepare(struct bench *bench, struct shape shape)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    const uint32_t edges = shape.rows * shape.fanout;
    uint32_t *row_start = mapped((size_t)shape.rows + 1, sizeof *row_start);
    uint32_t *neighbor = mapped(edges, sizeof *neighbor);
    float *scale = mapped(shape.rows, sizeof *scale);
    float *value = mapped(edges, sizeof *value);
    for (uint32_t i = 0; i <= shape.rows; i++)
        row_start[i] = i * shape.fanout;
    for (uint32_t e = 0; e < edges; e++)
        neighbor[e] = random_below(random_word(&stream, e, 0), shape.sources);
    for (uint32_t e = 0; e < edges; e++)
        value[e] = 1 + random_unit(random_word(&stream, e, 1));
    for (uint32_t i = 0; i < shape.rows; i++)
        scale[i] = 1 / (float)shape.fanout;
    bench->shape = shape;
    bench->edge_value = value;
    bench->aggregation = (struct aggregation){
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
    aggregation_forward(&b->aggregation, &b->block, &b->input, b->shape.dim, first,
                        layer_pass_tile_end(first, b->shape.rows), NULL,
                        b->out + (size_t)first * 2 * b->shape.dim);
}

/* How far ahead rows are prefetched, in bytes of rows, like aggregation_walk.h. */
enum { BYTES_FAR = 40960, BYTES_NEAR = 4800, ROWS_FAR = 8, COLUMNS_MAX = 256 };

/* Touches every cache line of a row. */
CPU_INLINE void read_row(const float *from, size_t dim)
{
    for (size_t i = 0; i < dim; i += CACHE_LINE_BYTES / sizeof *from)
        __asm__ volatile("" : : "x"(from[i])); /* keeps the load */
}

CPU_KERNEL(read_rows, (const struct bench *b, uint32_t first, uint32_t end, float *out),
           (b, first, end, out))
{
    const float row[COLUMNS_MAX] = {0};
    const size_t dim = b->shape.dim;
    const uint32_t *neighbor = b->block.neighbor, *row_start = b->block.row_start;
    const float *base = b->input.base;
    const size_t bytes = dim * sizeof *base;
    const uint32_t far = (uint32_t)(BYTES_FAR / bytes), near = (uint32_t)(BYTES_NEAR / bytes);
    for (uint32_t i = first; i < end; i++, out += 2 * dim) {
        vector_prefetch_far(base + (i + ROWS_FAR) * dim, bytes);
        vector_copy(out + dim, base + i * dim, dim);
        for (uint32_t e = row_start[i]; e < row_start[i + 1]; e++) {
            if (row_start[end] - e > far)
                vector_prefetch_far(base + neighbor[e + far] * dim, bytes);
            if (row_start[end] - e > near)
                vector_prefetch(base + neighbor[e + near] * dim, bytes);
            read_row(base + neighbor[e] * dim, dim);
            if (b->aggregation.edge_value)
                __asm__ volatile("" : : "x"(b->aggregation.edge_value[e]));
        }
        vector_copy(out, row, dim);
    }
}

static void read_tile(void *context, int64_t tile, int thread)
{
    const struct bench *b = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    read_rows(b, first, layer_pass_tile_end(first, b->shape.rows),
              b->out + (size_t)first * 2 * b->shape.dim);
}

static void copy_piece(void *context, int64_t piece, int thread)
{
    const struct bench *b = context;
    const size_t size = COPY_BYTES / COPY_PIECES;
    (void)thread;
    memcpy(b->copy_to + (size_t)piece * size, b->copy_from + (size_t)piece * size, size);
}

static void keep_least(double *least, struct thread_pool *pool, int64_t tiles,
                       thread_pool_body body, struct bench *bench)
{
    const double start = clock_seconds();
    thread_pool_run(pool, tiles, body, bench);
    const double seconds = clock_seconds() - start;
    if (*least <= 0 || seconds < *least)
        *least = seconds;
}

/* Measures floor and ours for the current bench->aggregation, which is called `name`. Returns
 * nanoseconds for each edge. */
static double run_kind(struct bench *bench, const char *name, struct thread_pool *pool)
{
    const struct shape shape = bench->shape;
    const double scale = 1e9 / ((double)shape.rows * shape.fanout);
    double floor = 0, ours = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        keep_least(&floor, pool, layer_pass_tiles(shape.rows), read_tile, bench);
        keep_least(&ours, pool, layer_pass_tiles(shape.rows), gather_tile, bench);
    }
    printf("gather_%s_%" PRIu32 "x%" PRIu32 "_floor %.1f ns/edge 1.00\n", name, shape.sources,
           shape.dim, floor * scale);
    printf("gather_%s_%" PRIu32 "x%" PRIu32 "_ours %.1f ns/edge %.2f\n", name, shape.sources,
           shape.dim, ours * scale, ours / floor);
    return ours * scale;
}

static void run_shape(struct bench *bench, struct shape shape, struct thread_pool *pool)
{
    prepare(bench, shape); /* the process ends here, and the memory of the last shape with it */
    const double ours = run_kind(bench, "mean", pool);
    printf("gather_mean_%" PRIu32 "x%" PRIu32 "_read %.1f GB/s\n", shape.sources, shape.dim,
           (double)shape.dim * sizeof(float) / ours);
    bench->aggregation.edge_value = bench->edge_value;
    (void)run_kind(bench, "weighted", pool);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    struct bench bench = {0};
    double copy = 0;
    const long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || threads > 1024) {
        (void)fprintf(stderr, "usage: bench_gather_mean [threads]\n");
        return error_exit_status(ERROR_USAGE);
    }
    must(thread_pool_new((int)threads, &pool, &err) == ERROR_NONE);
    bench.copy_from = mapped(COPY_BYTES, 1);
    bench.copy_to = mapped(COPY_BYTES, 1);
    for (int repeat = 0; repeat < REPEATS; repeat++)
        keep_least(&copy, pool, COPY_PIECES, copy_piece, &bench);
    printf("copy_bandwidth %.1f GB/s 1.00\n", 2e-9 * COPY_BYTES / copy);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        run_shape(&bench, shapes[i], pool);
    thread_pool_free(pool);
    return 0;
}
