/* Set-up and forward pass; the backward pass is in layer_backward.c. */
#include "common/nn/layers/layer_pass.h"

#include "common/math/bf16_rows.h"
#include "common/math/vector.h"
#include "common/nn/layers/sparse_layer.h"

/* Joins the matrices [output_dim, input_dim] of a layer side by side. A single matrix is used in
 * place. */
static enum error_code join_matrices(const struct layer_pass *pass, const float *const *matrix,
                                     struct arena *arena, struct matrix_view *out,
                                     struct error *err)
{
    float *joined = NULL;
    *out = matrix_view_of(matrix[0], pass->output_dim, pass->aggregated_dim);
    if (pass->matrix_count == 1)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &joined, pass->output_dim * pass->aggregated_dim,
                                         "the joined weights", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int m = 0; !arena->counts && m < pass->matrix_count; m++) {
        must(matrix[m]);
        for (uint32_t row = 0; row < pass->output_dim; row++)
            vector_copy(joined + row * pass->aggregated_dim + (size_t)m * pass->input_dim,
                        matrix[m] + (size_t)row * pass->input_dim, pass->input_dim);
    }
    out->value = joined;
    return ERROR_NONE;
}

static struct layer_pass pass_of(const struct model_layer *own, const struct message_block *block,
                                 const struct input_rows *input)
{
    must(!input->mostly_zero || input->precision == PRECISION_FP32);
    return (struct layer_pass){
        .layer = own,
        .block = *block,
        .input = *input,
        .precision = input->precision,
        .input_dim = own->input_dim,
        .output_dim = own->config.output_dim,
        .activation = {.relu = own->config.activation == ACTIVATION_RELU && !own->has_tail,
                       .scale = 1}};
}

/* Prepares a linear kind, which has pass->matrix_count matrices. */
static enum error_code prepare_linear(struct layer_pass *pass, const float *const *matrix,
                                      struct arena *arena, struct error *err)
{
    const struct layer_type *type = pass->layer->type;
    struct matrix_view weight;
    enum error_code rc = ERROR_NONE;
    pass->aggregated_dim = (size_t)pass->matrix_count * pass->input_dim;
    if (type->uses_edges) {
        pass->projects_first = type->projects_first(pass->input_dim, pass->output_dim);
        rc = type->weigh(pass->layer, &pass->block, arena, &pass->aggregation, err);
        must(rc != ERROR_NONE ||
             aggregation_width(&pass->aggregation, pass->input_dim) == pass->aggregated_dim);
    }
    /* Rows that are mostly zero are projected before they are aggregated. That order is wrong for
     * the maximum, which is not linear. */
    if (!type->uses_edges || pass->aggregation.greatest)
        pass->input.mostly_zero = false;
    if (rc == ERROR_NONE)
        rc = join_matrices(pass, matrix, arena, &weight, err);
    if (rc == ERROR_NONE)
        rc = linear_weight_init(&pass->weight, weight, pass->precision, arena, err);
    return rc;
}

enum error_code layer_pass_init_matrix(struct layer_pass *out, const struct model_layer *layer,
                                       const float *matrix, const float *bias,
                                       const struct message_block *block,
                                       const struct input_rows *input, struct arena *arena,
                                       struct error *err)
{
    *out = pass_of(layer, block, input);
    out->matrix_count = 1;
    out->activation.bias = bias;
    return prepare_linear(out, &matrix, arena, err);
}

enum error_code layer_pass_init_tensors(struct layer_pass *out, const struct model_layer *layer,
                                        const struct parameter *parameter, const float *value,
                                        const struct message_block *block,
                                        const struct input_rows *input, struct arena *arena,
                                        struct error *err)
{
    const float *matrix[LAYER_PARAMETER_COUNT_MAX] = {0};
    *out = pass_of(layer, block, input);
    for (int i = 0; i < layer->parameter_count; i++) {
        const float *values = value + parameter[i].offset;
        out->parameter[i] = values;
        if (parameter[i].dim_count == 1)
            out->activation.bias = values;
        else
            matrix[out->matrix_count++] = values;
    }
    return layer->type->forward ? ERROR_NONE : prepare_linear(out, matrix, arena, err);
}

