/*
 * bench_step - one training step of GraphSAGE on a batch of the shape that ogbn-products gives.
 *
 *   bench_step [repeats [fp32 | bf16]]       prints: name value unit ratio
 *
 * 1,024 seeds, fan-outs 15, 10, 5, hidden 256, dropout 0.5: 1,024, 16,264 and 155,764 rows to
 * compute, 664,264 nodes, 865,260 edges. The edges that discover no new node end in known ones by a
 * power law.
 *
 *   step_<threads>              forward, loss and backward through model.h
 *   layer<k>_<direction>_...    the same by layers, in runs of their own
 *   ..._floor                   OpenBLAS alone: the products of that part as dense ones, tile by
 *                               tile, one BLAS thread each; ratio 1
 *
 * In bf16 the floor is still that of float: the ratio shows what rounding the operands gains.
 *
 * Floor and ours alternate; the least time of all repeats is printed.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/math/bf16_product.h"
#include "common/math/blas.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/model.h"
#include "common/nn/tasks/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUM_COUNT = 16, /* partial sums of a gradient of weights */
    LAYERS = 3,
    NODES_OF_GRAPH = 2449029,
    FEATURES = 100,
    HIDDEN = 256,
    CLASSES = 47,
    EDGE_CAPACITY = 900000
};

static const uint32_t fanout[LAYERS] = {15, 10, 5};
static const uint32_t hop_end[LAYERS + 1] = {1024, 16264, 155764, 664264};

struct batch {
    struct model model;
    struct message_block block[LAYERS];
    struct input_rows rows;
    float *value, *gradient, *logits, *slope;
    int32_t *label;
    struct arena arena;
    struct thread_pool *pool;
    float *left, *right, *product; /* of the floor */
};

enum part { FORWARD, BACKWARD, PART_COUNT };

struct times {
    double step, floor_step;
    double layer[LAYERS][PART_COUNT], floor[LAYERS][PART_COUNT];
};

static void *mapped(size_t count, size_t size)
{
    void *p = memory_map(count * size);
    must(p);
    return p;
}

static float *filled(size_t count)
{
    float *p = mapped(count, sizeof *p);
    for (size_t i = 0; i < count; i++)
        p[i] = (float)((i * 2654435761U >> 8) % 2001) / 1000 - 1;
    return p;
}

/* Makes the edges in order; each hop's new nodes are spread evenly over its edges. */
static void make_edges(uint32_t *row_start, uint32_t *neighbor)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t edge = 0, found = hop_end[0];
    for (uint32_t hop = 0, i = 0; hop < LAYERS; hop++) {
        const uint32_t first_edge = edge, edges = (hop_end[hop] - i) * fanout[hop];
        const uint64_t fresh = hop_end[hop + 1] - hop_end[hop];
        for (; i < hop_end[hop]; i++)
            for (uint32_t k = 0; k < fanout[hop]; k++, edge++) {
                const uint64_t due = fresh * (edge - first_edge + 1) / edges + hop_end[hop];
                const float unit = random_unit(random_word(&stream, edge, 0));
                neighbor[edge] = found < due ? found++ : (uint32_t)(unit * unit * (float)found);
                row_start[i + 1] = edge + 1;
            }
        must(found == hop_end[hop + 1]);
    }
}

