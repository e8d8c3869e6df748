/*
 * The relational graph convolution of Schlichtkrull and others (ESWC 2018), as PyG's RGCNConv has it:
 *
 *   y_i = sum over the relations r of W_r (mean of x_j over the neighbours j of i in r) + root x_i + bias
 *
 * or by their sum, or in each column the greatest (neighbor_weights.h). The matrices are free, weight [relations, in, out],
 * x W; or made of option.bases of them, W_r = sum over b of comp[r, b] weight[b]; or of option.blocks on the diagonal,
 * weight [relations, blocks, in / blocks, out / blocks].
 *
 * With one node type root and bias are tensors of the layer, as there. With several each type has a Linear of its own,
 * roots.<k>.<type>, beside RGCNConv(..., root_weight=False, bias=False); so have those who train R-GCN on typed graphs with
 * DGL, whose RelGraphConv has the names W, coeff, loop_weight and h_bias instead and one type alone.
 */
#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/nn/typed/relation_sums.h"

enum { WEIGHT, COMP };

static const char what[] = "the matrices of relations"; /* wants memory */

/* How the matrices are made, of one layer. */
struct shape {
    uint32_t relations, input, output;
    uint32_t bases, blocks; /* 0: not of those */
    int root;               /* the tensor of the first type's own matrix; its bias is the next */
    bool has_types;         /* more than one */
};

static struct shape shape_of(const struct model_layer *layer, const struct relation_schema *schema)
{
    const uint32_t bases = (uint32_t)layer->option.bases;
    return (struct shape){.relations = schema->relation_count,
                          .input = layer->type_input_dim[schema->relation[0].source_type],
                          .output = layer->output_dim,
                          .bases = bases,
                          .blocks = (uint32_t)layer->option.blocks,
                          .root = bases ? COMP + 1 : COMP,
                          .has_types = schema->type_count > 1};
}

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    const struct relation_schema *schema = config->types.schema;
    const struct shape shape = shape_of(layer, schema);
    for (uint32_t r = 0; r < shape.relations; r++) {
        const uint32_t type = schema->relation[r].source_type;
        if (layer->type_input_dim[type] != shape.input)
            return error_set(
                err, ERROR_INVALID,
                "rows of type %s have %u columns and those of %s %u: its matrices want "
                "the same of all that relations begin at; project them",
                schema->type_name[type], layer->type_input_dim[type],
                schema->type_name[schema->relation[0].source_type], shape.input);
    }
    if (shape.bases && shape.blocks)
        return error_set(err, ERROR_INVALID, "it has bases and blocks, of which one is possible");
    if (shape.blocks && (shape.input % shape.blocks || shape.output % shape.blocks))
        return error_set(err, ERROR_INVALID, "its %u blocks do not divide the widths %u and %u",
                         shape.blocks, shape.input, shape.output);
    return ERROR_NONE;
}

static void add_matrices(struct parameter_writer *writer, const struct shape *shape)
{
    const int k = writer->number;
    if (shape->bases) {
        const uint32_t weight[] = {shape->bases, shape->input, shape->output, 0};
        const uint32_t comp[] = {shape->relations, shape->bases, 0, 0};
        parameter_writer_add(writer, 3, weight, layer_glorot_bound(shape->input, shape->output), 0,
                             "convs.%d.weight", k);
        parameter_writer_add(writer, 2, comp, layer_glorot_bound(shape->relations, shape->bases), 0,
                             "convs.%d.comp", k);
    } else if (shape->blocks) {
        const uint32_t in = shape->input / shape->blocks, out = shape->output / shape->blocks;
        const uint32_t weight[] = {shape->relations, shape->blocks, in, out};
        parameter_writer_add(writer, 4, weight, layer_glorot_bound(in, out), 0, "convs.%d.weight",
                             k);
    } else {
        const uint32_t weight[] = {shape->relations, shape->input, shape->output, 0};
        parameter_writer_add(writer, 3, weight, layer_glorot_bound(shape->input, shape->output), 0,
                             "convs.%d.weight", k);
    }
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = writer->model->config.types.schema;
    const struct shape shape = shape_of(writer->layer, schema);
    const uint32_t bias[PARAMETER_DIM_COUNT_MAX] = {shape.output};
    const int k = writer->number;
    add_matrices(writer, &shape);
    if (!shape.has_types) {
        const uint32_t root[] = {shape.input, shape.output, 0, 0};
        parameter_writer_add(writer, 2, root, layer_glorot_bound(shape.input, shape.output), 0,
                             "convs.%d.root", k);
        parameter_writer_add(writer, 1, bias, 0, 0, "convs.%d.bias", k);
        return;
    }
    for (uint32_t t = 0; t < schema->type_count; t++) {
        char key[RELATION_NAME_SIZE + 2];
        const uint32_t dim = writer->layer->type_input_dim[t];
        const uint32_t root[] = {shape.output, dim, 0, 0};
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 2, root, layer_linear_bound(dim), 0, "roots.%d.%s.weight", k,
                             key);
        parameter_writer_add(writer, 1, bias, layer_linear_bound(dim), 0, "roots.%d.%s.bias", k,
                             key);
    }
}

