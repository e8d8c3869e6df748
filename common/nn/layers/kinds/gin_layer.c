/*
 * The graph isomorphism network (Xu and others 2019), as in the GINConv of PyG's model GIN:
 *
 *   y_i = W_1 relu(W_0 a_i + b_0) + b_1
 *   a_i = (1 + eps) x_i + sum over the neighbours j of i of x_j
 *
 * As in PyG, the norm and the activation of the hidden layers also stand between the two matrices,
 * in place of relu: layer->inner_norm and inner_activation. PyG calls the norm
 * convs.<k>.nn.norms.0. train-step.inner: relu leaves them out.
 *
 * The sum over sampled neighbours is scaled to all neighbours (neighbor_weights.h). eps is 0; it is
 * trained if train-step.train_eps is true: deps = sum over i of da_i . x_i. Edge values are
 * ignored, as in PyG.
 *
 * DGL's GINConv must be given apply_func = Sequential(Linear, ReLU, Linear).
 *
 * The layer consists of two linear layers, each run by layer_pass.h: the sum with W_0, and W_1. If
 * more than ReLU stands between them, the first of the two has a tail (layer_tail.h). In a
 * bipartite block, which belongs to a relation, the rows x_i are not among the sources, so the rows
 * a_i are computed before the first layer runs.
 */
#include "common/math/vector.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/layer_tail.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/nn/operators/first_bounds.h"
#include "common/nn/operators/partial_sums.h"

enum { EPS, WEIGHT_0, BIAS_0, WEIGHT_1, BIAS_1, NORM_WEIGHT, NORM_BIAS, PARAMETER_COUNT };

static const char what[] = "the sums of neighbours"; /* user of the memory, for messages */

/* One layer on one block. */
struct gin {
    struct model_layer layer[2];
    struct layer_pass pass[2];
    struct layer_tail between; /* of the first layer, if it has a tail */
    float *self_scale;         /* [destinations]: 1 + eps */
};

/* PyG keeps the tensors of a batch norm in a module of its own. */
static int norm_parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const bool is_batch = layer->config.inner_norm == NORM_BATCH;
    const struct layer_parameter vector = {
        .dim_count = 1, .rows = layer->config.output_dim, .cols = 1};
    out[NORM_WEIGHT] = out[NORM_BIAS] = vector;
    out[NORM_WEIGHT].suffix = is_batch ? "nn.norms.0.module.weight" : "nn.norms.0.weight";
    out[NORM_WEIGHT].start = 1;
    out[NORM_BIAS].suffix = is_batch ? "nn.norms.0.module.bias" : "nn.norms.0.bias";
    return PARAMETER_COUNT;
}

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t width = layer->config.output_dim, input = layer->input_dim;
    out[EPS] = (struct layer_parameter){
        .suffix = "eps", .dgl = "eps", .dim_count = 1, .rows = 1, .cols = 1};
    out[WEIGHT_0] = (struct layer_parameter){.suffix = "nn.lins.0.weight",
                                             .dgl = "apply_func.0.weight",
                                             .dim_count = 2,
                                             .rows = width,
                                             .cols = input,
                                             .bound = layer_linear_bound(input)};
    out[BIAS_0] = (struct layer_parameter){.suffix = "nn.lins.0.bias",
                                           .dgl = "apply_func.0.bias",
                                           .dim_count = 1,
                                           .rows = width,
                                           .cols = 1,
                                           .bound = layer_linear_bound(input)};
    out[WEIGHT_1] = (struct layer_parameter){.suffix = "nn.lins.1.weight",
                                             .dgl = "apply_func.2.weight",
                                             .dim_count = 2,
                                             .rows = width,
                                             .cols = width,
                                             .bound = layer_linear_bound(width)};
    out[BIAS_1] = (struct layer_parameter){.suffix = "nn.lins.1.bias",
                                           .dgl = "apply_func.2.bias",
                                           .dim_count = 1,
                                           .rows = width,
                                           .cols = 1,
                                           .bound = layer_linear_bound(width)};
    return layer->config.inner_norm == NORM_NONE ? NORM_WEIGHT : norm_parameters(layer, out);
}

/* An eps that is not trained is 0, so then a_i does not depend on the weights. */
static bool aggregates_input(const struct model_layer *layer)
{
    return !layer->config.option.train_eps;
}

static enum error_code weigh(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err)
{
    const uint32_t rows = block->destination_count;
    float *scale = NULL, *self_scale = NULL;
    (void)layer;
    enum error_code rc = arena_new(arena, &scale, rows, what, err);
    if (rc == ERROR_NONE && !block->is_bipartite)
        rc = arena_new(arena, &self_scale, rows, what, err);
    for (uint32_t i = 0; rc == ERROR_NONE && !arena->counts && i < rows; i++) {
        scale[i] = neighbor_weights_correction(block, i);
        if (self_scale)
            self_scale[i] = 1;
    }
    *out = (struct aggregation){.destination_count = rows,
                                .destination_scale = scale,
                                .self_scale = self_scale,
                                .edge_value = block->edge_factor};
    return rc;
}

static const struct layer_type sum_type = {
    .uses_edges = true, .projects_first = neighbor_weights_project_first, .weigh = weigh};

