#include "common/nn/layers/sparse_layer.h"

#include "common/math/sparse_product.h"
#include "common/math/vector.h"

enum { TILE_COLUMNS = 64 };

/* Returns the aggregation of projected rows. The own row is added separately if it has its own
 * matrix. */
static struct aggregation aggregation_of_projected(const struct layer_pass *pass)
{
    struct aggregation aggregation = pass->aggregation;
    aggregation.self_beside = false;
    return aggregation;
}

static uint32_t column_tile_end(uint32_t first, uint32_t columns)
{
    return columns - first < TILE_COLUMNS ? columns : first + TILE_COLUMNS;
}

static int64_t column_tiles(uint32_t columns)
{
    return ((int64_t)columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
}

/* --- forward --- */

struct forward_job {
    const struct layer_pass *pass;
    struct aggregation aggregation;
    size_t width;      /* columns of a projected row: matrix_count * output_dim */
    float *transposed; /* [input_dim, width]: the matrices' transposes side by side */
    /* [sources, width]; a source that is no destination has only the first matrix's part */
    float *projected;
};

static void transpose_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)tile * TILE_COLUMNS;
    const uint32_t end = column_tile_end(first, pass->input_dim);
    const float *weight = pass->weight.rows.value;
    (void)thread;
    for (int m = 0; m < pass->matrix_count; m++)
        for (uint32_t o = 0; o < pass->output_dim; o++) {
            const float *from = weight + o * pass->aggregated_dim + (size_t)m * pass->input_dim;
            float *to = job->transposed + (size_t)m * pass->output_dim + o;
            for (uint32_t k = first; k < end; k++)
                to[k * job->width] = from[k];
        }
}

/* Computes the first `columns` of the projected rows first .. end - 1. */
static void project_rows(const struct forward_job *job, uint32_t first, uint32_t end,
                         size_t columns)
{
    const struct sparse_matrix rows = sparse_rows_view(&job->pass->sparse_rows, first, end);
    const struct matrix_view weight = {job->transposed, job->pass->input_dim, columns, job->width};
    if (first < end)
        sparse_product(&rows, rows_view_of(weight), false, job->projected + first * job->width,
                       job->width);
}

static void project_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct message_block *block = &job->pass->block;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, block->source_count);
    const uint32_t destinations = block->destination_count < end ? block->destination_count : end;
    const uint32_t middle = destinations > first ? destinations : first;
    (void)thread;
    project_rows(job, first, middle, job->width);
    project_rows(job, middle, end, job->pass->output_dim);
}

CPU_KERNEL(add_own_rows,
           (const float *projected, size_t width, size_t dim, size_t rows, float *output),
           (projected, width, dim, rows, output))
{
    for (size_t row = 0; row < rows; row++)
        vector_add(output + row * dim, projected + row * width + dim, dim);
}

static void aggregate_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const struct input_rows projected = {.base = job->projected, .stride = job->width};
    float *output = (float *)pass->output + (size_t)first * pass->output_dim;
    (void)thread;
    aggregation_forward(&job->aggregation, &pass->block, &projected, pass->output_dim, first, end,
                        NULL, output);
    if (pass->aggregation.self_beside)
        add_own_rows(job->projected + first * job->width, job->width, pass->output_dim, end - first,
                     output);
    layer_pass_finish(pass, output, first, end);
}

static enum error_code find_rows(struct layer_pass *pass, struct arena *arena,
                                 struct thread_pool *pool, struct error *err)
{
    const struct input_rows *input = &pass->input;
    const uint32_t sources = pass->block.source_count;
    if (input->compressed)
        return sparse_rows_select(input->compressed, input->row_index, sources, arena,
                                  &pass->sparse_rows, err);
    return sparse_rows_build(input, pass->input_dim, sources, arena, pool, &pass->sparse_rows, err);
}

