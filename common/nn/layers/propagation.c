#include "common/nn/layers/propagation.h"

#include "common/math/vector.h"
#include "common/nn/layers/gcn_weights.h"

struct propagation_job {
    struct layer_pass *pass;
    const struct layer_pass *above;
    const float *logits_gradient;
    float alpha;
    float *scratch; /* [threads, scratch_size]: the gradient of a tile */
    size_t scratch_size;
};

static float alpha_of(const struct layer_pass *pass)
{
    return pass->second_input ? (float)pass->layer->config.option.alpha : 0;
}

int propagation_parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    (void)layer;
    (void)out;
    return 0;
}

/* Computes y = (1 - alpha) y + alpha h. */
CPU_KERNEL(mix_with_start, (float *restrict y, const float *restrict h, float alpha, size_t count),
           (y, h, alpha, count))
{
    vector_scale(y, 1 - alpha, count);
    vector_add_scaled(y, h, alpha, count);
}

/* Computes y = alpha x. */
CPU_KERNEL(copy_scaled, (float *restrict y, const float *restrict x, float alpha, size_t count),
           (y, x, alpha, count))
{
    vector_copy(y, x, count);
    vector_scale(y, alpha, count);
}

static void forward_tile(void *context, int64_t tile, int thread)
{
    const struct propagation_job *job = context;
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    float *output = (float *)pass->output + first * dim;
    (void)thread;
    aggregation_forward(&pass->aggregation, &pass->block, &pass->input, pass->output_dim, first,
                        end, NULL, output);
    if (pass->second_input)
        mix_with_start(output, pass->second_input + first * dim, job->alpha, (end - first) * dim);
    layer_pass_finish(pass, output, first, end);
}

enum error_code propagation_forward(struct layer_pass *pass, bool keep, struct arena *arena,
                                    struct thread_pool *pool, struct error *err)
{
    struct propagation_job job = {.pass = pass, .alpha = alpha_of(pass)};
    enum error_code rc = gcn_weights(pass->layer, &pass->block, arena, &pass->aggregation, err);
    pass->aggregation.sum = pass->sum;
    if (rc == ERROR_NONE && keep && pass->activation.relu)
        rc = layer_pass_keep_active(pass, arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), forward_tile, &job);
    return ERROR_NONE;
}

static void backward_tile(void *context, int64_t tile, int thread)
{
    const struct propagation_job *job = context;
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const float *gradient =
        layer_pass_product_gradient(pass, job->above, job->logits_gradient, first, end,
                                    job->scratch + (size_t)thread * job->scratch_size);
    copy_scaled(pass->aggregated_gradient + first * dim, gradient, 1 - job->alpha,
                (end - first) * dim);
    if (pass->second_gradient)
        copy_scaled(pass->second_gradient + first * dim, gradient, job->alpha, (end - first) * dim);
}

enum error_code propagation_backward(struct layer_pass *pass, const struct layer_pass *above,
                                     const float *logits_gradient, bool is_first,
                                     const struct layer_gradient *out, struct arena *arena,
                                     struct thread_pool *pool, struct error *err)
{
    static const char what[] = "gradients";
    struct propagation_job job = {.pass = pass,
                                  .above = above,
                                  .logits_gradient = logits_gradient,
                                  .alpha = alpha_of(pass),
                                  .scratch_size =
                                      layer_pass_scratch((size_t)TILE_ROWS * pass->output_dim)};
    (void)out;
    if (is_first) /* there is no layer below, and no parameter */
        return ERROR_NONE;
    enum error_code rc =
        arena_new(arena, &pass->aggregated_gradient,
                  pass->block.destination_count * (size_t)pass->output_dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.scratch, (size_t)thread_pool_size(pool) * job.scratch_size, what,
                       err);
    if (rc == ERROR_NONE)
        rc = layer_pass_transpose_edges(pass, arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), backward_tile, &job);
    return ERROR_NONE;
}