/* Fills in the two linear layers. */
static void make_layers(const struct layer_pass *pass, struct model_layer layer[2])
{
    const struct layer_config *own = &pass->layer->config;
    layer[0] = (struct model_layer){.type = &sum_type,
                                    .input_dim = pass->input_dim,
                                    .config = {.output_dim = pass->output_dim,
                                               .norm = own->inner_norm,
                                               .activation = own->inner_activation},
                                    .has_tail = own->inner_norm != NORM_NONE ||
                                                own->inner_activation != ACTIVATION_RELU,
                                    .residual_parameter = -1};
    layer[1] = (struct model_layer){
        .type = layer_type_of(LAYER_MLP),
        .input_dim = pass->output_dim,
        .config = {.output_dim = pass->output_dim, .activation = ACTIVATION_NONE}};
}

static enum error_code begin_tail(struct gin *gin, const struct layer_pass *pass, bool keep,
                                  struct arena *arena, struct error *err)
{
    gin->between = (struct layer_tail){.weight = pass->parameter[NORM_WEIGHT],
                                       .bias = pass->parameter[NORM_BIAS],
                                       .running = {pass->running[0], pass->running[1]}};
    return layer_tail_place(&gin->between, &gin->pass[0], keep, arena, err);
}

static enum error_code begin(struct gin *gin, const struct layer_pass *pass, bool keep,
                             struct arena *arena, struct error *err)
{
    const uint32_t rows = pass->block.destination_count, width = pass->output_dim;
    const struct message_block every_row = {.destination_count = rows, .source_count = rows};
    struct layer_pass *sum = &gin->pass[0], *last = &gin->pass[1];
    struct input_rows between = {.stride = width}, rows_read = pass->input;
    if (pass->layer->config.option.train_eps)
        rows_read.mostly_zero = false; /* the gradient of eps needs that of the sums */
    make_layers(pass, gin->layer);
    enum error_code rc =
        layer_pass_init_matrix(sum, &gin->layer[0], pass->parameter[WEIGHT_0],
                               pass->parameter[BIAS_0], &pass->block, &rows_read, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &gin->self_scale, rows, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, &sum->output, (size_t)rows * width, sizeof(float), what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; !arena->counts && i < rows; i++)
        gin->self_scale[i] = 1 + *pass->parameter[EPS];
    must(arena->counts || !pass->aggregated_count || *pass->parameter[EPS] == 0);
    sum->own = pass->own;
    if (!pass->block.is_bipartite)
        sum->aggregation.self_scale = gin->self_scale;
    sum->aggregated = pass->aggregated;
    sum->aggregated_count = pass->aggregated_count;
    sum->aggregation.sum = pass->sum;
    between.base = sum->output;
    if (gin->layer[0].has_tail)
        rc = begin_tail(gin, pass, keep, arena, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = layer_pass_init_matrix(last, &gin->layer[1], pass->parameter[WEIGHT_1],
                                pass->parameter[BIAS_1], &every_row, &between, arena, err);
    last->activation = pass->activation;
    last->activation.bias = pass->parameter[BIAS_1];
    last->output = pass->output;
    return rc;
}

CPU_KERNEL(add_own_rows,
           (float *restrict sum, const struct input_rows *x, const float *restrict scale,
            size_t dim, uint32_t first, uint32_t end),
           (sum, x, scale, dim, first, end))
{
    for (uint32_t i = first; i < end; i++, sum += dim)
        vector_add_scaled(sum, float_row(x, i), scale[i], dim);
}

static void sum_tile(void *context, int64_t tile, int thread)
{
    const struct gin *gin = context;
    const struct layer_pass *sum = &gin->pass[0];
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, sum->block.destination_count);
    float *rows = (float *)sum->aggregated + (size_t)first * sum->input_dim;
    (void)thread;
    aggregation_forward(&sum->aggregation, &sum->block, &sum->input, sum->input_dim, first, end,
                        NULL, rows);
    add_own_rows(rows, &sum->own, gin->self_scale, sum->input_dim, first, end);
}

/* Computes the rows a_i of a bipartite block. */
static enum error_code sum_with_own(struct gin *gin, struct arena *arena, struct thread_pool *pool,
                                    struct error *err)
{
    struct layer_pass *sum = &gin->pass[0];
    const uint32_t rows = sum->block.destination_count;
    const enum error_code rc =
        arena_new_bytes(arena, &sum->aggregated, rows, sum->input_dim * sizeof(float), what, err);
    sum->aggregated_count = rows;
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, layer_pass_tiles(rows), sum_tile, gin);
    return rc;
}

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    struct gin *gin = NULL;
    enum error_code rc = arena_new(arena, &gin, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    pass->state = gin;
    rc = begin(gin, pass, keep, arena, err);
    if (rc == ERROR_NONE && pass->block.is_bipartite)
        rc = sum_with_own(gin, arena, pool, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(&gin->pass[0], keep, arena, pool, err);
    if (rc == ERROR_NONE && gin->layer[0].has_tail)
        rc = layer_tail_forward(&gin->between, &gin->pass[0], arena, pool, err);
    return rc == ERROR_NONE ? layer_pass_forward(&gin->pass[1], keep, arena, pool, err) : rc;
}

CPU_KERNEL_OF(float, dots_of_rows,
              (const struct input_rows *x, const float *gradient, size_t dim, uint32_t first,
               uint32_t end),
              (x, gradient, dim, first, end))
{
    float sum = 0;
    for (uint32_t i = first; i < end; i++)
        sum += vector_dot(gradient + i * dim, float_row(x, i), dim);
    return sum;
}

static void eps_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct layer_pass *sum = context;
    const float dots = dots_of_rows(layer_pass_own_rows(sum), sum->aggregated_gradient,
                                    sum->input_dim, tile->first, tile->end);
    *tile->sum = tile->fresh ? dots : *tile->sum + dots;
}

