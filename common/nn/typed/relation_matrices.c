#include "common/nn/typed/relation_matrices.h"

#include "common/math/vector.h"
#include "common/nn/operators/first_bounds.h"

static const char what[] = "the matrices of relations"; /* user of the memory, for messages */

static uint32_t input_of(const struct relation_schema *schema, const struct model_layer *layer)
{
    return layer->type_input_dim[schema->relation[0].source_type];
}

enum error_code relation_matrices_check(const struct relation_schema *schema,
                                        const struct model_layer *layer, uint32_t output,
                                        struct error *err)
{
    const uint32_t input = input_of(schema, layer), blocks = (uint32_t)layer->config.option.blocks;
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const uint32_t type = schema->relation[r].source_type;
        if (layer->type_input_dim[type] != input)
            return error_set(
                err, ERROR_INVALID,
                "rows of type %s have %u columns and those of %s %u: its matrices want "
                "the same of all that relations begin at; project them",
                schema->type_name[type], layer->type_input_dim[type],
                schema->type_name[schema->relation[0].source_type], input);
    }
    if (layer->config.option.bases && blocks)
        return error_set(err, ERROR_INVALID, "it has bases and blocks, of which one is possible");
    if (blocks && (input % blocks || output % blocks))
        return error_set(err, ERROR_INVALID, "its %u blocks do not divide the widths %u and %u",
                         blocks, input, output);
    return ERROR_NONE;
}

int relation_matrices_tensors(const struct model_layer *layer)
{
    return layer->config.option.bases ? 2 : 1;
}

void relation_matrices_parameters(struct parameter_writer *writer, uint32_t output,
                                  const char *weight, const char *comp)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    const struct model_layer *layer = writer->layer;
    const uint32_t input = input_of(schema, layer), relations = schema->relation_count;
    const uint32_t bases = (uint32_t)layer->config.option.bases,
                   blocks = (uint32_t)layer->config.option.blocks;
    const float bound = layer_glorot_bound(input, output);
    const int k = writer->number;
    if (bases) {
        const uint32_t dim[] = {bases, input, output, 0}, of_comp[] = {relations, bases, 0, 0};
        parameter_writer_add(writer, 3, dim, bound, 0, "convs.%d.%s", k, weight);
        parameter_writer_add(writer, 2, of_comp, layer_glorot_bound(relations, bases), 0,
                             "convs.%d.%s", k, comp);
    } else if (blocks) {
        const uint32_t dim[] = {relations, blocks, input / blocks, output / blocks};
        parameter_writer_add(writer, 4, dim, layer_glorot_bound(dim[2], dim[3]), 0, "convs.%d.%s",
                             k, weight);
    } else {
        const uint32_t dim[] = {relations, input, output, 0};
        parameter_writer_add(writer, 3, dim, bound, 0, "convs.%d.%s", k, weight);
    }
}

/* Reserves room for a matrix of each relation that has rows. */
enum error_code relation_matrices_new(const struct typed_pass *pass, uint32_t output,
                                      const struct model_workspace *workspace,
                                      struct relation_matrices *out, struct error *err)
{
    const struct model_layer *layer = pass->layer;
    const uint32_t input = input_of(pass->schema, layer);
    const size_t size = (size_t)input * output;
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    *out = (struct relation_matrices){.pass = pass,
                                      .relations = pass->schema->relation_count,
                                      .input = input,
                                      .output = output,
                                      .bases = (uint32_t)layer->config.option.bases,
                                      .blocks = (uint32_t)layer->config.option.blocks,
                                      .weight = 0,
                                      .comp = 1};
    enum error_code rc = arena_new(workspace->arena, &out->matrix, out->relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(workspace->arena, &out->scratch, threads * size, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < out->relations; r++) {
        out->matrix[r] = NULL;
        if (pass->edges[r].block.destination_count)
            rc = arena_new(workspace->arena, &out->matrix[r], size, what, err);
    }
    return rc;
}

/* Writes the transpose [cols, rows] of [rows, cols]. */
static void transpose(const float *from, size_t rows, size_t cols, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            to[c * rows + r] = from[r * cols + c];
}

CPU_KERNEL(add_scaled_matrix,
           (float *restrict sum, const float *restrict x, float scale, size_t count),
           (sum, x, scale, count))
{
    vector_add_scaled(sum, x, scale, count);
}

CPU_KERNEL_OF(float, dot_of_matrices,
              (const float *restrict x, const float *restrict y, size_t count), (x, y, count))
{
    return vector_dot(x, y, count);
}

static size_t matrix_size(const struct relation_matrices *matrices)
{
    return (size_t)matrices->input * matrices->output;
}

/* Copies element (row, column) of block `block` of the tensor to element [column, row] of the
 * matrix, offset by the blocks before it. */
static void copy_blocks(const struct relation_matrices *matrices, const float *tensor,
                        float *matrix)
{
    const size_t in = matrices->input / matrices->blocks, out = matrices->output / matrices->blocks;
    for (size_t i = 0; i < matrix_size(matrices); i++)
        matrix[i] = 0;
    for (size_t b = 0; b < matrices->blocks; b++)
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++)
                matrix[(b * out + o) * matrices->input + b * in + i] =
                    tensor[(b * in + i) * out + o];
}

