#include "common/nn/layers/layer_tail.h"

#include "common/base/cpu_kernel.h"
#include "common/math/vector.h"

static const char what[] = "what follows a layer"; /* wants memory */

static size_t row_floats(const struct layer_pass *pass)
{
    return pass->block.destination_count * (size_t)pass->output_dim;
}

/* --- forward --- */

struct forward_job {
    const struct layer_tail *tail;
    const struct layer_pass *pass;
};

enum error_code layer_tail_begin(struct layer_tail *tail, struct layer_pass *pass, bool keep,
                                 struct arena *arena, struct error *err)
{
    tail->output = tail->before = pass->output;
    if (!keep)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &tail->before, row_floats(pass), what, err);
    pass->output = tail->before;
    return rc;
}

static void activate_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const size_t dim = pass->output_dim, at = first * dim;
    (void)thread;
    activation_apply(pass->layer->activation, job->tail->before + at, job->tail->output + at,
                     (end - first) * dim);
    activation_drop(&job->tail->dropout, job->tail->output + at, dim, first, end - first);
}

enum error_code layer_tail_forward(struct layer_tail *tail, struct layer_pass *pass,
                                   struct arena *arena, struct thread_pool *pool, struct error *err)
{
    struct forward_job job = {tail, pass};
    (void)err;
    pass->output = tail->output;
    if (!arena->counts)
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), activate_tile, &job);
    return ERROR_NONE;
}

/* --- backward --- */

struct backward_job {
    const struct layer_tail *tail;
    const struct layer_pass *pass, *above;
    const struct gradient_parts *parts;
    float *gradient; /* [destinations, output_dim]: of the output, then of u */
};

CPU_KERNEL(add_part,
           (float *restrict sum, const float *restrict part, size_t stride, size_t dim,
            size_t row_count),
           (sum, part, stride, dim, row_count))
{
    for (size_t row = 0; row < row_count; row++)
        vector_add(sum + row * dim, part + row * stride, dim);
}

/* The gradient of the output for the rows first .. end - 1. */
static void gather_gradient(const struct backward_job *job, uint32_t first, uint32_t end)
{
    const size_t dim = job->pass->output_dim, count = (end - first) * dim;
    float *sum = job->gradient + first * dim;
    const float *lower = sum;
    if (job->above)
        lower = layer_pass_input_gradient(job->above, dim, first, end, sum);
    else
        vector_zero(sum, count);
    if (lower != sum)
        vector_copy(sum, lower, count);
    for (int p = 0; p < job->parts->count; p++) {
        const struct gradient_part *part = &job->parts->part[p];
        const uint32_t part_end = end < part->row_count ? end : part->row_count;
        if (first < part_end)
            add_part(sum, part->row + first * part->stride, part->stride, dim, part_end - first);
    }
}

static void gradient_tile(void *context, int64_t tile, int thread)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const size_t dim = pass->output_dim, at = first * dim;
    (void)thread;
    gather_gradient(job, first, end);
    activation_drop(&job->tail->dropout, job->gradient + at, dim, first, end - first);
    activation_apply_backward(pass->layer->activation, job->tail->before + at, job->gradient + at,
                              (end - first) * dim);
}

enum error_code layer_tail_backward(const struct layer_tail *tail, const struct layer_pass *pass,
                                    const struct layer_pass *above,
                                    const struct gradient_parts *parts, struct arena *arena,
                                    struct thread_pool *pool, const float **out, struct error *err)
{
    struct backward_job job = {.tail = tail, .pass = pass, .above = above, .parts = parts};
    const enum error_code rc = arena_new(arena, &job.gradient, row_floats(pass), what, err);
    *out = job.gradient;
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), gradient_tile, &job);
    return rc;
}