enum error_code sparse_layer_forward(struct layer_pass *pass, bool keep, struct arena *arena,
                                     struct thread_pool *pool, struct error *err)
{
    must(pass->output_precision == PRECISION_FP32);
    struct forward_job job = {.pass = pass,
                              .aggregation = aggregation_of_projected(pass),
                              .width = (size_t)pass->matrix_count * pass->output_dim};
    const uint32_t sources = pass->block.source_count;
    enum error_code rc = find_rows(pass, arena, pool, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.transposed, pass->input_dim * job.width, "weights", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.projected, sources * job.width, "projected rows", err);
    if (rc == ERROR_NONE && keep && pass->activation.relu)
        rc = layer_pass_keep_active(pass, arena, err);
    if (rc != ERROR_NONE)
        return rc;
    thread_pool_run(pool, column_tiles(pass->input_dim), transpose_tile, &job);
    thread_pool_run(pool, layer_pass_tiles(sources), project_tile, &job);
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), aggregate_tile, &job);
    return ERROR_NONE;
}

/* --- backward --- */

struct backward_job {
    const struct layer_pass *pass;
    struct aggregation aggregation;
    const float *output_gradient;
    const struct layer_gradient *out;
    float *projected_gradient; /* [sources, output_dim], for the first matrix */
    struct sparse_columns columns;
    float *scratch; /* [threads, TILE_COLUMNS, output_dim] */
};

static void backward_tile(void *context, int64_t tile, int thread)
{
    const struct backward_job *job = context;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    aggregation_backward(&job->aggregation, &pass->edges, job->output_gradient, pass->output_dim,
                         first, layer_pass_tile_end(first, pass->block.source_count),
                         job->projected_gradient + (size_t)first * pass->output_dim);
}

/* Computes columns first .. end - 1 of the gradient of a matrix in transposed form, then copies
 * them to their place. */
static void weight_columns(const struct backward_job *job, int m, uint32_t first, uint32_t end,
                           float *scratch)
{
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->output_dim;
    const struct sparse_matrix columns = sparse_columns_view(&job->columns, first, end, m > 0);
    const float *projected = m == 0 ? job->projected_gradient : job->output_gradient;
    sparse_product(&columns, rows_view_of(matrix_view_of(projected, columns.cols, dim)), false,
                   scratch, dim);
    for (size_t o = 0; o < dim; o++)
        for (uint32_t k = first; k < end; k++)
            job->out->matrix[m][o * pass->input_dim + k] = scratch[(k - first) * dim + o];
}

static void weight_tile(void *context, int64_t tile, int thread)
{
    const struct backward_job *job = context;
    const uint32_t first = (uint32_t)tile * TILE_COLUMNS;
    float *scratch = job->scratch + (size_t)thread * TILE_COLUMNS * job->pass->output_dim;
    for (int m = 0; m < job->pass->matrix_count; m++)
        weight_columns(job, m, first, column_tile_end(first, job->pass->input_dim), scratch);
}

enum error_code sparse_layer_backward(const struct layer_pass *pass, const float *output_gradient,
                                      const struct layer_gradient *out, struct arena *arena,
                                      struct thread_pool *pool, struct error *err)
{
    static const char what[] = "gradients";
    struct backward_job job = {.pass = pass,
                               .aggregation = aggregation_of_projected(pass),
                               .output_gradient = output_gradient,
                               .out = out};
    const uint32_t sources = pass->block.source_count;
    enum error_code rc =
        arena_new(arena, &job.projected_gradient, (size_t)sources * pass->output_dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.scratch,
                       (size_t)thread_pool_size(pool) * TILE_COLUMNS * pass->output_dim, what, err);
    if (rc == ERROR_NONE)
        rc = sparse_rows_transpose(&pass->sparse_rows, pass->block.destination_count, arena,
                                   &job.columns, err);
    if (rc != ERROR_NONE)
        return rc;
    thread_pool_run(pool, layer_pass_tiles(sources), backward_tile, &job);
    thread_pool_run(pool, column_tiles(pass->input_dim), weight_tile, &job);
    return ERROR_NONE;
}
