#include "common/nn/layers/layer_tail.h"

#include "common/math/vector.h"
#include "common/nn/operators/partial_sums.h"
#include "common/numbers/cpu_kernel.h"

static const char what[] = "what follows a layer"; /* user of the memory, for messages */

static size_t row_floats(const struct layer_pass *pass)
{
    return pass->block.destination_count * (size_t)pass->output_dim;
}

static int64_t tiles_of(const struct layer_pass *pass)
{
    return layer_pass_tiles(pass->block.destination_count);
}

/* Rows of a tile: [first, end), of `dim` columns from `at` on. */
struct tile_rows {
    uint32_t first, end;
    size_t count, dim, at;
};

static struct tile_rows rows_between(const struct layer_pass *pass, uint32_t first, uint32_t end)
{
    const size_t dim = pass->output_dim;
    return (struct tile_rows){first, end, end - first, dim, first * dim};
}

static struct tile_rows rows_of_tile(const struct layer_pass *pass, int64_t tile)
{
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    return rows_between(pass, first, layer_pass_tile_end(first, pass->block.destination_count));
}

CPU_KERNEL(add_rows,
           (float *restrict sum, const float *restrict row, size_t stride, size_t dim,
            size_t row_count),
           (sum, row, stride, dim, row_count))
{
    for (size_t i = 0; i < row_count; i++)
        vector_add(sum + i * dim, row + i * stride, dim);
}

static struct linear_weight residual_weight(const struct layer_tail *tail,
                                            const struct layer_pass *pass)
{
    return (struct linear_weight){
        .rows = rows_view_of(matrix_view_of(tail->residual, pass->output_dim, pass->input_dim))};
}

/* --- forward --- */

struct forward_job {
    struct layer_tail *tail;
    const struct layer_pass *pass;
    float *scratch; /* [threads, scratch_size]: rows of the input of a tile, and their projection */
    size_t scratch_size;
    double *statistics; /* [PARTIAL_SUMS_CHAINS, 4, output_dim]: sums of a chain, and of a tile */
    double *counts;     /* [PARTIAL_SUMS_CHAINS] */
};

static struct layer_tail tail_of_layer(const struct model *model, const struct model_layer *layer,
                                       const float *value, struct activation dropout)
{
    const struct parameter *parameter = model->parameter;
    struct layer_tail tail = {.dropout = dropout};
    if (layer->residual_parameter >= 0)
        tail.residual = value + parameter[layer->residual_parameter].offset;
    if (layer->norm_parameter >= 0) {
        tail.weight = value + parameter[layer->norm_parameter].offset;
        tail.bias = value + parameter[layer->norm_parameter + 1].offset;
    }
    for (int i = 0; layer->buffer_parameter >= 0 && i < 2; i++)
        tail.running[i] = value + parameter[layer->buffer_parameter + i].offset;
    return tail;
}

enum error_code layer_tail_begin(struct layer_tail *tail, const struct model *model,
                                 const float *value, struct layer_pass *pass, bool keep,
                                 struct arena *arena, struct error *err)
{
    *tail = tail_of_layer(model, pass->layer, value, tail->dropout);
    return layer_tail_place(tail, pass, keep, arena, err);
}

enum error_code layer_tail_place(struct layer_tail *tail, struct layer_pass *pass, bool keep,
                                 struct arena *arena, struct error *err)
{
    tail->uses_batch =
        keep && pass->layer->config.norm == NORM_BATCH && pass->block.destination_count > 1;
    tail->output = tail->before = pass->output;
    if (!keep)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &tail->before, row_floats(pass), what, err);
    pass->output = tail->before;
    return rc;
}

static enum error_code find_forward_room(struct forward_job *job, struct arena *arena, int threads,
                                         struct error *err)
{
    struct layer_tail *tail = job->tail;
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim;
    const enum norm_kind norm = pass->layer->config.norm;
    enum error_code rc = ERROR_NONE;
    if (norm != NORM_NONE)
        rc = arena_new(arena, &tail->scale,
                       norm == NORM_LAYER ? pass->block.destination_count : dim, what, err);
    if (rc == ERROR_NONE && norm == NORM_BATCH)
        rc = arena_new(arena, &tail->mean, dim, what, err);
    if (rc == ERROR_NONE && tail->uses_batch)
        rc = arena_new(arena, &job->statistics, (size_t)4 * PARTIAL_SUMS_CHAINS * dim, what, err);
    if (rc == ERROR_NONE && tail->uses_batch)
        rc = arena_new(arena, &job->counts, PARTIAL_SUMS_CHAINS, what, err);
    if (pass->layer->config.residual)
        job->scratch_size = layer_pass_scratch(TILE_ROWS * ((size_t)pass->input_dim + dim));
    if (rc == ERROR_NONE && job->scratch_size)
        rc = arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, what, err);
    return rc;
}