static void copy_blocks_back(const struct relation_matrices *matrices, const float *matrix,
                             float *tensor)
{
    const size_t in = matrices->input / matrices->blocks, out = matrices->output / matrices->blocks;
    for (size_t b = 0; b < matrices->blocks; b++)
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++)
                tensor[(b * in + i) * out + o] =
                    matrix[(b * out + o) * matrices->input + b * in + i];
}

static void make_matrix(void *context, int64_t relation, int thread)
{
    const struct relation_matrices *m = context;
    const float *weight = typed_parameter(m->pass, m->weight);
    const size_t size = matrix_size(m), r = (size_t)relation;
    float *sum = m->scratch + (size_t)thread * size;
    if (!m->matrix[r])
        return;
    if (m->blocks) {
        copy_blocks(m, weight + r * (size / m->blocks), m->matrix[r]);
        return;
    }
    if (!m->bases) {
        transpose(weight + r * size, m->input, m->output, m->matrix[r]);
        return;
    }
    for (size_t i = 0; i < size; i++)
        sum[i] = 0;
    for (size_t b = 0; b < m->bases; b++)
        add_scaled_matrix(sum, weight + b * size,
                          typed_parameter(m->pass, m->comp)[r * m->bases + b], size);
    transpose(sum, m->input, m->output, m->matrix[r]);
}

void relation_matrices_make(const struct relation_matrices *matrices, struct thread_pool *pool)
{
    thread_pool_run(pool, matrices->relations, make_matrix, (void *)matrices);
}

struct back_job {
    const struct relation_matrices *matrices;
    float *gradient; /* gradient of the model */
};

/* Transposes the gradient of free matrices and of blocks, which completes it. With bases the
 * gradient keeps the order of the tensor. */
static void turn_gradient(void *context, int64_t relation, int thread)
{
    const struct back_job *job = context;
    const struct relation_matrices *m = job->matrices;
    const size_t size = matrix_size(m), r = (size_t)relation;
    float *of_weight = typed_gradient(m->pass, job->gradient, m->weight);
    float *turned = m->scratch + (size_t)thread * size;
    if (!m->matrix[r])
        return;
    if (m->blocks) {
        copy_blocks_back(m, m->matrix[r], of_weight + r * (size / m->blocks));
        return;
    }
    transpose(m->matrix[r], m->output, m->input, turned);
    vector_copy(m->bases ? m->matrix[r] : of_weight + r * size, turned, size);
    for (size_t b = 0; b < m->bases; b++)
        typed_gradient(m->pass, job->gradient, m->comp)[r * m->bases + b] =
            dot_of_matrices(turned, typed_parameter(m->pass, m->weight) + b * size, size);
}

/* Computes the gradient of basis `base`: the sum over the relations, in order. */
static void sum_base(void *context, int64_t base, int thread)
{
    const struct back_job *job = context;
    const struct relation_matrices *m = job->matrices;
    const size_t size = matrix_size(m);
    (void)thread;
    for (size_t r = 0; r < m->relations; r++)
        if (m->matrix[r])
            add_scaled_matrix(
                typed_gradient(m->pass, job->gradient, m->weight) + (size_t)base * size,
                m->matrix[r], typed_parameter(m->pass, m->comp)[r * m->bases + (size_t)base], size);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): threads write it */
void relation_matrices_back(const struct relation_matrices *matrices, float *gradient,
                            struct thread_pool *pool)
{
    struct back_job job = {matrices, gradient};
    thread_pool_run(pool, matrices->relations, turn_gradient, &job);
    thread_pool_run(pool, matrices->bases, sum_base, &job);
}
