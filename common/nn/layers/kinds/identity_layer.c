/*
 * Returns its input rows: y = x, torch.nn.Identity.
 *
 * For models that consist of learnt rows alone, such as those of knowledge graphs, where the
 * decoder has all other parameters. The layer's dropout then applies to the rows that the decoder
 * reads.
 */
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/propagation.h"
#include "common/nn/operators/gather.h"

#include <string.h>

static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    layer[0] = layer_of_outline(outline, LAYER_IDENTITY, true);
    return 1;
}

static void forward_tile(void *context, int64_t tile, int thread)
{
    const struct layer_pass *pass = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.source_count);
    float *output = (float *)pass->output + first * (size_t)pass->output_dim;
    (void)thread;
    gather_rows_into(&pass->input, pass->output_dim, first, end, output);
    layer_pass_finish(pass, output, first, end);
}

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (keep && pass->activation.relu)
        rc = layer_pass_keep_active(pass, arena, err);
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, layer_pass_tiles(pass->block.source_count), forward_tile, pass);
    return rc;
}

struct back_job {
    struct layer_pass *pass;
    const struct layer_pass *above;
    const float *logits_gradient;
    float *scratch; /* [threads, scratch_size] */
    size_t scratch_size;
};

static void backward_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const size_t dim = job->pass->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->block.source_count);
    const float *gradient =
        layer_pass_product_gradient(job->pass, job->above, job->logits_gradient, first, end,
                                    job->scratch + (size_t)thread * job->scratch_size);
    memcpy(job->pass->input_gradient + first * dim, gradient,
           (end - first) * dim * sizeof *gradient);
}

static enum error_code backward(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err)
{
    static const char what[] = "gradients";
    struct back_job job = {.pass = pass,
                           .above = above,
                           .logits_gradient = logits_gradient,
                           .scratch_size =
                               layer_pass_scratch((size_t)TILE_ROWS * pass->output_dim)};
    (void)out;
    if (is_first) /* there is no layer below, and no parameter */
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &pass->input_gradient,
                                   pass->block.source_count * (size_t)pass->output_dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.scratch, (size_t)thread_pool_size(pool) * job.scratch_size, what,
                       err);
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, layer_pass_tiles(pass->block.source_count), backward_tile, &job);
    return rc;
}

const struct layer_type identity_layer = {
    .pyg_name = "Identity",
    .keeps_width = true,
    .build = build,
    .parameters = propagation_parameters,
    .forward = forward,
    .backward = backward,
};
