/*
 * The local extremum operator of Ranjan, Sanyal and Talukdar 2020 (ASAP), as PyG's LEConv has it:
 *
 *   y_i = W_3 x_i + b_3 + sum over the neighbours j of i of w_ij (W_1 x_j + b_1 - W_2 x_i)
 *
 * With a_i the sum of w_ij x_j and s_i that of w_ij, both scaled where only some neighbours were
 * sampled (neighbor_weights.h), that is one product of a wide row:
 *
 *   z_i = [a_i | x_i | s_i x_i | s_i]       y_i = [W_1 | W_3 | -W_2 | b_1] z_i + b_3
 *
 * The product is a layer without edges inside this one, in the way of layer_pass.h. Its backward
 * leaves dz, from which
 *
 *   da_i = dz_i1,  dx_i = dz_i2 + s_i dz_i3 + what comes back along the edges of da
 *
 * In a bipartite block, that of a relation, a and x may have different widths, and dx_i is the
 * gradient of the destinations' rows.
 */
#include "common/math/vector.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/operators/first_bounds.h"

enum { WEIGHT_1, BIAS_1, WEIGHT_2, WEIGHT_3, BIAS_3, PARAMETER_COUNT };

static const char what[] = "the differences to neighbours"; /* user of the memory, for messages */

/* One layer on one block. */
struct le {
    struct model_layer layer; /* of the product */
    struct layer_pass pass;
    size_t sum_dim;   /* columns of a */
    size_t own_dim;   /* columns of x */
    size_t width;     /* columns of z: sum_dim + 2 own_dim + 1 */
    float *value_sum; /* [destinations]: s */
    float *wide; /* [destinations, width]: z, kept for backward; otherwise each tile has its own */
};

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim, own = layer->own_dim;
    const float bound = layer_linear_bound(cols), own_bound = layer_linear_bound(own);
    out[WEIGHT_1] = (struct layer_parameter){
        .suffix = "lin1.weight", .dim_count = 2, .rows = rows, .cols = cols, .bound = bound};
    out[BIAS_1] = (struct layer_parameter){
        .suffix = "lin1.bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = bound};
    out[WEIGHT_2] = (struct layer_parameter){
        .suffix = "lin2.weight", .dim_count = 2, .rows = rows, .cols = own, .bound = own_bound};
    out[WEIGHT_3] = (struct layer_parameter){
        .suffix = "lin3.weight", .dim_count = 2, .rows = rows, .cols = own, .bound = own_bound};
    out[BIAS_3] = (struct layer_parameter){
        .suffix = "lin3.bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = own_bound};
    return PARAMETER_COUNT;
}

static enum error_code weigh(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err)
{
    struct model_layer sum = *layer;
    sum.config.option.aggr = LAYER_AGGR_ADD;
    return neighbor_weights(&sum, block, arena, out, err);
}

/* Joins [W_1 | W_3 | -W_2 | b_1] from the parameters. */
static void join_weights(const struct layer_pass *pass, const struct le *le, float *joined)
{
    const size_t dim = le->sum_dim, own = le->own_dim;
    for (uint32_t o = 0; o < pass->output_dim; o++, joined += le->width) {
        vector_copy(joined, pass->parameter[WEIGHT_1] + o * dim, dim);
        vector_copy(joined + dim, pass->parameter[WEIGHT_3] + o * own, own);
        vector_copy(joined + dim + own, pass->parameter[WEIGHT_2] + o * own, own);
        vector_scale(joined + dim + own, -1, own);
        joined[le->width - 1] = pass->parameter[BIAS_1][o];
    }
}

/* Computes the transpose: the parameters' gradients from that of the joined weights. */
static void part_gradient(const struct layer_pass *pass, const struct le *le, const float *joined,
                          const struct layer_gradient *out)
{
    const size_t dim = le->sum_dim, own = le->own_dim;
    for (uint32_t o = 0; o < pass->output_dim; o++, joined += le->width) {
        vector_copy(out->parameter[WEIGHT_1] + o * dim, joined, dim);
        vector_copy(out->parameter[WEIGHT_3] + o * own, joined + dim, own);
        vector_copy(out->parameter[WEIGHT_2] + o * own, joined + dim + own, own);
        vector_scale(out->parameter[WEIGHT_2] + o * own, -1, own);
        out->parameter[BIAS_1][o] = joined[le->width - 1];
    }
}

/* Reserves the room, and makes the product, which reads z. */
static enum error_code begin(struct le *le, struct layer_pass *pass, bool keep, struct arena *arena,
                             struct error *err)
{
    const uint32_t rows = pass->block.destination_count;
    const struct message_block every_row = {.destination_count = rows, .source_count = rows};
    float *joined = NULL;
    le->sum_dim = pass->input_dim;
    le->own_dim = pass->layer->own_dim;
    le->width = le->sum_dim + 2 * le->own_dim + 1;
    le->layer = (struct model_layer){.type = layer_type_of(LAYER_MLP),
                                     .input_dim = (uint32_t)le->width,
                                     .config.output_dim = pass->output_dim,
                                     .config.activation = ACTIVATION_NONE};
    enum error_code rc = weigh(pass->layer, &pass->block, arena, &pass->aggregation, err);
    pass->aggregation.sum = pass->sum;
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &joined, pass->output_dim * le->width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &le->value_sum, rows, what, err);
    if (rc == ERROR_NONE && keep)
        rc = arena_new(arena, &le->wide, rows * le->width, what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts)
        join_weights(pass, le, joined);
    const struct input_rows wide = {.base = le->wide, .stride = le->width};
    rc = layer_pass_init_matrix(&le->pass, &le->layer, joined, pass->parameter[BIAS_3], &every_row,
                                &wide, arena, err);
    le->pass.activation = pass->activation;
    le->pass.activation.bias = pass->parameter[BIAS_3];
    le->pass.output = pass->output;
    return rc;
}

