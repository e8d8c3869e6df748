#include "common/math/vector.h"
#include "common/math/vector_gelu.h"
#include "common/nn/layers/attention/hgt.h"
#include "common/nn/operators/partial_sums.h"

#include <math.h>

static const char what[] = "heterogeneous attention"; /* user of the memory, for messages */

struct rows_job {
    const struct typed_pass *pass;
    const struct hgt_type *own;
    uint32_t type;
    float *rows;           /* output, or the gradient of gelu(o) */
    float share;           /* sigmoid(skip) */
    const float *gradient; /* of the output */
    float *out_gradient, *input_gradient;
    float *scratch; /* [threads, TILE_ROWS * input_dim] */
    struct partial_sums skip;
};

CPU_KERNEL(find_gelu, (const float *x, float *y, size_t count), (x, y, count))
{
    vector_gelu(x, y, count);
}

CPU_KERNEL(find_gelu_slope, (const float *x, float *gradient, size_t count), (x, gradient, count))
{
    vector_gelu_backward(x, gradient, count);
}

CPU_KERNEL(blend_rows, (float *restrict y, struct rows_view x, float share, size_t count),
           (y, x, share, count))
{
    for (size_t i = 0; i < count; i++) {
        vector_scale(y + i * x.cols, share, x.cols);
        vector_add_scaled(y + i * x.cols, (const float *)x.value + i * x.stride, 1 - share, x.cols);
    }
}

static void gelu_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->config.output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->destination_count[job->type]);
    (void)thread;
    find_gelu(job->own->sum + first * width, job->own->active + first * width,
              (end - first) * width);
}

static void gelu_back_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->config.output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->destination_count[job->type]);
    (void)thread;
    find_gelu_slope(job->own->sum + first * width, job->rows + first * width,
                    (end - first) * width);
}

static void blend_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->config.output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->destination_count[job->type]);
    float *y = job->rows + first * width;
    vector_copy(y, row_product_rows(job->own->out) + first * width, (end - first) * width);
    if (job->share < 1)
        blend_rows(y,
                   gather_rows(&job->pass->input[job->type], (uint32_t)width, first, end,
                               job->scratch + (size_t)thread * TILE_ROWS * width),
                   job->share, end - first);
}