static void add_residual(const struct forward_job *job, const struct tile_rows *tile, int thread)
{
    const struct layer_pass *pass = job->pass;
    float *z = job->tail->before + tile->at;
    if (!pass->layer->config.residual)
        return;
    float *scratch = job->scratch + (size_t)thread * job->scratch_size;
    float *projected = scratch + (size_t)TILE_ROWS * pass->input_dim;
    const struct rows_view input =
        gather_rows(&pass->input, pass->input_dim, tile->first, tile->end, scratch);
    if (!job->tail->residual) {
        add_rows(z, input.value, input.stride, tile->dim, tile->count);
        return;
    }
    const struct linear_weight weight = residual_weight(job->tail, pass);
    linear_forward(&weight, input, projected);
    add_rows(z, projected, tile->dim, tile->dim, tile->count);
}

static struct column_statistics statistics_at(const struct forward_job *job, int64_t chain,
                                              int which)
{
    const size_t dim = job->pass->output_dim;
    double *first = job->statistics + ((size_t)chain * 4 + (size_t)which * 2) * dim;
    return (struct column_statistics){.mean = first, .deviation = first + dim};
}

/* Tiles and chains are those of partial_sums.h; chains are merged in order. */
static void statistics_of_chain(void *context, int64_t chain, int thread)
{
    const struct forward_job *job = context;
    const uint32_t rows = job->pass->block.destination_count;
    const uint32_t tile_rows = partial_sums_tile_rows(rows);
    struct column_statistics sum = statistics_at(job, chain, 0);
    struct column_statistics own = statistics_at(job, chain, 1);
    for (size_t c = 0; c < job->pass->output_dim; c++)
        sum.mean[c] = sum.deviation[c] = 0;
    for (uint64_t first = (uint64_t)chain * tile_rows; first < rows;
         first += (uint64_t)PARTIAL_SUMS_CHAINS * tile_rows) {
        const uint64_t end = first + tile_rows < rows ? first + tile_rows : rows;
        const struct tile_rows tile = rows_between(job->pass, (uint32_t)first, (uint32_t)end);
        add_residual(job, &tile, thread);
        column_statistics_of(&own, job->tail->before + tile.at, tile.count, tile.dim);
        column_statistics_merge(&sum, &own, tile.dim);
    }
    job->counts[chain] = sum.count;
}

static void find_statistics(const struct forward_job *job, struct thread_pool *pool)
{
    struct layer_tail *tail = job->tail;
    const size_t dim = job->pass->output_dim;
    thread_pool_run(pool, PARTIAL_SUMS_CHAINS, statistics_of_chain, (void *)job);
    tail->batch = statistics_at(job, 0, 0);
    tail->batch.count = job->counts[0];
    for (int64_t k = 1; k < PARTIAL_SUMS_CHAINS; k++) {
        struct column_statistics more = statistics_at(job, k, 0);
        more.count = job->counts[k];
        column_statistics_merge(&tail->batch, &more, dim);
    }
    for (size_t c = 0; c < dim; c++) {
        tail->mean[c] = (float)tail->batch.mean[c];
        tail->scale[c] = normalisation_scale(tail->batch.deviation[c] / tail->batch.count);
    }
}

static void take_running(struct layer_tail *tail, size_t dim)
{
    for (size_t c = 0; c < dim; c++) {
        tail->mean[c] = tail->running[0][c];
        tail->scale[c] = normalisation_scale((double)tail->running[1][c]);
    }
}

static void finish_tile(void *context, int64_t number, int thread)
{
    const struct forward_job *job = context;
    const struct layer_tail *tail = job->tail;
    const struct model_layer *layer = job->pass->layer;
    const struct tile_rows tile = rows_of_tile(job->pass, number);
    float *before = tail->before + tile.at, *output = tail->output + tile.at;
    if (!tail->uses_batch)
        add_residual(job, &tile, thread);
    if (layer->config.norm == NORM_BATCH)
        normalise_columns(before, tile.count, tile.dim, tail->mean, tail->scale);
    else if (layer->config.norm == NORM_LAYER)
        normalise_rows(before, tile.count, tile.dim, tail->scale + tile.first);
    if (layer->config.norm != NORM_NONE)
        normalisation_apply(before, tile.count, tile.dim, tail->weight, tail->bias, output);
    activation_apply(layer->config.activation, layer->config.norm == NORM_NONE ? before : output,
                     output, tile.count * tile.dim);
    activation_drop(&tail->dropout, output, tile.dim, tile.first, tile.count);
}