static void make_input(struct batch *batch)
{
    const struct random_stream stream = random_stream_of(2, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t *row_index = mapped(hop_end[LAYERS], sizeof *row_index);
    for (uint32_t i = 0; i < hop_end[LAYERS]; i++)
        row_index[i] = (uint32_t)random_permute(&stream, i, NODES_OF_GRAPH);
    float *value = filled((size_t)NODES_OF_GRAPH * FEATURES);
    const enum precision precision = batch->model.config.precision;
    batch->rows = (struct input_rows){
        .base = value, .stride = FEATURES, .row_index = row_index, .precision = precision};
    if (precision == PRECISION_FP32)
        return;
    bf16 *rounded = mapped((size_t)NODES_OF_GRAPH * FEATURES, sizeof *rounded);
    bf16_of_floats(rounded, value, (size_t)NODES_OF_GRAPH * FEATURES);
    memory_unmap(value, (size_t)NODES_OF_GRAPH * FEATURES * sizeof *value);
    batch->rows.base = rounded;
}

static void make_batch(struct batch *batch, enum precision precision)
{
    struct error err = {0};
    const struct model_outline config = {.layer.kind = LAYER_SAGE,
                                         .hop_count = LAYERS,
                                         .input_dim = FEATURES,
                                         .layer.output_dim = HIDDEN,
                                         .output_dim = CLASSES,
                                         .layer.dropout = 0.5,
                                         .precision = precision};
    uint32_t *row_start = mapped((size_t)hop_end[LAYERS - 1] + 1, sizeof *row_start);
    uint32_t *neighbor = mapped(EDGE_CAPACITY, sizeof *neighbor);
    must(model_init_outline(&batch->model, &config, &err) == ERROR_NONE);
    make_edges(row_start, neighbor);
    make_input(batch);
    for (int layer = 0; layer < LAYERS; layer++)
        batch->block[layer] =
            (struct message_block){.destination_count = hop_end[LAYERS - 1 - layer],
                                   .source_count = hop_end[LAYERS - layer],
                                   .row_start = row_start,
                                   .neighbor = neighbor};
    batch->value = mapped(batch->model.value_count, sizeof(float));
    batch->gradient = mapped(batch->model.value_count, sizeof(float));
    model_initialise(&batch->model, 7, batch->value);
    batch->logits = mapped((size_t)hop_end[0] * CLASSES, sizeof(float));
    batch->slope = mapped((size_t)hop_end[0] * CLASSES, sizeof(float));
    batch->label = mapped(hop_end[0], sizeof *batch->label);
    for (uint32_t i = 0; i < hop_end[0]; i++)
        batch->label[i] = (int32_t)(i % CLASSES);
    batch->left = filled((size_t)hop_end[LAYERS - 1] * 2 * HIDDEN);
    batch->right = filled((size_t)hop_end[LAYERS - 1] * HIDDEN);
    batch->product = filled((size_t)SUM_COUNT * 2 * HIDDEN * HIDDEN);
}

/* --- the floor: dense products on the layer's shapes --- */

struct product_job {
    const struct batch *batch;
    uint32_t rows;
    size_t in, out;
};

static struct matrix_view tile_of(const float *value, uint32_t rows, size_t dim, int64_t tile)
{
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    return matrix_view_of(value + first * dim, layer_pass_tile_end(first, rows) - first, dim);
}

static void project_tile(void *context, int64_t tile, int thread)
{
    const struct product_job *job = context;
    (void)thread;
    blas_product(BLAS_NT, tile_of(job->batch->left, job->rows, job->in, tile),
                 matrix_view_of(job->batch->product, job->out, job->in), false,
                 job->batch->right + (size_t)tile * TILE_ROWS * job->out, job->out);
}

static void project_back_tile(void *context, int64_t tile, int thread)
{
    const struct product_job *job = context;
    (void)thread;
    blas_product(BLAS_NN, tile_of(job->batch->right, job->rows, job->out, tile),
                 matrix_view_of(job->batch->product, job->out, job->in), false,
                 job->batch->left + (size_t)tile * TILE_ROWS * job->in, job->in);
}

static void weight_accumulator(void *context, int64_t accumulator, int thread)
{
    const struct product_job *job = context;
    (void)thread;
    for (int64_t tile = accumulator; tile < layer_pass_tiles(job->rows); tile += SUM_COUNT)
        blas_product(BLAS_TN, tile_of(job->batch->right, job->rows, job->out, tile),
                     tile_of(job->batch->left, job->rows, job->in, tile), tile >= SUM_COUNT,
                     job->batch->product + (size_t)accumulator * 2 * HIDDEN * HIDDEN, job->in);
}

static double seconds_since(double *moment)
{
    const double before = *moment;
    *moment = clock_seconds();
    return *moment - before;
}

static void keep_least(double *least, double seconds)
{
    if (*least <= 0 || seconds < *least)
        *least = seconds;
}

static void floor_once(const struct batch *batch, struct times *times)
{
    double moment = clock_seconds(), all = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
        struct product_job job = {batch, hop_end[LAYERS - 1 - layer],
                                  2 * (size_t)model_layer_input_dim(&batch->model, layer),
                                  model_layer_output_dim(&batch->model, layer)};
        double part[PART_COUNT];
        thread_pool_run(batch->pool, layer_pass_tiles(job.rows), project_tile, &job);
        part[FORWARD] = seconds_since(&moment);
        thread_pool_run(batch->pool, SUM_COUNT, weight_accumulator, &job);
        if (layer > 0)
            thread_pool_run(batch->pool, layer_pass_tiles(job.rows), project_back_tile, &job);
        part[BACKWARD] = seconds_since(&moment);
        for (int p = 0; p < PART_COUNT; p++)
            keep_least(&times->floor[layer][p], part[p]);
        all += part[FORWARD] + part[BACKWARD];
    }
    keep_least(&times->floor_step, all);
}

/* --- ours --- */

static struct random_stream dropout_of(uint32_t layer)
{
    return random_stream_of(3, RANDOM_DROPOUT, 1, layer, 0);
}

static void loss_of(struct batch *batch)
{
    const struct loss_result loss = task_single_label.loss(
        &(struct loss_rule){0}, batch->logits, batch->label, hop_end[0], CLASSES, batch->slope);
    must(loss.label_count == hop_end[0]);
}