enum error_code layer_pass_init(struct layer_pass *out, const struct model *model,
                                const float *value, int layer, const struct message_block *block,
                                const struct input_rows *input, struct arena *arena,
                                struct error *err)
{
    const struct model_layer *own = &model->layer[layer];
    must(input->precision == model->config.precision);
    const enum error_code rc = layer_pass_init_tensors(
        out, own, &model->parameter[own->first_parameter], value, block, input, arena, err);
    for (int i = 0; own->config.inner_norm == NORM_BATCH && i < 2; i++)
        out->running[i] = value + model->parameter[own->inner_buffer_parameter + i].offset;
    return rc;
}

struct layer_gradient layer_pass_gradient(const struct model_layer *layer,
                                          const struct parameter *parameter, float *gradient)
{
    struct layer_gradient out = {0};
    int matrices = 0;
    for (int i = 0; i < layer->parameter_count; i++) {
        out.parameter[i] = gradient + parameter[i].offset;
        if (parameter[i].dim_count == 1)
            out.bias = gradient + parameter[i].offset;
        else
            out.matrix[matrices++] = gradient + parameter[i].offset;
    }
    return out;
}

struct forward_job {
    const struct layer_pass *pass;
    float *projected;    /* project first: [sources, output_dim] */
    float *scratch;      /* [threads, scratch_size] */
    size_t scratch_size; /* floats for a thread */
};

/* Parts of a thread's scratch. */
struct forward_scratch {
    void *rows;     /* [TILE_ROWS] of the input, or of aggregated rows that are not kept */
    float *sum;     /* one row of the input, only in bf16 */
    float *product; /* [LAYER_ROUNDED_ROWS, output_dim] of an output that is rounded */
};

static size_t scratch_rows_size(const struct layer_pass *pass)
{
    if (pass->aggregated)
        return 0;
    return layer_pass_scratch(TILE_ROWS *
                              (pass->projects_first ? pass->input_dim : pass->aggregated_dim));
}

static size_t scratch_sum_size(const struct layer_pass *pass)
{
    return pass->precision == PRECISION_BF16 ? layer_pass_scratch(pass->input_dim) : 0;
}

static size_t scratch_product_size(const struct layer_pass *pass)
{
    return pass->output_precision == PRECISION_BF16
               ? layer_pass_scratch((size_t)LAYER_ROUNDED_ROWS * pass->output_dim)
               : 0;
}

static size_t scratch_size(const struct layer_pass *pass)
{
    return scratch_rows_size(pass) + scratch_sum_size(pass) + scratch_product_size(pass);
}

static struct forward_scratch scratch_of(const struct forward_job *job, int thread)
{
    if (!job->scratch) /* only the size is wanted: computes no address from NULL */
        return (struct forward_scratch){0};
    float *start = job->scratch + (size_t)thread * job->scratch_size;
    float *sum = start + scratch_rows_size(job->pass);
    return (struct forward_scratch){start, sum, sum + scratch_sum_size(job->pass)};
}

void layer_pass_finish(const struct layer_pass *pass, float *rows, uint32_t first, uint32_t end)
{
    const size_t words = activation_words(pass->output_dim);
    activation_forward(&pass->activation, rows, pass->output_dim, first, end - first,
                       pass->active ? pass->active + first * words : NULL);
}

/* Returns the place for rows from `first` on: the output itself, unless they have to be rounded
 * afterwards. */
static float *output_room(const struct layer_pass *pass, uint32_t first, float *scratch)
{
    return pass->output_precision == PRECISION_BF16
               ? scratch
               : (float *)pass->output + (size_t)first * pass->output_dim;
}

static void finish_output(const struct layer_pass *pass, float *rows, uint32_t first, uint32_t end)
{
    layer_pass_finish(pass, rows, first, end);
    if (pass->output_precision == PRECISION_BF16)
        bf16_rows_round((bf16 *)pass->output + first * bf16_stride(pass->output_dim), rows,
                        pass->output_dim, end - first);
}

/* Returns the next row after `first` at which a piece of output is completed. */
static uint32_t next_rows(const struct layer_pass *pass, uint32_t first, uint32_t end)
{
    const bool rounds = pass->output_precision == PRECISION_BF16;
    return rounds && end - first > LAYER_ROUNDED_ROWS ? first + LAYER_ROUNDED_ROWS : end;
}