static bool skips(const struct typed_pass *pass, uint32_t type)
{
    return pass->layer->type_input_dim[type] == pass->layer->config.output_dim;
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* An arena that only counts memory has no values to read. */
static struct rows_job rows_job_of(const struct typed_pass *pass, const struct hgt *hgt,
                                   uint32_t type, bool counts)
{
    struct rows_job job = {.pass = pass, .own = hgt->type[type], .type = type, .share = 1};
    if (skips(pass, type) && !counts)
        job.share = sigmoid(*typed_parameter(pass, hgt_skip_tensor(pass, type)));
    return job;
}

enum error_code hgt_rows_finish(const struct typed_pass *pass, const struct hgt *hgt, uint32_t type,
                                bool keep, const struct model_workspace *workspace,
                                struct error *err)
{
    struct rows_job job = rows_job_of(pass, hgt, type, workspace->arena->counts);
    const int64_t tiles = layer_pass_tiles(pass->destination_count[type]);
    if (tiles == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(workspace->arena, &job.scratch,
                                   (size_t)thread_pool_size(workspace->pool) * TILE_ROWS *
                                       pass->layer->config.output_dim,
                                   what, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, tiles, gelu_tile, &job);
    if (rc == ERROR_NONE)
        rc = row_product_forward(job.own->out, keep, workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    job.rows = pass->output[type];
    thread_pool_run(workspace->pool, tiles, blend_tile, &job);
    return ERROR_NONE;
}

CPU_KERNEL_OF(float, dot_of_rows,
              (const float *restrict dy, const float *restrict out, struct rows_view x),
              (dy, out, x))
{
    float sum = 0;
    for (size_t i = 0; i < x.rows; i++) {
        const float *row = (const float *)x.value + i * x.stride;
        sum += vector_dot(dy + i * x.cols, out + i * x.cols, x.cols) -
               vector_dot(dy + i * x.cols, row, x.cols);
    }
    return sum;
}

CPU_KERNEL(add_scaled_rows,
           (float *restrict sum, const float *restrict x, float scale, size_t count),
           (sum, x, scale, count))
{
    vector_add_scaled(sum, x, scale, count);
}

/* Computes the gradient of out_lin's rows, and the sum for the gradient of skip: y . (out_lin's row
 * - x). */
static void skip_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->config.output_dim, from = tile->first * width;
    const size_t count = (tile->end - tile->first) * width;
    const float *dy = job->gradient + from, *out = row_product_rows(job->own->out) + from;
    vector_copy(job->out_gradient + from, dy, count);
    if (!skips(job->pass, job->type)) {
        *tile->sum = 0;
        return;
    }
    const struct rows_view x =
        gather_rows(&job->pass->input[job->type], (uint32_t)width, tile->first, tile->end,
                    job->scratch + (size_t)tile->thread * TILE_ROWS * width);
    const float dots = dot_of_rows(dy, out, x);
    vector_scale(job->out_gradient + from, job->share, count);
    *tile->sum = tile->fresh ? dots : *tile->sum + dots;
}

enum error_code hgt_rows_back(const struct typed_pass *pass, const struct hgt *hgt, uint32_t type,
                              const float *dy, struct hgt_back *back,
                              const struct model_workspace *workspace, float *gradient,
                              struct error *err)
{
    const size_t width = pass->layer->config.output_dim, rows = pass->destination_count[type];
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    struct rows_job job = rows_job_of(pass, hgt, type, workspace->arena->counts);
    job.gradient = dy;
    *back = (struct hgt_back){.out = NULL};
    if (rows == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(workspace->arena, &job.out_gradient, rows * width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(workspace->arena, &job.scratch, threads * TILE_ROWS * width, what, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job.skip, (uint32_t)rows, 1, (int)threads, workspace->arena, err);
    if (rc == ERROR_NONE && !workspace->arena->counts) {
        partial_sums_run(&job.skip, workspace->pool, skip_tile, &job);
        *typed_gradient(pass, gradient, hgt_skip_tensor(pass, type)) =
            *partial_sums_total(&job.skip, 0, 1) * job.share * (1 - job.share);
    }
    if (rc == ERROR_NONE)
        rc = row_product_backward(
            job.own->out, job.out_gradient, true,
            typed_gradient(pass, gradient, hgt_type_tensor(type, HGT_OUT_WEIGHT)),
            typed_gradient(pass, gradient, hgt_type_tensor(type, HGT_OUT_BIAS)), workspace, err);
    if (rc != ERROR_NONE)
        return rc;
    back->out = job.rows = row_product_input_gradient(job.own->out);
    if (!workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles((uint32_t)rows), gelu_back_tile, &job);
    return ERROR_NONE;
}

static void input_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const struct typed_pass *pass = job->pass;
    const size_t dim = pass->layer->type_input_dim[job->type];
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->source_count[job->type]);
    const uint32_t destinations = pass->destination_count[job->type];
    const uint32_t own_end = end < destinations ? end : destinations;
    float *dx = job->input_gradient;
    (void)thread;
    vector_copy(dx + first * dim, row_product_input_gradient(job->own->kqv[HGT_KEY]) + first * dim,
                (end - first) * dim);
    vector_add(dx + first * dim, row_product_input_gradient(job->own->kqv[HGT_VALUE]) + first * dim,
               (end - first) * dim);
    if (first >= own_end)
        return;
    vector_add(dx + first * dim, row_product_input_gradient(job->own->kqv[HGT_QUERY]) + first * dim,
               (own_end - first) * dim);
    if (job->share < 1)
        add_scaled_rows(dx + first * dim, job->gradient + first * dim, 1 - job->share,
                        (own_end - first) * dim);
}

void hgt_rows_input_gradient(const struct typed_pass *pass, const struct hgt *hgt, uint32_t type,
                             const float *dy, float *input_gradient, struct thread_pool *pool)
{
    struct rows_job job = rows_job_of(pass, hgt, type, false);
    job.input_gradient = input_gradient;
    job.gradient = dy;
    thread_pool_run(pool, layer_pass_tiles(pass->source_count[type]), input_tile, &job);
}