enum error_code layer_tail_forward(struct layer_tail *tail, struct layer_pass *pass,
                                   struct arena *arena, struct thread_pool *pool, struct error *err)
{
    struct forward_job job = {.tail = tail, .pass = pass};
    pass->output = tail->output;
    const enum error_code rc = find_forward_room(&job, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    if (tail->uses_batch)
        find_statistics(&job, pool);
    else if (pass->layer->config.norm == NORM_BATCH)
        take_running(tail, pass->output_dim);
    thread_pool_run(pool, tiles_of(pass), finish_tile, &job);
    return ERROR_NONE;
}

/* --- backward --- */

struct backward_job {
    const struct tail_backward *backward;
    const struct layer_tail *tail;
    const struct layer_pass *pass;
    float *gradient; /* [destinations, output_dim]: dy, then du, then dz */
    /* [destinations, input_dim] for a projected residual, unless this is the first layer */
    float *below;
    /* [2, output_dim]: means of du x^ and of du over all rows; zeros without a batch */
    float *mean;
    struct partial_sums sums; /* sums of du x^, of du, and dW of the residual */
    float *scratch; /* [threads, scratch_size]: u of a tile or rows of its input, and two rows */
    size_t scratch_size;
};

static float *scratch_of(const struct backward_job *job, int thread)
{
    return job->scratch + (size_t)thread * job->scratch_size;
}

/* Computes the gradient of the output. */
static void gather_gradient(const struct backward_job *job, const struct tile_rows *tile)
{
    float *sum = job->gradient + tile->at;
    const float *lower = sum;
    if (job->backward->above)
        lower =
            layer_pass_input_gradient(job->backward->above, tile->dim, tile->first, tile->end, sum);
    else
        vector_zero(sum, tile->count * tile->dim);
    if (lower != sum)
        vector_copy(sum, lower, tile->count * tile->dim);
    for (int p = 0; p < job->backward->parts->count; p++) {
        const struct gradient_part *part = &job->backward->parts->part[p];
        const uint32_t end = tile->end < part->row_count ? tile->end : part->row_count;
        if (tile->first < end)
            add_rows(sum, part->row + tile->first * part->stride, part->stride, tile->dim,
                     end - tile->first);
    }
}

/* Computes du and its sums for the norm. */
static void activation_back(const struct backward_job *job, const struct tile_rows *tile,
                            float *sums, float *scratch)
{
    const struct layer_tail *tail = job->tail;
    const struct model_layer *layer = job->pass->layer;
    const float *before = tail->before + tile->at, *u = before;
    float *gradient = job->gradient + tile->at;
    activation_drop(&tail->dropout, gradient, tile->dim, tile->first, tile->count);
    if (layer->config.norm != NORM_NONE) {
        normalisation_apply(before, tile->count, tile->dim, tail->weight, tail->bias, scratch);
        u = scratch;
    }
    activation_apply_backward(layer->config.activation, u, gradient, tile->count * tile->dim);
    if (layer->config.norm != NORM_NONE)
        normalisation_sum_gradients(before, gradient, tile->count, tile->dim, scratch, sums);
}

static void norm_back(const struct backward_job *job, const struct tile_rows *tile)
{
    const struct layer_tail *tail = job->tail;
    const float *before = tail->before + tile->at;
    float *gradient = job->gradient + tile->at;
    if (job->pass->layer->config.norm == NORM_LAYER)
        normalise_rows_backward(before, tail->scale + tile->first, tail->weight, tile->count,
                                tile->dim, gradient);
    else if (job->pass->layer->config.norm == NORM_BATCH)
        normalise_columns_backward(before, tail->scale, tail->weight, job->mean, tile->count,
                                   tile->dim, gradient);
}

/* Computes the gradients of a projected residual from dz. */
static void residual_back(const struct backward_job *job, const struct tile_rows *tile, float *sums,
                          float *scratch)
{
    const struct layer_pass *pass = job->pass;
    if (!job->tail->residual)
        return;
    const struct linear_weight weight = residual_weight(job->tail, pass);
    struct linear_gradient gradient =
        linear_gradient_in(&weight, tile->count, job->below != NULL, NULL);
    linear_gradient_add(&gradient, job->gradient + tile->at, tile->count);
    linear_backward_weight(
        &gradient, gather_rows(&pass->input, pass->input_dim, tile->first, tile->end, scratch),
        true, sums + 2 * tile->dim);
    if (job->below)
        linear_backward_input(&weight, &gradient,
                              job->below + (size_t)tile->first * pass->input_dim);
}

static void first_tile(void *context, const struct partial_sums_tile *part)
{
    const struct backward_job *job = context;
    const struct tile_rows tile = rows_between(job->pass, part->first, part->end);
    float *scratch = scratch_of(job, part->thread);
    if (part->fresh)
        vector_zero(part->sum, job->sums.size);
    gather_gradient(job, &tile);
    activation_back(job, &tile, part->sum, scratch);
    if (job->tail->uses_batch)
        return; /* the gradient of a row depends on all rows */
    norm_back(job, &tile);
    residual_back(job, &tile, part->sum, scratch);
}

static void second_tile(void *context, const struct partial_sums_tile *part)
{
    const struct backward_job *job = context;
    const struct tile_rows tile = rows_between(job->pass, part->first, part->end);
    if (part->fresh)
        vector_zero(part->sum, job->sums.size);
    norm_back(job, &tile);
    residual_back(job, &tile, part->sum, scratch_of(job, part->thread));
}

static void reduce_norm(const struct backward_job *job, const struct layer_tail_gradient *out)
{
    const size_t dim = job->pass->output_dim;
    vector_copy(out->weight, partial_sums_total(&job->sums, 0, dim), dim);
    vector_copy(out->bias, partial_sums_total(&job->sums, dim, dim), dim);
}

/* Computes the means from the gradients of weight and bias, which are those sums. */
static void find_means(const struct backward_job *job, const struct layer_tail_gradient *out)
{
    const size_t dim = job->pass->output_dim;
    const double count = job->tail->batch.count;
    for (size_t c = 0; c < dim; c++) {
        job->mean[c] = (float)((double)out->weight[c] / count);
        job->mean[dim + c] = (float)((double)out->bias[c] / count);
    }
}

static void tell_statistics(const struct layer_tail *tail, size_t dim,
                            const struct layer_tail_gradient *out)
{
    *out->batch_count = tail->uses_batch ? (float)tail->batch.count : 0;
    for (size_t c = 0; c < dim; c++) {
        out->batch_mean[c] = tail->mean[c];
        out->batch_variance[c] =
            tail->uses_batch ? (float)(tail->batch.deviation[c] / tail->batch.count) : 0;
    }
}

static enum error_code find_backward_room(struct backward_job *job, struct arena *arena,
                                          int threads, struct error *err)
{
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim, rows = pass->block.destination_count;
    const size_t widest = dim > pass->input_dim ? dim : pass->input_dim;
    const bool projects = pass->layer->residual_parameter >= 0;
    job->scratch_size = layer_pass_scratch(TILE_ROWS * widest + 2 * dim);
    enum error_code rc = arena_new(arena, &job->gradient, row_floats(pass), what, err);
    if (rc == ERROR_NONE && projects && !job->backward->is_first)
        rc = arena_new(arena, &job->below, rows * pass->input_dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->mean, 2 * dim, what, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job->sums, pass->block.destination_count,
                               2 * dim + (projects ? dim * pass->input_dim : 0), threads, arena,
                               err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, what, err);
    return rc;
}

static struct gradient_part part_below(const struct backward_job *job)
{
    const struct layer_pass *pass = job->pass;
    const uint32_t rows = pass->block.destination_count;
    if (job->backward->is_first || !pass->layer->config.residual)
        return (struct gradient_part){0};
    return job->below ? (struct gradient_part){job->below, pass->input_dim, rows}
                      : (struct gradient_part){job->gradient, pass->output_dim, rows};
}

enum error_code layer_tail_backward(struct tail_backward *backward, struct arena *arena,
                                    struct thread_pool *pool, struct error *err)
{
    const struct layer_pass *pass = backward->pass;
    const struct layer_tail_gradient *gradient = &backward->gradient;
    struct backward_job job = {.backward = backward, .tail = backward->tail, .pass = pass};
    const size_t dim = pass->output_dim;
    const enum error_code rc = find_backward_room(&job, arena, thread_pool_size(pool), err);
    backward->layer_gradient = job.gradient;
    backward->below = part_below(&job);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    vector_zero(job.mean, 2 * dim);
    partial_sums_run(&job.sums, pool, first_tile, &job);
    if (gradient->weight)
        reduce_norm(&job, gradient);
    if (job.tail->uses_batch) {
        must(gradient->weight);
        find_means(&job, gradient);
        partial_sums_run(&job.sums, pool, second_tile, &job);
    }
    if (gradient->residual)
        partial_sums_total_into(&job.sums, pool, 2 * dim, dim * pass->input_dim,
                                gradient->residual);
    if (gradient->batch_count)
        tell_statistics(job.tail, dim, gradient);
    return ERROR_NONE;
}