static void aggregate_and_project_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const struct forward_scratch scratch = scratch_of(job, thread);
    const uint32_t start = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(start, pass->block.destination_count);
    void *aggregated = scratch.rows;
    if (pass->aggregated)
        aggregated = layer_pass_row(pass->precision, pass->aggregated, pass->aggregated_dim, start);
    if (start >= pass->aggregated_count && pass->layer->type->uses_edges)
        aggregation_forward(&pass->aggregation, &pass->block, &pass->input, pass->input_dim, start,
                            end, scratch.sum, aggregated);
    else if (start >= pass->aggregated_count)
        gather_rows_into(&pass->input, pass->input_dim, start, end, aggregated);
    for (uint32_t first = start, next; first < end; first = next) {
        next = next_rows(pass, first, end);
        float *output = output_room(pass, first, scratch.product);
        linear_forward(&pass->weight,
                       layer_pass_rows(pass->precision, aggregated, pass->aggregated_dim,
                                       first - start, next - start),
                       output);
        finish_output(pass, output, first, next);
    }
}

static void project_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.source_count);
    const struct rows_view input =
        gather_rows(&pass->input, pass->input_dim, first, end, scratch_of(job, thread).rows);
    linear_forward(&pass->weight, input, job->projected + (size_t)first * pass->output_dim);
}

static void aggregate_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t start = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(start, pass->block.destination_count);
    const struct input_rows projected = {.base = job->projected, .stride = pass->output_dim};
    for (uint32_t first = start, next; first < end; first = next) {
        next = next_rows(pass, first, end);
        float *output = output_room(pass, first, scratch_of(job, thread).product);
        aggregation_forward(&pass->aggregation, &pass->block, &projected, pass->output_dim, first,
                            next, NULL, output);
        finish_output(pass, output, first, next);
    }
}

enum error_code layer_pass_keep_active(struct layer_pass *pass, struct arena *arena,
                                       struct error *err)
{
    return arena_new(arena, &pass->active,
                     pass->block.destination_count * activation_words(pass->output_dim),
                     "active outputs", err);
}

/* A layer without edges projects its input rows. Rows that already lie together are used in
 * place. */
static void use_input_in_place(struct layer_pass *pass)
{
    if (pass->input.row_index ||
        pass->input.stride != precision_stride(pass->precision, pass->input_dim))
        return;
    pass->aggregated = (void *)pass->input.base; /* it is only read */
    pass->aggregated_count = pass->block.destination_count;
}

static enum error_code find_room(struct forward_job *job, struct layer_pass *pass, bool keep,
                                 struct arena *arena, int threads, struct error *err)
{
    const size_t destinations = pass->block.destination_count;
    const size_t stride = precision_stride(pass->precision, pass->aggregated_dim);
    enum error_code rc = ERROR_NONE;
    if (!pass->layer->type->uses_edges)
        use_input_in_place(pass);
    if (pass->projects_first)
        rc = arena_new(arena, &job->projected, (size_t)pass->block.source_count * pass->output_dim,
                       "projected rows", err);
    else if (keep && !pass->aggregated)
        rc = arena_new_bytes(arena, &pass->aggregated, destinations * stride,
                             precision_bytes(pass->precision), "aggregated rows", err);
    if (rc == ERROR_NONE && keep && pass->activation.relu)
        rc = layer_pass_keep_active(pass, arena, err);
    job->scratch_size = scratch_size(pass);
    if (rc == ERROR_NONE && job->scratch_size)
        rc = arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, "tiles", err);
    return rc;
}

enum error_code layer_pass_forward(struct layer_pass *pass, bool keep, struct arena *arena,
                                   struct thread_pool *pool, struct error *err)
{
    struct forward_job job = {.pass = pass};
    if (pass->layer->type->forward)
        return pass->layer->type->forward(pass, keep, arena, pool, err);
    if (pass->input.mostly_zero)
        return sparse_layer_forward(pass, keep, arena, pool, err);
    const enum error_code rc = find_room(&job, pass, keep, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    if (pass->projects_first) {
        thread_pool_run(pool, layer_pass_tiles(pass->block.source_count), project_tile, &job);
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), aggregate_tile,
                        &job);
    } else {
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count),
                        aggregate_and_project_tile, &job);
    }
    return ERROR_NONE;
}
