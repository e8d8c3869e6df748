/*
 * The local extremum operator of Ranjan, Sanyal and Talukdar 2020 (ASAP), as PyG's LEConv has it:
 *
 *   y_i = W_3 x_i + b_3 + sum over the neighbours j of i of w_ij (W_1 x_j + b_1 - W_2 x_i)
 *
 * With a_i the sum of w_ij x_j and s_i that of w_ij, both scaled where only some neighbours were sampled
 * (neighbor_weights.h), that is one product of a wide row:
 *
 *   z_i = [a_i | x_i | s_i x_i | s_i]       y_i = [W_1 | W_3 | -W_2 | b_1] z_i + b_3
 *
 * The product is a layer without edges inside this one, in the way of layer_pass.h. Its backward leaves dz, from which
 *
 *   da_i = dz_i1,  dx_i = dz_i2 + s_i dz_i3 + what comes back along the edges of da
 */
#include "common/math/vector.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/neighbor_weights.h"

enum { WEIGHT_1, BIAS_1, WEIGHT_2, WEIGHT_3, BIAS_3, PARAMETER_COUNT };

static const char what[] = "the differences to neighbours"; /* wants memory */

/* One layer at work. */
struct le {
    struct model_layer layer; /* of the product */
    struct layer_pass pass;
    size_t width;     /* of z: 3 input_dim + 1 */
    float *value_sum; /* [destinations]: s */
    float *wide;      /* [destinations, width]: z, for backward; else each tile has its own */
};

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    const float bound = layer_linear_bound(cols);
    out[WEIGHT_1] = (struct layer_parameter){
        .suffix = "lin1.weight", .dim_count = 2, .rows = rows, .cols = cols, .bound = bound};
    out[BIAS_1] = (struct layer_parameter){
        .suffix = "lin1.bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = bound};
    out[WEIGHT_2] = (struct layer_parameter){
        .suffix = "lin2.weight", .dim_count = 2, .rows = rows, .cols = cols, .bound = bound};
    out[WEIGHT_3] = (struct layer_parameter){
        .suffix = "lin3.weight", .dim_count = 2, .rows = rows, .cols = cols, .bound = bound};
    out[BIAS_3] = (struct layer_parameter){
        .suffix = "lin3.bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = bound};
    return PARAMETER_COUNT;
}

static enum error_code weigh(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err)
{
    struct model_layer sum = *layer;
    sum.config.option.aggr = LAYER_AGGR_ADD;
    return neighbor_weights(&sum, block, arena, out, err);
}

/* [W_1 | W_3 | -W_2 | b_1] from the parameters. */
static void join_weights(const struct layer_pass *pass, size_t width, float *joined)
{
    const size_t dim = pass->input_dim;
    for (uint32_t o = 0; o < pass->output_dim; o++, joined += width) {
        vector_copy(joined, pass->parameter[WEIGHT_1] + o * dim, dim);
        vector_copy(joined + dim, pass->parameter[WEIGHT_3] + o * dim, dim);
        vector_copy(joined + 2 * dim, pass->parameter[WEIGHT_2] + o * dim, dim);
        vector_scale(joined + 2 * dim, -1, dim);
        joined[3 * dim] = pass->parameter[BIAS_1][o];
    }
}

/* The transpose: the parameters' gradients from that of the joined weights. */
static void part_gradient(const struct layer_pass *pass, const float *joined, size_t width,
                          const struct layer_gradient *out)
{
    const size_t dim = pass->input_dim;
    for (uint32_t o = 0; o < pass->output_dim; o++, joined += width) {
        vector_copy(out->parameter[WEIGHT_1] + o * dim, joined, dim);
        vector_copy(out->parameter[WEIGHT_3] + o * dim, joined + dim, dim);
        vector_copy(out->parameter[WEIGHT_2] + o * dim, joined + 2 * dim, dim);
        vector_scale(out->parameter[WEIGHT_2] + o * dim, -1, dim);
        out->parameter[BIAS_1][o] = joined[3 * dim];
    }
}

/* Room, and the product, which reads z. */
static enum error_code begin(struct le *le, struct layer_pass *pass, bool keep, struct arena *arena,
                             struct error *err)
{
    const uint32_t rows = pass->block.destination_count;
    const struct message_block every_row = {.destination_count = rows, .source_count = rows};
    float *joined = NULL;
    le->width = 3 * (size_t)pass->input_dim + 1;
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
        join_weights(pass, le->width, joined);
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
    float *scratch; /* [threads, scratch_size]: [a | x] of a tile, and z where that is not kept */
    size_t scratch_size;
};

static float value_sum_of(const struct layer_pass *pass, uint32_t i)
{
    const struct message_block *block = &pass->block;
    const float *value = pass->aggregation.edge_value;
    float sum = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        sum += value ? value[e] : 1;
    return pass->aggregation.destination_scale[i] * sum;
}

CPU_KERNEL(widen_rows,
           (const float *restrict pair, const float *restrict value_sum, size_t dim, uint32_t rows,
            float *restrict wide),
           (pair, value_sum, dim, rows, wide))
{
    for (uint32_t i = 0; i < rows; i++, pair += 2 * dim, wide += 3 * dim + 1) {
        vector_copy(wide, pair, 2 * dim);
        vector_copy(wide + 2 * dim, pair + dim, dim);
        vector_scale(wide + 2 * dim, value_sum[i], dim);
        wide[3 * dim] = value_sum[i];
    }
}

static void widen_tile(void *context, int64_t tile, int thread)
{
    const struct le_job *job = context;
    const struct layer_pass *pass = job->pass;
    struct le *le = job->le;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    float *pair = job->scratch + (size_t)thread * job->scratch_size;
    float *wide = le->wide ? le->wide + first * le->width
                           : pair + layer_pass_scratch((size_t)TILE_ROWS * 2 * pass->input_dim);
    aggregation_forward(&pass->aggregation, &pass->block, &pass->input, pass->input_dim, first, end,
                        NULL, pair);
    for (uint32_t i = first; i < end; i++)
        le->value_sum[i] = value_sum_of(pass, i);
    widen_rows(pair, le->value_sum + first, pass->input_dim, end - first, wide);
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
    struct le_job job = {
        .pass = pass, .scratch_size = layer_pass_scratch((size_t)TILE_ROWS * 2 * pass->input_dim)};
    enum error_code rc = arena_new(arena, &job.le, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *job.le = (struct le){0};
    pass->state = job.le;
    rc = begin(job.le, pass, keep, arena, err);
    if (rc == ERROR_NONE && !keep)
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

/* From dz that of [a | x]. */
CPU_KERNEL(narrow_rows,
           (const float *restrict wide, const float *restrict value_sum, size_t dim, uint32_t rows,
            float *restrict pair),
           (wide, value_sum, dim, rows, pair))
{
    for (uint32_t i = 0; i < rows; i++, pair += 2 * dim, wide += 3 * dim + 1) {
        vector_copy(pair, wide, 2 * dim);
        vector_add_scaled(pair + dim, wide + 2 * dim, value_sum[i], dim);
    }
}

static void narrow_tile(void *context, int64_t tile, int thread)
{
    const struct le_job *job = context;
    const struct layer_pass *pass = job->pass;
    const struct le *le = job->le;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    (void)thread;
    narrow_rows(le->pass.input_gradient + first * le->width, le->value_sum + first, pass->input_dim,
                end - first, pass->aggregated_gradient + (size_t)first * 2 * pass->input_dim);
}

/* What the layer below goes on from. */
static enum error_code find_room_below(struct layer_pass *pass, struct arena *arena,
                                       struct error *err)
{
    const enum error_code rc =
        arena_new(arena, &pass->aggregated_gradient,
                  pass->block.destination_count * (size_t)pass->input_dim * 2, what, err);
    if (rc != ERROR_NONE)
        return rc;
    return layer_pass_transpose_edges(pass, arena, err);
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
    part_gradient(pass, joined, le->width, out);
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
