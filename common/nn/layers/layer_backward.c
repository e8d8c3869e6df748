/*
 * The backward pass of one layer (layer_pass.h).
 *
 * For each tile it computes in turn the gradient of the output, the sums for bias and weight
 * (partial_sums.h), and the gradient for the layer below.
 */
#include "common/math/sparse_tile.h"
#include "common/math/vector.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/sparse_layer.h"
#include "common/nn/operators/partial_sums.h"
#include "common/numbers/cpu_kernel.h"

struct backward_job {
    struct layer_pass *pass;
    const struct layer_pass *above;
    const float *logits_gradient;
    bool is_first;
    const struct layer_gradient *out;
    /* project first: [destinations, output_dim], gradient of the aggregated product */
    float *output_gradient;
    /* [output_dim, aggregated_dim] each; the bias lies behind them unless projected first */
    struct partial_sums weights;
    /* project first: sums over destinations; those of the weights run over sources */
    struct partial_sums bias;
    float *scratch;      /* [threads, scratch_size] */
    size_t scratch_size; /* floats for a thread */
    bf16 *room;          /* [threads, room_size]: operands of products in bf16 */
    size_t room_size;
    struct sparse_tile *sparse; /* [threads] */
};

static const char what[] = "gradients"; /* user of the memory, for messages */

/* Rows of a gradient that are computed before they are compressed: so many stay in the first-level
 * cache. */
enum { ROWS_AT_ONCE = 16 };

CPU_KERNEL(add_columns, (const float *rows, size_t row_count, size_t dim, float *restrict sum),
           (rows, row_count, dim, sum))
{
    for (size_t row = 0; row < row_count; row++)
        vector_add(sum, rows + row * dim, dim);
}

/* Sums each tile by itself first, which keeps the rounding error of long columns small. */
CPU_KERNEL(add_tile_sum, (const float *tile_sum, size_t dim, bool fresh, float *restrict sum),
           (tile_sum, dim, fresh, sum))
{
    if (fresh)
        vector_copy(sum, tile_sum, dim);
    else
        vector_add(sum, tile_sum, dim);
}

enum error_code layer_pass_transpose_edges(struct layer_pass *pass, struct arena *arena,
                                           struct error *err)
{
    return (aggregation_numbers_edges(&pass->aggregation) ? transposed_edges_number
                                                          : transposed_edges_build)(
        &pass->block, pass->aggregation.skip_self_loops, arena, &pass->edges, err);
}

static size_t weights_size(const struct layer_pass *pass)
{
    return pass->output_dim * pass->aggregated_dim;
}

float *layer_pass_input_gradient(const struct layer_pass *pass, size_t dim, uint32_t first,
                                 uint32_t end, float *scratch)
{
    if (pass->input_gradient)
        return pass->input_gradient + first * dim;
    aggregation_backward(&pass->aggregation, &pass->edges, pass->aggregated_gradient, (uint32_t)dim,
                         first, end, scratch);
    return scratch;
}

static float *output_gradient(const struct backward_job *job, uint32_t first, uint32_t end,
                              float *scratch)
{
    return layer_pass_input_gradient(job->above, job->pass->output_dim, first, end, scratch);
}

static const uint64_t *active_row(const struct layer_pass *pass, uint32_t row)
{
    return pass->active + row * activation_words(pass->output_dim);
}

const float *layer_pass_product_gradient(const struct layer_pass *pass,
                                         const struct layer_pass *above,
                                         const float *logits_gradient, uint32_t first, uint32_t end,
                                         float *scratch)
{
    if (!above)
        return logits_gradient + (size_t)first * pass->output_dim;
    float *gradient = layer_pass_input_gradient(above, pass->output_dim, first, end, scratch);
    activation_backward(&pass->activation, active_row(pass, first), gradient, pass->output_dim,
                        end - first);
    return gradient;
}

static const float *product_gradient(const struct backward_job *job, uint32_t first, uint32_t end,
                                     float *scratch)
{
    return layer_pass_product_gradient(job->pass, job->above, job->logits_gradient, first, end,
                                       scratch);
}

static float *thread_scratch(const struct backward_job *job, int thread)
{
    return job->scratch + (size_t)thread * job->scratch_size;
}

static bf16 *thread_room(const struct backward_job *job, int thread)
{
    return job->room ? job->room + (size_t)thread * job->room_size : NULL; /* only in bf16 */
}

static struct rows_view aggregated_rows(const struct layer_pass *pass, uint32_t first, uint32_t end)
{
    return layer_pass_rows(pass->precision, pass->aggregated, pass->aggregated_dim, first, end);
}