struct le_job {
    const struct layer_pass *pass;
    struct le *le;
    float *scratch; /* [threads, scratch_size]: a and x of a tile, and z if it is not kept */
    size_t scratch_size;
};

static size_t pair_size(const struct le *le)
{
    return layer_pass_scratch(TILE_ROWS * (le->sum_dim + le->own_dim));
}

static float value_sum_of(const struct layer_pass *pass, uint32_t i)
{
    const struct message_block *block = &pass->block;
    const float *value = pass->aggregation.edge_value;
    float sum = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        sum += value ? value[e] : 1;
    return pass->aggregation.destination_scale[i] * sum;
}

/* Layout of the rows a and x: floats from one row to the next, and how many of each row are
 * read. */
struct pair_shape {
    size_t sum_stride, own_stride, sum_dim, own_dim;
};

/* The aggregated row of a plain block is [a | x]. In a bipartite block it is a, and x lies
 * elsewhere. */
static struct pair_shape pair_shape_of(const struct layer_pass *pass, const struct le *le,
                                       size_t own_stride)
{
    if (pass->block.is_bipartite)
        return (struct pair_shape){le->sum_dim, own_stride, le->sum_dim, le->own_dim};
    return (struct pair_shape){2 * le->sum_dim, 2 * le->sum_dim, le->sum_dim, le->own_dim};
}

/* Computes z from the rows a and x. */
CPU_KERNEL(widen_rows,
           (const struct pair_shape *shape, const float *restrict sum, const float *restrict x,
            const float *restrict value_sum, uint32_t rows, float *restrict wide),
           (shape, sum, x, value_sum, rows, wide))
{
    const size_t dim = shape->sum_dim, own = shape->own_dim;
    for (uint32_t i = 0; i < rows; i++, sum += shape->sum_stride, x += shape->own_stride) {
        vector_copy(wide, sum, dim);
        vector_copy(wide + dim, x, own);
        vector_copy(wide + dim + own, x, own);
        vector_scale(wide + dim + own, value_sum[i], own);
        wide[dim + 2 * own] = value_sum[i];
        wide += dim + 2 * own + 1;
    }
}

/* Computes z of the destinations first .. end - 1; `pair` [pair_size()] is room for their a and
 * x. */
static void widen(const struct layer_pass *pass, const struct le *le, uint32_t first, uint32_t end,
                  float *pair, float *wide)
{
    const float *x = pair + le->sum_dim;
    size_t own_stride = 0;
    aggregation_forward(&pass->aggregation, &pass->block, &pass->input, pass->input_dim, first, end,
                        NULL, pair);
    if (pass->block.is_bipartite) {
        const struct rows_view own = gather_rows(&pass->own, pass->layer->own_dim, first, end,
                                                 pair + TILE_ROWS * le->sum_dim);
        x = own.value;
        own_stride = own.stride;
    }
    const struct pair_shape shape = pair_shape_of(pass, le, own_stride);
    widen_rows(&shape, pair, x, le->value_sum + first, end - first, wide);
}