/* [cols, rows] from [rows, cols]. */
static void transpose(const float *from, size_t rows, size_t cols, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            to[c * rows + r] = from[r * cols + c];
}

/* --- matrices from tensors, and back --- */

struct matrix_job {
    struct shape shape;
    const struct typed_pass *pass;
    const float *weight, *comp;
    float **matrix; /* [relations]: W_r [out, in], or its gradient */
    float *weight_gradient, *comp_gradient;
    float *scratch; /* [threads, in * out] */
};

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

static bool has_rows(const struct matrix_job *job, uint32_t relation)
{
    return job->pass->edges[relation].block.destination_count > 0;
}

static size_t matrix_size(const struct shape *shape)
{
    return (size_t)shape->input * shape->output;
}

/* Element (row, column) of block `block` of the tensor is element [column, row] of the matrix, behind those before. */
static void copy_blocks(const struct shape *shape, float *tensor, float *matrix, bool back)
{
    const size_t in = shape->input / shape->blocks, out = shape->output / shape->blocks;
    for (size_t b = 0; b < shape->blocks; b++)
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++) {
                float *of_tensor = &tensor[(b * in + i) * out + o];
                float *of_matrix = &matrix[(b * out + o) * shape->input + b * in + i];
                if (back)
                    *of_tensor = *of_matrix;
                else
                    *of_matrix = *of_tensor;
            }
}

static void make_matrix(void *context, int64_t relation, int thread)
{
    const struct matrix_job *job = context;
    const struct shape *shape = &job->shape;
    const size_t size = matrix_size(shape);
    float *matrix = job->matrix[relation];
    if (!has_rows(job, (uint32_t)relation))
        return;
    if (shape->blocks) {
        for (size_t i = 0; i < size; i++)
            matrix[i] = 0;
        copy_blocks(shape, (float *)job->weight + relation * (int64_t)(size / shape->blocks),
                    matrix, false);
    } else if (shape->bases) {
        float *sum = job->scratch + (size_t)thread * size;
        for (size_t i = 0; i < size; i++)
            sum[i] = 0;
        for (size_t b = 0; b < shape->bases; b++)
            add_scaled_matrix(sum, job->weight + b * size,
                              job->comp[(size_t)relation * shape->bases + b], size);
        transpose(sum, shape->input, shape->output, matrix);
    } else {
        transpose(job->weight + (size_t)relation * size, shape->input, shape->output, matrix);
    }
}

/* The gradients of relation `relation`, in the order of the tensor: of free matrices and of blocks that is all. */
static void turn_gradient(void *context, int64_t relation, int thread)
{
    const struct matrix_job *job = context;
    const struct shape *shape = &job->shape;
    const size_t size = matrix_size(shape);
    float *matrix = job->matrix[relation], *turned = job->scratch + (size_t)thread * size;
    if (!has_rows(job, (uint32_t)relation))
        return;
    if (shape->blocks) {
        copy_blocks(shape, job->weight_gradient + (size_t)relation * (size / shape->blocks), matrix,
                    true);
        return;
    }
    transpose(matrix, shape->output, shape->input, turned);
    if (!shape->bases) {
        vector_copy(job->weight_gradient + (size_t)relation * size, turned, size);
        return;
    }
    vector_copy(matrix, turned, size);
    for (size_t b = 0; b < shape->bases; b++)
        job->comp_gradient[(size_t)relation * shape->bases + b] =
            dot_of_matrices(turned, job->weight + b * size, size);
}