/* Aggregation first: converts the rows of a tile to operands, some at a time. */
static void dense_tile(const struct backward_job *job, const struct partial_sums_tile *tile)
{
    const struct layer_pass *pass = job->pass;
    const uint32_t first = tile->first, end = tile->end;
    float *sum = thread_scratch(job, tile->thread); /* [output_dim + TILE_ROWS * output_dim] */
    struct linear_gradient gradient = linear_gradient_in(&pass->weight, end - first, !job->is_first,
                                                         thread_room(job, tile->thread));
    vector_zero(sum, pass->output_dim);
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < gradient.rows_at_once ? end : row + (uint32_t)gradient.rows_at_once;
        const float *rows = product_gradient(job, row, next, sum + pass->output_dim);
        add_columns(rows, next - row, pass->output_dim, sum);
        linear_gradient_add(&gradient, rows, next - row);
    }
    add_tile_sum(sum, pass->output_dim, tile->fresh, tile->sum + weights_size(pass));
    linear_backward_weight(&gradient, aggregated_rows(pass, first, end), !tile->fresh, tile->sum);
    if (!job->is_first)
        linear_backward_input(&pass->weight, &gradient,
                              pass->aggregated_gradient + first * pass->aggregated_dim);
}

/* Does the work of dense_tile() on a compressed tile, which skips the zeros. */
static void sparse_tile_of(const struct backward_job *job, const struct partial_sums_tile *tile)
{
    const struct layer_pass *pass = job->pass;
    const uint32_t first = tile->first, end = tile->end;
    struct sparse_tile *sparse = &job->sparse[tile->thread];
    float *scratch = thread_scratch(job, tile->thread);
    sparse_tile_reset(sparse);
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < ROWS_AT_ONCE ? end : row + ROWS_AT_ONCE;
        sparse_tile_add(sparse, active_row(pass, row), output_gradient(job, row, next, scratch),
                        pass->activation.scale, next - row);
    }
    const struct sparse_matrix rows = sparse_tile_transposed(sparse);
    add_tile_sum(sparse->column_sum, pass->output_dim, tile->fresh, tile->sum + weights_size(pass));
    sparse_product(&rows, aggregated_rows(pass, first, end), !tile->fresh, tile->sum,
                   pass->aggregated_dim);
    if (job->is_first)
        return;
    const struct sparse_matrix gradient = sparse_tile_rows(sparse);
    sparse_product(&gradient, pass->weight.rows, false,
                   pass->aggregated_gradient + first * pass->aggregated_dim, pass->aggregated_dim);
}

static void aggregated_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const size_t words = activation_words(pass->output_dim), count = tile->end - tile->first;
    if (pass->active && sparse_tile_pays(active_row(pass, tile->first), count * words,
                                         count * pass->output_dim, pass->precision))
        sparse_tile_of(job, tile);
    else
        dense_tile(job, tile);
}

/* Project first, by destination: computes the gradient of the aggregated product, and the bias. */
static void destination_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = tile->first, end = tile->end;
    float *scratch = thread_scratch(job, tile->thread);
    const size_t dim = pass->output_dim, count = (size_t)(end - first) * dim;
    const float *gradient = product_gradient(job, first, end, scratch + dim);
    vector_zero(scratch, dim);
    add_columns(gradient, end - first, dim, scratch);
    add_tile_sum(scratch, dim, tile->fresh, tile->sum);
    vector_copy(job->output_gradient + first * dim, gradient, count);
}

/* Project first, by source, after all destinations: computes the weight and the gradient of the
 * input. */
static void source_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = tile->first, end = tile->end;
    float *scratch = thread_scratch(job, tile->thread);
    struct linear_gradient gradient = linear_gradient_in(&pass->weight, end - first, !job->is_first,
                                                         thread_room(job, tile->thread));
    const struct rows_view input = gather_rows(&pass->input, pass->input_dim, first, end,
                                               scratch + (size_t)TILE_ROWS * pass->output_dim);
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < gradient.rows_at_once ? end : row + (uint32_t)gradient.rows_at_once;
        aggregation_backward(&pass->aggregation, &pass->edges, job->output_gradient,
                             pass->output_dim, row, next, scratch);
        linear_gradient_add(&gradient, scratch, next - row);
    }
    linear_backward_weight(&gradient, input, !tile->fresh, tile->sum);
    if (!job->is_first)
        linear_backward_input(&pass->weight, &gradient,
                              pass->input_gradient + (size_t)first * pass->input_dim);
}

/* Completes the sum of one row of the weights and copies it to the layer's matrices. */
static void reduce_row(void *context, int64_t row, int thread)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const float *sum =
        partial_sums_total(&job->weights, (size_t)row * pass->aggregated_dim, pass->aggregated_dim);
    (void)thread;
    for (int m = 0; m < pass->matrix_count; m++)
        vector_copy(job->out->matrix[m] + (size_t)row * pass->input_dim,
                    sum + (size_t)m * pass->input_dim, pass->input_dim);
}

static void reduce_weights(const struct backward_job *job, struct thread_pool *pool)
{
    thread_pool_run(pool, job->pass->output_dim, reduce_row, (void *)job);
}

static void reduce_bias(const struct backward_job *job, const struct partial_sums *sums,
                        size_t first)
{
    const size_t dim = job->pass->output_dim;
    must(job->out->bias); /* every linear kind has one (layer_row.h) */
    vector_copy(job->out->bias, partial_sums_total(sums, first, dim), dim);
}

