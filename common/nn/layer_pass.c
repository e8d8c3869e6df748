/* Set-up and forward; backward is in layer_backward.c. */
#include "common/nn/layer_pass.h"

#include "common/math/blas.h"
#include "common/math/vector.h"

#include <string.h>

/* The matrices [output_dim, input_dim] of a layer side by side. A single one is used where it is. */
static enum error_code join_matrices(struct layer_pass *pass, const float *const *matrix,
                                     struct arena *arena, struct error *err)
{
    float *joined = NULL;
    pass->weight = matrix[0];
    if (pass->matrix_count == 1)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(arena, &joined, pass->output_dim * pass->mixed_dim, "the joined weights", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int m = 0; m < pass->matrix_count; m++) {
        must(matrix[m]);
        for (uint32_t row = 0; row < pass->output_dim; row++)
            vector_copy(joined + row * pass->mixed_dim + (size_t)m * pass->input_dim,
                        matrix[m] + (size_t)row * pass->input_dim, pass->input_dim);
    }
    pass->weight = joined;
    return ERROR_NONE;
}

enum error_code layer_pass_init(struct layer_pass *out, const struct model *model,
                                const float *value, int layer, const struct message_block *block,
                                const struct input_rows *input, struct arena *arena,
                                struct error *err)
{
    const struct layer_type *type = layer_type_of(model->config.layer);
    const struct parameter *parameter =
        &model->parameter[(size_t)layer * (size_t)type->parameter_count];
    const float *matrix[LAYER_PARAMETER_COUNT_MAX] = {0};
    *out = (struct layer_pass){.block = *block,
                               .input = *input,
                               .input_dim = model_layer_input_dim(model, layer),
                               .output_dim = model_layer_output_dim(model, layer)};
    for (int i = 0; i < type->parameter_count; i++) {
        const float *values = value + parameter[i].offset;
        if (parameter[i].is_vector)
            out->activation.bias = values;
        else
            matrix[out->matrix_count++] = values;
    }
    out->activation.relu = layer < model->config.layer_count - 1;
    out->activation.scale = 1;
    out->mixed_dim = (size_t)out->matrix_count * out->input_dim;
    out->maps_first = type->maps_first(out->input_dim, out->output_dim);
    enum error_code rc = type->weigh(block, arena, &out->mixing, err);
    if (rc == ERROR_NONE)
        rc = join_matrices(out, matrix, arena, err);
    return rc;
}

struct matrix_view layer_pass_input(const struct input_rows *input, uint32_t dim, uint32_t first,
                                    uint32_t end, float *scratch)
{
    if (!input->row_index)
        return (struct matrix_view){input->base + first * input->stride, end - first, dim,
                                    input->stride};
    for (uint32_t row = first; row < end; row++)
        memcpy(scratch + (size_t)(row - first) * dim,
               input->base + input->row_index[row] * input->stride, dim * sizeof *scratch);
    return matrix_view_of(scratch, end - first, dim);
}

struct forward_job {
    const struct layer_pass *pass;
    struct matrix_view weight;
    float *mapped;       /* map first: [sources, output_dim] */
    float *scratch;      /* [threads, scratch_size] */
    size_t scratch_size; /* floats for a thread */
};

static void finish_tile(const struct layer_pass *pass, float *rows, uint32_t first, uint32_t end)
{
    const size_t words = activation_words(pass->output_dim);
    activation_forward(&pass->activation, rows, pass->output_dim, first, end - first,
                       pass->active ? pass->active + first * words : NULL);
}

static void mix_and_map_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    float *mixed = pass->mixed ? pass->mixed + first * pass->mixed_dim
                               : job->scratch + (size_t)thread * job->scratch_size;
    float *output = pass->output + (size_t)first * pass->output_dim;
    mixing_gather(&pass->mixing, &pass->block, &pass->input, pass->input_dim, first, end, mixed);
    blas_product(BLAS_NT, matrix_view_of(mixed, end - first, pass->mixed_dim), job->weight, false,
                 output, pass->output_dim);
    finish_tile(pass, output, first, end);
}

static void map_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.source_count);
    const struct matrix_view input =
        layer_pass_input(&pass->input, pass->input_dim, first, end,
                         job->scratch + (size_t)thread * job->scratch_size);
    blas_product(BLAS_NT, input, job->weight, false, job->mapped + (size_t)first * pass->output_dim,
                 pass->output_dim);
}

static void mix_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const struct input_rows mapped = {.base = job->mapped, .stride = pass->output_dim};
    float *output = pass->output + (size_t)first * pass->output_dim;
    (void)thread;
    mixing_gather(&pass->mixing, &pass->block, &mapped, pass->output_dim, first, end, output);
    finish_tile(pass, output, first, end);
}

enum error_code layer_pass_forward(struct layer_pass *pass, bool keep, struct arena *arena,
                                   struct thread_pool *pool, struct error *err)
{
    struct forward_job job = {
        .pass = pass,
        .weight = matrix_view_of(pass->weight, pass->output_dim, pass->mixed_dim),
        .scratch_size =
            layer_pass_scratch(TILE_ROWS * (pass->maps_first ? pass->input_dim : pass->mixed_dim)),
    };
    const uint32_t sources = pass->block.source_count;
    const uint32_t destinations = pass->block.destination_count;
    enum error_code rc = ERROR_NONE;
    if (pass->maps_first)
        rc = arena_new(arena, &job.mapped, (size_t)sources * pass->output_dim, "mapped rows", err);
    else if (keep)
        rc = arena_new(arena, &pass->mixed, destinations * pass->mixed_dim, "mixed rows", err);
    if (rc == ERROR_NONE && keep && pass->activation.relu)
        rc = arena_new(arena, &pass->active, destinations * activation_words(pass->output_dim),
                       "active outputs", err);
    if (rc == ERROR_NONE && !pass->mixed)
        rc = arena_new(arena, &job.scratch, (size_t)thread_pool_size(pool) * job.scratch_size,
                       "tiles", err);
    if (rc != ERROR_NONE)
        return rc;
    if (pass->maps_first) {
        thread_pool_run(pool, layer_pass_tiles(sources), map_tile, &job);
        thread_pool_run(pool, layer_pass_tiles(destinations), mix_tile, &job);
    } else {
        thread_pool_run(pool, layer_pass_tiles(destinations), mix_and_map_tile, &job);
    }
    return ERROR_NONE;
}
