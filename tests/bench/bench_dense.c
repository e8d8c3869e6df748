/*
 * bench_dense - the products of a GraphSAGE step, compared with OpenBLAS alone on the same shapes.
 *
 *   bench_dense [threads]       prints: name value unit ratio
 *
 *   forward_<rows>x<inner>x<columns>_floor    OpenBLAS, tile by tile, one BLAS thread each; ratio 1
 *   forward_..._ours                          the layer with the product: with own row and bias
 *   backward_...                              the same for the gradient of the weights
 *
 * The graph has no edges and nothing is dropped, so the difference to the products is the overhead
 * of the layers. Floor and ours alternate, REPEATS times and for at least half a second, because
 * all of seven repeats of a product of 0.6 ms may be disturbed. The least time is printed. The
 * processor type that OpenBLAS chose is printed on stderr.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/math/blas.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 7, SUM_COUNT = 16 };

static const double seconds_at_least = 0.5;

struct shape {
    uint32_t rows, input, output;
};

/* The layers of fan-outs 15, 10, 5 with 1,024 seeds on the products-like graph, hidden 256. */
static const struct shape shapes[] = {{155700, 100, 256}, {16264, 256, 256}, {1024, 256, 47}};

struct bench {
    struct shape shape;
    struct thread_pool *pool;
    struct arena arena;
    struct model model;
    struct message_block block;
    float *value, *gradient, *input, *aggregated, *output, *slope, *weight_gradient;
    uint32_t *row_start;
};

static void *allocate(size_t count)
{
    float *p = memory_map(count * sizeof *p);
    must(p);
    for (size_t i = 0; i < count; i++)
        p[i] = (float)(i % 17) / 17 - 0.5F;
    return p;
}

static void prepare(struct bench *bench, struct shape shape, struct thread_pool *pool)
{
    struct error err = {0};
    const struct model_outline config = {.layer.kind = LAYER_SAGE,
                                         .hop_count = 1,
                                         .input_dim = shape.input,
                                         .layer.output_dim = 1,
                                         .output_dim = shape.output};
    *bench = (struct bench){.shape = shape, .pool = pool};
    must(model_init_outline(&bench->model, &config, &err) == ERROR_NONE);
    bench->value = allocate(bench->model.value_count);
    bench->gradient = allocate(bench->model.value_count);
    bench->weight_gradient = allocate((size_t)SUM_COUNT * bench->model.value_count);
    bench->input = allocate((size_t)shape.rows * shape.input);
    bench->aggregated = allocate((size_t)shape.rows * shape.input * 2);
    bench->output = allocate((size_t)shape.rows * shape.output);
    bench->slope = allocate((size_t)shape.rows * shape.output);
    bench->row_start = memory_alloc((size_t)shape.rows + 1, sizeof *bench->row_start);
    must(bench->row_start);
    bench->block = (struct message_block){
        .destination_count = shape.rows, .source_count = shape.rows, .row_start = bench->row_start};
}

static struct matrix_view tile_of(const float *value, uint32_t rows, size_t dim, int64_t tile)
{
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    return matrix_view_of(value + first * dim, layer_pass_tile_end(first, rows) - first, dim);
}

static void forward_tile(void *context, int64_t tile, int thread)
{
    const struct bench *b = context;
    const struct matrix_view x =
        tile_of(b->aggregated, b->shape.rows, (size_t)2 * b->shape.input, tile);
    (void)thread;
    blas_product(BLAS_NT, x, matrix_view_of(b->value, b->shape.output, x.cols), false,
                 b->output + (size_t)tile * TILE_ROWS * b->shape.output, b->shape.output);
}

static void weight_accumulator(void *context, int64_t accumulator, int thread)
{
    const struct bench *b = context;
    const size_t width = (size_t)2 * b->shape.input;
    (void)thread;
    for (int64_t tile = accumulator; tile < layer_pass_tiles(b->shape.rows); tile += SUM_COUNT)
        blas_product(BLAS_TN, tile_of(b->slope, b->shape.rows, b->shape.output, tile),
                     tile_of(b->aggregated, b->shape.rows, width, tile), tile >= SUM_COUNT,
                     b->weight_gradient + (size_t)accumulator * b->model.value_count, width);
}

static double floor_forward(struct bench *b)
{
    const double start = clock_seconds();
    thread_pool_run(b->pool, layer_pass_tiles(b->shape.rows), forward_tile, b);
    return clock_seconds() - start;
}

static double floor_backward(struct bench *b)
{
    const double start = clock_seconds();
    thread_pool_run(b->pool, SUM_COUNT, weight_accumulator, b);
    return clock_seconds() - start;
}

static double ours(struct bench *b, double *backward)
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    const struct model_workspace workspace = {&b->arena, b->pool};
    const struct model_input input = {.block = &b->block,
                                      .rows = {.base = b->input, .stride = b->shape.input}};
    arena_reset(&b->arena);
    const double start = clock_seconds();
    must(model_forward(&b->model, b->value, &input, &workspace, b->output, &trace, &err) ==
         ERROR_NONE);
    const double middle = clock_seconds();
    must(model_backward(&b->model, b->value, trace, b->slope, &workspace, b->gradient, &err) ==
         ERROR_NONE);
    *backward = clock_seconds() - middle;
    return middle - start;
}

static void keep_least(double *least, double seconds)
{
    if (*least <= 0 || seconds < *least)
        *least = seconds;
}

static void report(const struct bench *b, const char *what, double floor_seconds,
                   double our_seconds)
{
    const double flop = 2.0 * b->shape.rows * (2.0 * b->shape.input) * b->shape.output;
    printf("%s_%" PRIu32 "x%" PRIu32 "x%" PRIu32 "_floor %.1f GFLOP/s 1.00\n", what, b->shape.rows,
           2 * b->shape.input, b->shape.output, flop / floor_seconds * 1e-9);
    printf("%s_%" PRIu32 "x%" PRIu32 "x%" PRIu32 "_ours %.1f GFLOP/s %.2f\n", what, b->shape.rows,
           2 * b->shape.input, b->shape.output, flop / our_seconds * 1e-9,
           our_seconds / floor_seconds);
}

static void run_shape(struct shape shape, struct thread_pool *pool)
{
    struct bench bench;
    double least[4] = {0};
    prepare(&bench, shape, pool);
    const double start = clock_seconds();
    for (int i = 0; i < REPEATS || clock_seconds() - start < seconds_at_least; i++) {
        double backward = 0;
        keep_least(&least[0], floor_forward(&bench));
        keep_least(&least[1], floor_backward(&bench));
        keep_least(&least[2], ours(&bench, &backward));
        keep_least(&least[3], backward);
    }
    report(&bench, "forward", least[0], least[2]);
    report(&bench, "backward", least[1], least[3]);
    arena_release(&bench.arena); /* the process ends here, and the other memory with it */
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    const long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || threads > 1024) {
        (void)fprintf(stderr, "usage: bench_dense [threads]\n");
        return error_exit_status(ERROR_USAGE);
    }
    must(thread_pool_new((int)threads, &pool, &err) == ERROR_NONE);
    (void)fprintf(stderr, "core %s, threads %ld\n", blas_core_name(), threads);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        run_shape(shapes[i], pool);
    thread_pool_free(pool);
    return 0;
}