static void widen_tile(void *context, int64_t tile, int thread)
{
    const struct le_job *job = context;
    const struct layer_pass *pass = job->pass;
    struct le *le = job->le;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    float *pair = job->scratch + (size_t)thread * job->scratch_size;
    float *wide = le->wide ? le->wide + first * le->width : pair + pair_size(le);
    for (uint32_t i = first; i < end; i++)
        le->value_sum[i] = value_sum_of(pass, i);
    widen(pass, le, first, end, pair, wide);
    if (le->wide)
        return;
    float *output = (float *)pass->output + (size_t)first * pass->output_dim;
    linear_forward(&le->pass.weight,
                   layer_pass_rows(PRECISION_FP32, wide, le->width, 0, end - first), output);
    layer_pass_finish(&le->pass, output, first, end);
}

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    struct le_job job = {.pass = pass};
    enum error_code rc = arena_new(arena, &job.le, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *job.le = (struct le){0};
    pass->state = job.le;
    rc = begin(job.le, pass, keep, arena, err);
    job.scratch_size = pair_size(job.le);
    if (!keep)
        job.scratch_size += layer_pass_scratch(TILE_ROWS * job.le->width);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.scratch, (size_t)thread_pool_size(pool) * job.scratch_size, what,
                       err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts)
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), widen_tile, &job);
    return keep ? layer_pass_forward(&job.le->pass, keep, arena, pool, err) : ERROR_NONE;
}

/* Computes the gradients of a and x from dz. */
CPU_KERNEL(narrow_rows,
           (const struct pair_shape *shape, const float *restrict wide,
            const float *restrict value_sum, uint32_t rows, float *restrict sum, float *restrict x),
           (shape, wide, value_sum, rows, sum, x))
{
    const size_t dim = shape->sum_dim, own = shape->own_dim;
    for (uint32_t i = 0; i < rows; i++, sum += shape->sum_stride, x += shape->own_stride) {
        vector_copy(sum, wide, dim);
        vector_copy(x, wide + dim, own);
        vector_add_scaled(x, wide + dim + own, value_sum[i], own);
        wide += dim + 2 * own + 1;
    }
}

static void narrow_tile(void *context, int64_t tile, int thread)
{
    const struct le_job *job = context;
    const struct layer_pass *pass = job->pass;
    const struct le *le = job->le;
    const size_t first = (size_t)tile * TILE_ROWS;
    const uint32_t end = layer_pass_tile_end((uint32_t)first, pass->block.destination_count);
    const struct pair_shape shape = pair_shape_of(pass, le, le->own_dim);
    float *sum = pass->aggregated_gradient + first * shape.sum_stride;
    float *x =
        pass->block.is_bipartite ? pass->own_gradient + first * le->own_dim : sum + le->sum_dim;
    (void)thread;
    narrow_rows(&shape, le->pass.input_gradient + first * le->width, le->value_sum + first,
                end - (uint32_t)first, sum, x);
}

/* Reserves the room of the gradients that the layer below reads. */
static enum error_code find_room_below(struct layer_pass *pass, struct arena *arena,
                                       struct error *err)
{
    const size_t rows = pass->block.destination_count;
    enum error_code rc =
        arena_new(arena, &pass->aggregated_gradient,
                  rows * aggregation_width(&pass->aggregation, pass->input_dim), what, err);
    if (rc == ERROR_NONE && pass->block.is_bipartite)
        rc = arena_new(arena, &pass->own_gradient, rows * pass->layer->own_dim, what, err);
    return rc == ERROR_NONE ? layer_pass_transpose_edges(pass, arena, err) : rc;
}

static enum error_code backward(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err)
{
    struct le *le = pass->state;
    struct le_job job = {.pass = pass, .le = le};
    float *joined = NULL;
    enum error_code rc = arena_new(arena, &joined, pass->output_dim * le->width, what, err);
    if (rc == ERROR_NONE && !is_first)
        rc = find_room_below(pass, arena, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct layer_gradient of_product = {.matrix = {joined}, .bias = out->parameter[BIAS_3]};
    rc = layer_pass_backward(&le->pass, above, logits_gradient, is_first, &of_product, arena, pool,
                             err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    part_gradient(pass, le, joined, out);
    if (!is_first)
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), narrow_tile, &job);
    return ERROR_NONE;
}

const struct layer_type le_layer = {
    .pyg_name = "LEConv",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .needs_degree = true,
    .parameters = parameters,
    .weigh = weigh,
    .forward = forward,
    .backward = backward,
};