static enum error_code find_sparse_room(struct backward_job *job, struct arena *arena, int threads,
                                        struct error *err)
{
    enum error_code rc = arena_new(arena, &job->sparse, (size_t)threads, "gradients", err);
    for (int thread = 0; rc == ERROR_NONE && thread < threads; thread++) {
        rc = sparse_tile_init(&job->sparse[thread], TILE_ROWS, job->pass->output_dim,
                              !job->is_first, arena, err);
        job->sparse[thread].precision = job->pass->precision;
    }
    return rc;
}

/* Reserves the room that all orders of projection and aggregation need. */
static enum error_code find_common_room(struct backward_job *job, struct arena *arena, int threads,
                                        struct error *err)
{
    struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim;
    const bool by_source = pass->projects_first || pass->input.mostly_zero;
    job->scratch_size = dim + TILE_ROWS * dim;
    if (pass->projects_first)
        job->scratch_size += (size_t)TILE_ROWS * pass->input_dim;
    job->scratch_size = layer_pass_scratch(job->scratch_size);
    enum error_code rc =
        arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, what, err);
    if (rc == ERROR_NONE && job->room_size)
        rc = arena_new(arena, &job->room, (size_t)threads * job->room_size, what, err);
    if (rc == ERROR_NONE && by_source)
        rc =
            arena_new(arena, &job->output_gradient, pass->block.destination_count * dim, what, err);
    if (rc == ERROR_NONE && pass->layer->type->uses_edges && (by_source || !job->is_first))
        rc = layer_pass_transpose_edges(pass, arena, err);
    return rc;
}

static enum error_code aggregation_first(struct backward_job *job, struct arena *arena,
                                         struct thread_pool *pool, struct error *err)
{
    struct layer_pass *pass = job->pass;
    enum error_code rc = partial_sums_init(&job->weights, pass->block.destination_count,
                                           weights_size(pass) + pass->output_dim,
                                           thread_pool_size(pool), arena, err);
    if (rc == ERROR_NONE && pass->active)
        rc = find_sparse_room(job, arena, thread_pool_size(pool), err);
    if (rc == ERROR_NONE && !job->is_first)
        rc = arena_new(arena, &pass->aggregated_gradient,
                       pass->block.destination_count * pass->aggregated_dim, what, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    partial_sums_run(&job->weights, pool, aggregated_tile, job);
    reduce_weights(job, pool);
    reduce_bias(job, &job->weights, weights_size(pass));
    if (!pass->layer->type->uses_edges)
        pass->input_gradient = pass->aggregated_gradient;
    return ERROR_NONE;
}

static enum error_code find_bias_room(struct backward_job *job, struct arena *arena, int threads,
                                      struct error *err)
{
    const struct layer_pass *pass = job->pass;
    return partial_sums_init(&job->bias, pass->block.destination_count, pass->output_dim, threads,
                             arena, err);
}

static void sum_bias(struct backward_job *job, struct thread_pool *pool)
{
    partial_sums_run(&job->bias, pool, destination_tile, job);
    reduce_bias(job, &job->bias, 0);
}

static enum error_code project_first(struct backward_job *job, struct arena *arena,
                                     struct thread_pool *pool, struct error *err)
{
    struct layer_pass *pass = job->pass;
    enum error_code rc = find_bias_room(job, arena, thread_pool_size(pool), err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job->weights, pass->block.source_count, weights_size(pass),
                               thread_pool_size(pool), arena, err);
    if (rc == ERROR_NONE && !job->is_first)
        rc = arena_new(arena, &pass->input_gradient,
                       (size_t)pass->block.source_count * pass->input_dim, what, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    sum_bias(job, pool);
    partial_sums_run(&job->weights, pool, source_tile, job);
    reduce_weights(job, pool);
    return ERROR_NONE;
}

static enum error_code sparse_project_first(struct backward_job *job, struct arena *arena,
                                            struct thread_pool *pool, struct error *err)
{
    must(job->is_first);
    const enum error_code rc = find_bias_room(job, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE)
        return rc;
    sum_bias(job, pool);
    return sparse_layer_backward(job->pass, job->output_gradient, job->out, arena, pool, err);
}

enum error_code layer_pass_backward(struct layer_pass *pass, const struct layer_pass *above,
                                    const float *logits_gradient, bool is_first,
                                    const struct layer_gradient *out, struct arena *arena,
                                    struct thread_pool *pool, struct error *err)
{
    if (pass->layer->type->backward)
        return pass->layer->type->backward(pass, above, logits_gradient, is_first, out, arena, pool,
                                           err);
    struct backward_job job = {
        .pass = pass,
        .above = above,
        .logits_gradient = logits_gradient,
        .is_first = is_first,
        .out = out,
        .room_size = (linear_room(&pass->weight, TILE_ROWS) + 31) / 32 * 32,
    };
    must(pass->block.destination_count > 0);
    enum error_code rc = find_common_room(&job, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE)
        return rc;
    if (pass->input.mostly_zero)
        rc = sparse_project_first(&job, arena, pool, err);
    else if (pass->projects_first)
        rc = project_first(&job, arena, pool, err);
    else
        rc = aggregation_first(&job, arena, pool, err);
    return rc;
}