/* Of basis `base`: the sum over the relations, in order. */
static void sum_base(void *context, int64_t base, int thread)
{
    const struct matrix_job *job = context;
    const struct shape *shape = &job->shape;
    const size_t size = matrix_size(shape);
    (void)thread;
    for (uint32_t r = 0; r < shape->relations; r++)
        if (has_rows(job, r))
            add_scaled_matrix(job->weight_gradient + (size_t)base * size, job->matrix[r],
                              job->comp[(size_t)r * shape->bases + (size_t)base], size);
}

/* A matrix for each relation that has rows. */
static enum error_code find_matrices(struct matrix_job *job,
                                     const struct model_workspace *workspace, struct error *err)
{
    const size_t size = matrix_size(&job->shape);
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    enum error_code rc = arena_new(workspace->arena, &job->matrix, job->shape.relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(workspace->arena, &job->scratch, threads * size, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < job->shape.relations; r++) {
        job->matrix[r] = NULL;
        if (has_rows(job, r))
            rc = arena_new(workspace->arena, &job->matrix[r], size, what, err);
    }
    return rc;
}

static struct matrix_job job_of(const struct typed_pass *pass)
{
    const struct shape shape = shape_of(pass->layer, pass->schema);
    return (struct matrix_job){.shape = shape,
                               .pass = pass,
                               .weight = typed_parameter(pass, WEIGHT),
                               .comp = shape.bases ? typed_parameter(pass, COMP) : NULL};
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct arena *arena = workspace->arena;
    struct matrix_job job = job_of(pass);
    const struct shape *shape = &job.shape;
    struct relation_sums *sums = NULL;
    float *root = NULL;
    enum error_code rc = relation_sums_new(pass, arena, &sums, err);
    if (rc == ERROR_NONE)
        rc = find_matrices(&job, workspace, err);
    if (rc == ERROR_NONE && !shape->has_types)
        rc = arena_new(arena, &root, matrix_size(shape), what, err);
    if (rc != ERROR_NONE)
        return rc;
    pass->state = sums;
    for (uint32_t r = 0; r < shape->relations; r++)
        sums->weight[r] = job.matrix[r];
    for (uint32_t t = 0; t < pass->schema->type_count; t++) {
        sums->root[t] = root ? root : typed_parameter(pass, shape->root + 2 * (int)t);
        sums->bias[t] = typed_parameter(pass, shape->root + 2 * (int)t + 1);
    }
    if (!arena->counts) {
        thread_pool_run(workspace->pool, shape->relations, make_matrix, &job);
        if (root)
            transpose(typed_parameter(pass, shape->root), shape->input, shape->output, root);
    }
    return relation_sums_forward(sums, pass, keep, workspace, err);
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    struct arena *arena = workspace->arena;
    struct matrix_job job = job_of(pass);
    const struct shape *shape = &job.shape;
    struct relation_sums_gradient out;
    float *root = NULL;
    enum error_code rc = relation_sums_gradient_new(pass, arena, &out, err);
    if (rc == ERROR_NONE)
        rc = find_matrices(&job, workspace, err);
    if (rc == ERROR_NONE && !shape->has_types)
        rc = arena_new(arena, &root, matrix_size(shape), what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < shape->relations; r++)
        out.weight[r] = job.matrix[r];
    for (uint32_t t = 0; t < pass->schema->type_count; t++) {
        out.root[t] = root ? root : typed_gradient(pass, gradient, shape->root + 2 * (int)t);
        out.bias[t] = typed_gradient(pass, gradient, shape->root + 2 * (int)t + 1);
    }
    rc = relation_sums_backward(pass->state, pass, output_gradient, &out, workspace, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    job.weight_gradient = typed_gradient(pass, gradient, WEIGHT);
    job.comp_gradient = shape->bases ? typed_gradient(pass, gradient, COMP) : NULL;
    thread_pool_run(workspace->pool, shape->relations, turn_gradient, &job);
    thread_pool_run(workspace->pool, shape->bases, sum_base, &job);
    if (root && pass->destination_count[0])
        transpose(root, shape->output, shape->input, typed_gradient(pass, gradient, shape->root));
    return ERROR_NONE;
}

static const struct typed_kind typed = {
    .parameters = parameters, .check = check, .forward = forward, .backward = backward};

const struct layer_type rgcn_layer = {
    .pyg_name = "RGCN",
    .uses_edges = true,
    .aggr = LAYER_AGGR_MEAN,
    .typed = &typed,
    .only_typed = true,
};