static enum error_code find_eps_gradient(struct layer_pass *sum, struct arena *arena,
                                         struct thread_pool *pool, float *out, struct error *err)
{
    struct partial_sums eps;
    const enum error_code rc = partial_sums_init(&eps, sum->block.destination_count, 1,
                                                 thread_pool_size(pool), arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    partial_sums_run(&eps, pool, eps_tile, sum);
    *out = *partial_sums_total(&eps, 0, 1);
    return ERROR_NONE;
}

/* Computes the gradient of the first layer's rows before the operations between the two layers,
 * after the second layer's backward. */
static enum error_code between_backward(struct gin *gin, const struct layer_gradient *out,
                                        struct arena *arena, struct thread_pool *pool,
                                        const float **gradient, struct error *err)
{
    static const struct gradient_parts none;
    struct tail_backward tail = {.tail = &gin->between,
                                 .pass = &gin->pass[0],
                                 .above = &gin->pass[1],
                                 .parts = &none,
                                 .is_first = true, /* no gradient goes beyond the layer */
                                 .gradient = {.weight = out->parameter[NORM_WEIGHT],
                                              .bias = out->parameter[NORM_BIAS],
                                              .batch_mean = out->statistics[0],
                                              .batch_variance = out->statistics[1],
                                              .batch_count = out->statistics[2]}};
    const enum error_code rc = layer_tail_backward(&tail, arena, pool, err);
    *gradient = tail.layer_gradient;
    return rc;
}

CPU_KERNEL(scale_rows,
           (const float *restrict rows, const float *restrict scale, size_t dim, uint32_t count,
            float *restrict out),
           (rows, scale, dim, count, out))
{
    for (uint32_t i = 0; i < count; i++) {
        vector_zero(out + i * dim, dim);
        vector_add_scaled(out + i * dim, rows + i * dim, scale[i], dim);
    }
}

/* Computes dx_i = (1 + eps) da_i of a bipartite block. */
static enum error_code find_own_gradient(const struct gin *gin, struct layer_pass *pass,
                                         struct arena *arena, struct error *err)
{
    const uint32_t rows = pass->block.destination_count;
    const enum error_code rc =
        arena_new(arena, &pass->own_gradient, (size_t)rows * pass->input_dim, what, err);
    if (rc == ERROR_NONE && !arena->counts)
        scale_rows(gin->pass[0].aggregated_gradient, gin->self_scale, pass->input_dim, rows,
                   pass->own_gradient);
    return rc;
}

static enum error_code backward(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err)
{
    struct gin *gin = pass->state;
    struct layer_pass *sum = &gin->pass[0], *last = &gin->pass[1];
    const struct layer_gradient of_sum = {.matrix = {out->parameter[WEIGHT_0]},
                                          .bias = out->parameter[BIAS_0]};
    const struct layer_gradient of_last = {.matrix = {out->parameter[WEIGHT_1]},
                                           .bias = out->parameter[BIAS_1]};
    const bool trains_eps = pass->layer->config.option.train_eps;
    const bool has_tail = gin->layer[0].has_tail;
    const float *gradient = NULL;
    enum error_code rc =
        layer_pass_backward(last, above, logits_gradient, false, &of_last, arena, pool, err);
    if (rc == ERROR_NONE && has_tail)
        rc = between_backward(gin, out, arena, pool, &gradient, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(sum, has_tail ? NULL : last, gradient, is_first && !trains_eps,
                                 &of_sum, arena, pool, err);
    if (rc == ERROR_NONE && trains_eps)
        rc = find_eps_gradient(sum, arena, pool, out->parameter[EPS], err);
    if (rc == ERROR_NONE && pass->block.is_bipartite && !is_first)
        rc = find_own_gradient(gin, pass, arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    if (!trains_eps)
        *out->parameter[EPS] = 0;
    pass->aggregation = sum->aggregation;
    pass->aggregated_gradient = sum->aggregated_gradient;
    pass->edges = sum->edges;
    pass->input_gradient = sum->input_gradient;
    return ERROR_NONE;
}

const struct layer_type gin_layer = {
    .pyg_name = "GIN",
    .uses_edges = true,
    .needs_degree = true,
    .parameters = parameters,
    .weigh = weigh,
    .aggregates_input = aggregates_input,
    .adds_own_row = true,
    .forward = forward,
    .backward = backward,
};