static void step_once(struct batch *batch, struct times *times)
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    const struct random_stream dropout = dropout_of(0);
    const struct model_workspace workspace = {&batch->arena, batch->pool};
    const struct model_input input = {
        .block = batch->block, .rows = batch->rows, .dropout = &dropout};
    double moment = clock_seconds();
    arena_reset(&batch->arena);
    must(model_forward(&batch->model, batch->value, &input, &workspace, batch->logits, &trace,
                       &err) == ERROR_NONE);
    loss_of(batch);
    must(model_backward(&batch->model, batch->value, trace, batch->slope, &workspace,
                        batch->gradient, &err) == ERROR_NONE);
    keep_least(&times->step, seconds_since(&moment));
}

static void forward_layer(struct batch *batch, struct layer_pass *pass, int layer)
{
    struct error err = {0};
    struct input_rows below = batch->rows;
    if (layer)
        below = (struct input_rows){
            .base = pass[layer - 1].output,
            .stride = precision_stride(below.precision, pass[layer - 1].output_dim),
            .precision = below.precision};
    must(layer_pass_init(&pass[layer], &batch->model, batch->value, layer, &batch->block[layer],
                         &below, &batch->arena, &err) == ERROR_NONE);
    if (layer < LAYERS - 1)
        activation_set_dropout(&pass[layer].activation, 0.5F, dropout_of((uint32_t)layer));
    if (layer < LAYERS - 1)
        pass[layer].output_precision = pass[layer].precision;
    must(arena_new_bytes(&batch->arena, &pass[layer].output,
                         (size_t)pass[layer].block.destination_count * (pass[layer].output_dim + 1),
                         precision_bytes(pass[layer].output_precision), "output",
                         &err) == ERROR_NONE);
    must(layer_pass_forward(&pass[layer], true, &batch->arena, batch->pool, &err) == ERROR_NONE);
}

static void backward_layer(struct batch *batch, struct layer_pass *pass, int layer)
{
    struct error err = {0};
    float *value = batch->gradient;
    const size_t matrix = (size_t)pass[layer].output_dim * pass[layer].input_dim;
    const struct layer_gradient out = {.matrix = {value, value + matrix},
                                       .bias = value + 2 * matrix};
    must(layer_pass_backward(&pass[layer], layer < LAYERS - 1 ? &pass[layer + 1] : NULL,
                             batch->slope, layer == 0, &out, &batch->arena, batch->pool,
                             &err) == ERROR_NONE);
}

static void layers_once(struct batch *batch, struct times *times)
{
    struct layer_pass pass[LAYERS];
    arena_reset(&batch->arena);
    double moment = clock_seconds();
    for (int layer = 0; layer < LAYERS; layer++) {
        forward_layer(batch, pass, layer);
        keep_least(&times->layer[layer][FORWARD], seconds_since(&moment));
    }
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        backward_layer(batch, pass, layer);
        keep_least(&times->layer[layer][BACKWARD], seconds_since(&moment));
    }
}

static void print_times(const struct times *times, int threads)
{
    static const char *const name[PART_COUNT] = {"forward", "backward"};
    printf("step_%d_floor %.1f ms 1.00\n", threads, 1e3 * times->floor_step);
    printf("step_%d %.1f ms %.2f\n", threads, 1e3 * times->step, times->step / times->floor_step);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int p = 0; p < PART_COUNT; p++) {
            const double floor = times->floor[layer][p], ours = times->layer[layer][p];
            printf("layer%d_%s_%d_floor %.2f ms 1.00\n", layer + 1, name[p], threads, 1e3 * floor);
            printf("layer%d_%s_%d %.2f ms %.2f\n", layer + 1, name[p], threads, 1e3 * ours,
                   ours / floor);
        }
}

int main(int argc, char **argv)
{
    static struct batch batch;
    struct error err = {0};
    const long repeats = argc > 1 ? strtol(argv[1], NULL, 10) : 7;
    const bool rounds = argc > 2 && strcmp(argv[2], "bf16") == 0;
    if (repeats < 1 || repeats > 1000 || (rounds && !bf16_product_is_possible())) {
        (void)fprintf(stderr, "usage: bench_step [repeats [fp32 | bf16]]; bf16 where there is "
                              "avx512_bf16\n");
        return error_exit_status(ERROR_USAGE);
    }
    make_batch(&batch, rounds ? PRECISION_BF16 : PRECISION_FP32);
    for (int threads = 1; threads <= 2; threads++) {
        struct times times = {0};
        must(thread_pool_new(threads, &batch.pool, &err) == ERROR_NONE);
        for (long repeat = 0; repeat < repeats; repeat++) {
            floor_once(&batch, &times);
            step_once(&batch, &times);
            layers_once(&batch, &times);
        }
        print_times(&times, threads);
        thread_pool_free(batch.pool);
    }
    arena_release(&batch.arena); /* the process ends here, and the other memory with it */
    return 0;
}
