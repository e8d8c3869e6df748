/*
 * The heterogeneous graph transformer (Hu and others, WWW 2020), as PyG's HGTConv has it. With a row of a type t
 *
 *   k, q, v = kqv_lin_t(x)                             by heads of D columns
 *
 * an edge of relation r from source j to destination i has in head h
 *
 *   s = q_i . (k_j K_rh) p_rh / sqrt(D)                K_rh = k_rel.weight[h relations + r], x K
 *   w = softmax of s over the edges of i of all relations together
 *   o_i = sum over them of w (v_j V_rh)                V_rh = v_rel.weight[h relations + r]
 *   y_i = out_lin_t(gelu(o_i)), and where the widths of x and y are the same
 *         sigmoid(skip_t) y_i + (1 - sigmoid(skip_t)) x_i
 *
 * K and V are applied to rows of destinations, which are fewer than sources: s = (q_i K^T p / sqrt(D)) . k_j, and the sum
 * of w v_j comes before V. Backward goes the same way back: of p through the matrix that it scales.
 */
#include "common/math/vector.h"
#include "common/math/vector_gelu.h"
#include "common/nn/layers/layer.h"
#include "common/nn/layers/partial_sums.h"
#include "common/nn/typed/relation_attention.h"
#include "common/nn/typed/row_product.h"

#include <math.h>

static const char what[] = "heterogeneous attention"; /* wants memory */

enum { KEY, QUERY, VALUE, KQV_COUNT };
/* Tensors of a type, then of all relations, then of a type, then of each relation. */
enum { KQV_WEIGHT, KQV_BIAS, OUT_WEIGHT, OUT_BIAS, OF_TYPE_COUNT };

struct of_type {
    struct row_product *kqv[KQV_COUNT]; /* NULL without rows: queries are of destinations alone */
    struct row_product *out;
    float *sum, *active; /* o, gelu(o) [destinations, output_dim] */
};

struct of_relation {
    struct row_product *query, *value; /* of the relation's rows */
    float *key_matrix, *value_matrix;  /* [output_dim, output_dim]: of all heads, on the diagonal */
    float *row;                        /* sums of w v [rows, output_dim] */
};

struct hgt {
    struct relation_attention *attention;
    struct of_type **type;         /* [types] */
    struct of_relation **relation; /* [relations]; NULL without edges */
};

static uint32_t types_of(const struct typed_pass *pass)
{
    return pass->schema->type_count;
}

static uint32_t relations_of(const struct typed_pass *pass)
{
    return pass->schema->relation_count;
}

static int of_type(uint32_t type, int which)
{
    return (int)type * OF_TYPE_COUNT + which;
}

static int key_tensor(const struct typed_pass *pass)
{
    return of_type(types_of(pass), 0);
}

static int skip_tensor(const struct typed_pass *pass, uint32_t type)
{
    return key_tensor(pass) + 2 + (int)type;
}

static int scale_tensor(const struct typed_pass *pass, uint32_t relation)
{
    return skip_tensor(pass, types_of(pass)) + (int)relation;
}

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    (void)config;
    if (layer->output_dim % (uint32_t)layer->option.heads)
        return error_set(err, ERROR_INVALID,
                         "the output width is %u, which its %d heads do not divide",
                         layer->output_dim, (int)layer->option.heads);
    return ERROR_NONE;
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    const uint32_t width = writer->layer->output_dim;
    const uint32_t heads = (uint32_t)writer->layer->option.heads, dim = width / heads;
    const uint32_t of_edges[] = {heads * schema->relation_count, dim, dim, 0};
    const uint32_t scales[] = {1, heads, 0, 0}, one[PARAMETER_DIM_COUNT_MAX] = {1};
    char key[RELATION_KEY_SIZE];
    const int k = writer->number;
    for (uint32_t t = 0; t < schema->type_count; t++) {
        const uint32_t input = writer->layer->type_input_dim[t];
        const uint32_t kqv[] = {KQV_COUNT * width, input, 0, 0}, out[] = {width, width, 0, 0};
        const float bound = layer_linear_bound(input), out_bound = layer_linear_bound(width);
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 2, kqv, bound, 0, "convs.%d.kqv_lin.lins.%s.weight", k, key);
        parameter_writer_add(writer, 1, kqv, bound, 0, "convs.%d.kqv_lin.lins.%s.bias", k, key);
        parameter_writer_add(writer, 2, out, out_bound, 0, "convs.%d.out_lin.lins.%s.weight", k,
                             key);
        parameter_writer_add(writer, 1, out, out_bound, 0, "convs.%d.out_lin.lins.%s.bias", k, key);
    }
    parameter_writer_add(writer, 3, of_edges, layer_linear_bound(dim), 0, "convs.%d.k_rel.weight",
                         k);
    parameter_writer_add(writer, 3, of_edges, layer_linear_bound(dim), 0, "convs.%d.v_rel.weight",
                         k);
    for (uint32_t t = 0; t < schema->type_count; t++) {
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 1, one, 0, 1, "convs.%d.skip.%s", k, key);
    }
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        relation_joined_key(schema, r, key);
        parameter_writer_add(writer, 2, scales, 0, 1, "convs.%d.p_rel.%s", k, key);
    }
}

/* --- the matrices of a relation --- */

/* Element (i, o) of the tensor's matrix for head `head` of the relation. */
static size_t tensor_at(const struct typed_pass *pass, uint32_t relation, uint32_t head)
{
    const uint32_t dim = pass->layer->output_dim / (uint32_t)pass->layer->option.heads;
    return ((size_t)head * relations_of(pass) + relation) * dim * dim;
}

static float scale_of(const struct typed_pass *pass, uint32_t relation, uint32_t head)
{
    const uint32_t dim = pass->layer->output_dim / (uint32_t)pass->layer->option.heads;
    return typed_parameter(pass, scale_tensor(pass, relation))[head] / sqrtf((float)dim);
}

/* Queries are multiplied with K p / sqrt(D) as it lies, rows of values with V^T: each [out, in] of a row product. */
static void fill_matrices(const struct typed_pass *pass, uint32_t relation,
                          const struct of_relation *own)
{
    const uint32_t width = pass->layer->output_dim, heads = (uint32_t)pass->layer->option.heads;
    const uint32_t dim = width / heads;
    for (size_t i = 0; i < (size_t)width * width; i++)
        own->key_matrix[i] = own->value_matrix[i] = 0;
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = tensor_at(pass, relation, h);
        const float *key = typed_parameter(pass, key_tensor(pass)) + at;
        const float *value = typed_parameter(pass, key_tensor(pass) + 1) + at;
        const float scale = scale_of(pass, relation, h);
        for (uint32_t i = 0; i < dim; i++)
            for (uint32_t o = 0; o < dim; o++) {
                const size_t row = (size_t)h * dim;
                own->key_matrix[(row + i) * width + row + o] = scale * key[i * dim + o];
                own->value_matrix[(row + o) * width + row + i] = value[i * dim + o];
            }
    }
}

/* From the gradients of those matrices, in their place. */
static void share_out_matrices(const struct typed_pass *pass, uint32_t relation,
                               const struct of_relation *own, float *gradient)
{
    const uint32_t width = pass->layer->output_dim, heads = (uint32_t)pass->layer->option.heads;
    const uint32_t dim = width / heads;
    float *scales = typed_gradient(pass, gradient, scale_tensor(pass, relation));
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = tensor_at(pass, relation, h), row = (size_t)h * dim;
        const float *key = typed_parameter(pass, key_tensor(pass)) + at;
        float *of_key = typed_gradient(pass, gradient, key_tensor(pass)) + at;
        float *of_value = typed_gradient(pass, gradient, key_tensor(pass) + 1) + at;
        const float scale = scale_of(pass, relation, h);
        float sum = 0;
        for (uint32_t i = 0; i < dim; i++)
            for (uint32_t o = 0; o < dim; o++) {
                const float slope = own->key_matrix[(row + i) * width + row + o];
                of_key[i * dim + o] = scale * slope;
                sum += slope * key[i * dim + o];
                of_value[i * dim + o] = own->value_matrix[(row + o) * width + row + i];
            }
        scales[h] = sum / sqrtf((float)dim);
    }
}

/* --- forward --- */

static enum error_code new_type(const struct typed_pass *pass, uint32_t type, struct arena *arena,
                                struct of_type **out, struct error *err)
{
    const uint32_t width = pass->layer->output_dim, input_dim = pass->layer->type_input_dim[type];
    const float *weight = typed_parameter(pass, of_type(type, KQV_WEIGHT));
    const float *bias = typed_parameter(pass, of_type(type, KQV_BIAS));
    const uint32_t rows = pass->destination_count[type];
    struct of_type *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct of_type){.out = NULL};
    for (int i = 0; rc == ERROR_NONE && i < KQV_COUNT; i++) {
        const uint32_t count = i == QUERY ? rows : pass->source_count[type];
        if (count)
            rc = row_product_new(&(struct row_matrix){weight + (size_t)i * width * input_dim,
                                                      bias + (size_t)i * width, input_dim, width},
                                 count, &pass->input[type], NULL, arena, &made->kqv[i], err);
    }
    if (rc != ERROR_NONE || rows == 0)
        return rc;
    rc = arena_new(arena, &made->sum, (size_t)rows * width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->active, (size_t)rows * width, what, err);
    const struct input_rows active = {.base = made->active, .stride = width};
    if (rc == ERROR_NONE)
        rc = row_product_new(&(struct row_matrix){typed_parameter(pass, of_type(type, OUT_WEIGHT)),
                                                  typed_parameter(pass, of_type(type, OUT_BIAS)),
                                                  width, width},
                             rows, &active, NULL, arena, &made->out, err);
    return rc;
}

/* After the queries of the target type. */
static enum error_code new_relation(const struct typed_pass *pass, const struct hgt *hgt,
                                    uint32_t relation, struct arena *arena,
                                    struct of_relation **out, struct error *err)
{
    const struct relation_edges *edges = &pass->edges[relation];
    const uint32_t width = pass->layer->output_dim, rows = edges->block.destination_count;
    const struct of_type *target = hgt->type[pass->schema->relation[relation].target_type];
    const size_t size = (size_t)width * width;
    struct of_relation *made = NULL;
    *out = NULL;
    if (rows == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = made;
    *made = (struct of_relation){.query = NULL};
    rc = arena_new(arena, &made->key_matrix, size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->value_matrix, size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->row, (size_t)rows * width, what, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct input_rows queries = {
        .base = row_product_rows(target->kqv[QUERY]), .stride = width, .row_index = edges->row};
    const struct input_rows values = {.base = made->row, .stride = width};
    if (!arena->counts)
        fill_matrices(pass, relation, made);
    rc = row_product_new(&(struct row_matrix){made->key_matrix, NULL, width, width}, rows, &queries,
                         NULL, arena, &made->query, err);
    return rc == ERROR_NONE
               ? row_product_new(&(struct row_matrix){made->value_matrix, NULL, width, width}, rows,
                                 &values, NULL, arena, &made->value, err)
               : rc;
}

struct rows_job {
    const struct typed_pass *pass;
    const struct of_type *own;
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
    const size_t width = job->pass->layer->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->destination_count[job->type]);
    (void)thread;
    find_gelu(job->own->sum + first * width, job->own->active + first * width,
              (end - first) * width);
}

static void gelu_back_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->pass->destination_count[job->type]);
    (void)thread;
    find_gelu_slope(job->own->sum + first * width, job->rows + first * width,
                    (end - first) * width);
}

static void blend_tile(void *context, int64_t tile, int thread)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->output_dim;
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
    return pass->layer->type_input_dim[type] == pass->layer->output_dim;
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static struct rows_job rows_job_of(const struct typed_pass *pass, const struct hgt *hgt,
                                   uint32_t type)
{
    struct rows_job job = {.pass = pass, .own = hgt->type[type], .type = type, .share = 1};
    if (skips(pass, type))
        job.share = sigmoid(*typed_parameter(pass, skip_tensor(pass, type)));
    return job;
}

/* Rows of the sources of a relation. */
static const float *source_rows(const struct typed_pass *pass, const struct hgt *hgt,
                                uint32_t relation, int which)
{
    return row_product_rows(hgt->type[pass->schema->relation[relation].source_type]->kqv[which]);
}

static enum error_code attend(const struct typed_pass *pass, const struct hgt *hgt, bool keep,
                              const struct model_workspace *workspace, struct error *err)
{
    const bool counts = workspace->arena->counts;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations_of(pass); r++) {
        const struct of_relation *own = hgt->relation[r];
        const struct relation_slots *slots = hgt->attention->slots[r];
        if (!own)
            continue;
        rc = row_product_forward(own->query, keep, workspace, err);
        if (rc == ERROR_NONE && !counts)
            relation_slots_dot(slots, row_product_rows(own->query), source_rows(pass, hgt, r, KEY),
                               slots->share, workspace->pool);
    }
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh(hgt->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations_of(pass); r++) {
        const struct of_relation *own = hgt->relation[r];
        const struct relation_slots *slots = hgt->attention->slots[r];
        if (!own)
            continue;
        if (!counts)
            relation_slots_sum(slots, slots->weight, source_rows(pass, hgt, r, VALUE), own->row,
                               workspace->pool);
        rc = row_product_forward(own->value, keep, workspace, err);
    }
    return rc;
}

static enum error_code finish_type(const struct typed_pass *pass, const struct hgt *hgt,
                                   uint32_t type, bool keep,
                                   const struct model_workspace *workspace, struct error *err)
{
    struct rows_job job = rows_job_of(pass, hgt, type);
    const int64_t tiles = layer_pass_tiles(pass->destination_count[type]);
    if (tiles == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(
        workspace->arena, &job.scratch,
        (size_t)thread_pool_size(workspace->pool) * TILE_ROWS * pass->layer->output_dim, what, err);
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

static enum error_code begin(struct typed_pass *pass, struct arena *arena, struct hgt **out,
                             struct error *err)
{
    const uint32_t heads = (uint32_t)pass->layer->option.heads;
    struct hgt *hgt = NULL;
    enum error_code rc = arena_new(arena, &hgt, 1, what, err);
    *out = hgt;
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&hgt->type, types_of(pass), sizeof(void *), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&hgt->relation, relations_of(pass), sizeof(void *),
                             what, err);
    if (rc == ERROR_NONE)
        rc = relation_attention_new(pass, heads, pass->layer->output_dim / heads, true, false,
                                    arena, &hgt->attention, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types_of(pass); t++)
        rc = new_type(pass, t, arena, &hgt->type[t], err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations_of(pass); r++)
        rc = new_relation(pass, hgt, r, arena, &hgt->relation[r], err);
    return rc;
}

/* o of each type: what the relations' values add up to. */
static enum error_code join(const struct typed_pass *pass, const struct hgt *hgt,
                            const struct model_workspace *workspace, struct error *err)
{
    float **rows = NULL, *sum[RELATION_TYPE_COUNT_MAX];
    const enum error_code rc = arena_new(workspace->arena, &rows, relations_of(pass), what, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (uint32_t r = 0; r < relations_of(pass); r++)
        rows[r] = hgt->relation[r] ? row_product_rows(hgt->relation[r]->value) : NULL;
    for (uint32_t t = 0; t < types_of(pass); t++)
        sum[t] = hgt->type[t]->sum;
    relation_rows_join(pass, rows, pass->layer->output_dim, NULL, sum, workspace->pool);
    return ERROR_NONE;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct hgt *hgt = NULL;
    enum error_code rc = begin(pass, workspace->arena, &hgt, err);
    pass->state = hgt;
    for (uint32_t t = 0; rc == ERROR_NONE && t < types_of(pass); t++)
        for (int i = 0; rc == ERROR_NONE && i < KQV_COUNT; i++)
            if (hgt->type[t]->kqv[i])
                rc = row_product_forward(hgt->type[t]->kqv[i], keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = attend(pass, hgt, keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = join(pass, hgt, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types_of(pass); t++)
        rc = finish_type(pass, hgt, t, keep, workspace, err);
    return rc;
}

/* --- backward --- */

/* What comes back to the rows of a type. */
struct back {
    float *out;            /* of o [destinations, output_dim] */
    float *kqv[KQV_COUNT]; /* of sources, of destinations, of sources [.., output_dim] */
};

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

/* The gradient of out_lin's rows, and the sum behind that of skip: of y . (out_lin's row - x). */
static void skip_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct rows_job *job = context;
    const size_t width = job->pass->layer->output_dim, from = tile->first * width;
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

static enum error_code type_back(const struct typed_pass *pass, const struct hgt *hgt,
                                 uint32_t type, const float *dy, struct back *back,
                                 const struct model_workspace *workspace, float *gradient,
                                 struct error *err)
{
    const size_t width = pass->layer->output_dim, rows = pass->destination_count[type];
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    struct rows_job job = rows_job_of(pass, hgt, type);
    job.gradient = dy;
    *back = (struct back){.out = NULL};
    if (rows == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(workspace->arena, &job.out_gradient, rows * width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(workspace->arena, &job.scratch, threads * TILE_ROWS * width, what, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job.skip, (uint32_t)rows, 1, (int)threads, workspace->arena, err);
    if (rc == ERROR_NONE && !workspace->arena->counts) {
        partial_sums_run(&job.skip, workspace->pool, skip_tile, &job);
        *typed_gradient(pass, gradient, skip_tensor(pass, type)) =
            *partial_sums_total(&job.skip, 0, 1) * job.share * (1 - job.share);
    }
    if (rc == ERROR_NONE)
        rc = row_product_backward(job.own->out, job.out_gradient, true,
                                  typed_gradient(pass, gradient, of_type(type, OUT_WEIGHT)),
                                  typed_gradient(pass, gradient, of_type(type, OUT_BIAS)),
                                  workspace, err);
    if (rc != ERROR_NONE)
        return rc;
    back->out = job.rows = row_product_input_gradient(job.own->out);
    if (!workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles((uint32_t)rows), gelu_back_tile, &job);
    return ERROR_NONE;
}

/* Zeros for what relations add up. */
static enum error_code find_back(const struct typed_pass *pass, uint32_t type, struct back *back,
                                 struct arena *arena, struct error *err)
{
    const size_t width = pass->layer->output_dim;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < KQV_COUNT; i++) {
        const size_t count =
            width * (i == QUERY ? pass->destination_count : pass->source_count)[type];
        if (count)
            rc = arena_new(arena, &back->kqv[i], count, what, err);
        for (size_t c = 0; rc == ERROR_NONE && !arena->counts && c < count; c++)
            back->kqv[i][c] = 0;
    }
    return rc;
}

/* From do the gradients of the weights of a relation, of its values' matrix and of the values. */
static enum error_code values_back(const struct typed_pass *pass, const struct hgt *hgt, uint32_t r,
                                   struct back *back, float *scratch,
                                   const struct model_workspace *workspace, struct error *err)
{
    const struct of_relation *own = hgt->relation[r];
    const struct relation *relation = &pass->schema->relation[r];
    const struct relation_slots *slots = hgt->attention->slots[r];
    const size_t width = pass->layer->output_dim;
    float *rows = NULL;
    enum error_code rc = arena_new(workspace->arena, &rows,
                                   pass->edges[r].block.destination_count * width, what, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        relation_rows_part(pass, r, back[relation->target_type].out, width, 1, rows,
                           workspace->pool);
    if (rc == ERROR_NONE)
        rc = row_product_backward(own->value, rows, true, own->value_matrix, NULL, workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    const float *of_rows = row_product_input_gradient(own->value);
    relation_slots_dot(slots, of_rows, source_rows(pass, hgt, r, VALUE), slots->gradient,
                       workspace->pool);
    relation_slots_add_transposed(slots, slots->weight, of_rows,
                                  back[relation->source_type].kqv[VALUE], scratch, workspace->pool);
    return ERROR_NONE;
}

CPU_KERNEL(add_rows_at,
           (float *restrict rows, const float *restrict more, const uint32_t *row, size_t dim,
            size_t count),
           (rows, more, row, dim, count))
{
    for (size_t k = 0; k < count; k++)
        vector_add(rows + row[k] * dim, more + k * dim, dim);
}

/* From the gradients of scores those of the keys, of their matrix and of the queries. */
static enum error_code scores_back(const struct typed_pass *pass, const struct hgt *hgt, uint32_t r,
                                   struct back *back, float *scratch,
                                   const struct model_workspace *workspace, struct error *err)
{
    const struct of_relation *own = hgt->relation[r];
    const struct relation *relation = &pass->schema->relation[r];
    const struct relation_slots *slots = hgt->attention->slots[r];
    const uint32_t rows = pass->edges[r].block.destination_count;
    if (!workspace->arena->counts) {
        relation_slots_sum(slots, slots->gradient, source_rows(pass, hgt, r, KEY), own->row,
                           workspace->pool);
        relation_slots_add_transposed(slots, slots->gradient, row_product_rows(own->query),
                                      back[relation->source_type].kqv[KEY], scratch,
                                      workspace->pool);
    }
    const enum error_code rc =
        row_product_backward(own->query, own->row, true, own->key_matrix, NULL, workspace, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        add_rows_at(back[relation->target_type].kqv[QUERY], row_product_input_gradient(own->query),
                    pass->edges[r].row, pass->layer->output_dim, rows);
    return rc;
}

/* The gradient of the input: of keys, queries and values, and what skip lets by. */
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
    vector_copy(dx + first * dim, row_product_input_gradient(job->own->kqv[KEY]) + first * dim,
                (end - first) * dim);
    vector_add(dx + first * dim, row_product_input_gradient(job->own->kqv[VALUE]) + first * dim,
               (end - first) * dim);
    if (first >= own_end)
        return;
    vector_add(dx + first * dim, row_product_input_gradient(job->own->kqv[QUERY]) + first * dim,
               (own_end - first) * dim);
    if (job->share < 1)
        add_scaled_rows(dx + first * dim, job->gradient + first * dim, 1 - job->share,
                        (own_end - first) * dim);
}

static enum error_code projections_back(const struct typed_pass *pass, const struct hgt *hgt,
                                        uint32_t type, const float *dy, const struct back *back,
                                        const struct model_workspace *workspace, float *gradient,
                                        struct error *err)
{
    const size_t width = pass->layer->output_dim, dim = pass->layer->type_input_dim[type];
    struct rows_job job = rows_job_of(pass, hgt, type);
    float *weight = typed_gradient(pass, gradient, of_type(type, KQV_WEIGHT));
    float *bias = typed_gradient(pass, gradient, of_type(type, KQV_BIAS));
    enum error_code rc = ERROR_NONE;
    job.input_gradient = pass->input_gradient[type];
    job.gradient = dy;
    for (int i = 0; rc == ERROR_NONE && i < KQV_COUNT; i++)
        if (job.own->kqv[i])
            rc = row_product_backward(job.own->kqv[i], back->kqv[i], job.input_gradient != NULL,
                                      weight + (size_t)i * width * dim, bias + (size_t)i * width,
                                      workspace, err);
    if (rc == ERROR_NONE && job.input_gradient && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(pass->source_count[type]), input_tile,
                        &job);
    return rc;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    const struct hgt *hgt = pass->state;
    struct arena *arena = workspace->arena;
    struct back back[RELATION_TYPE_COUNT_MAX];
    float *scratch = NULL;
    enum error_code rc = relation_attention_find_gradients(hgt->attention, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &scratch,
                       (size_t)thread_pool_size(workspace->pool) * TILE_ROWS *
                           pass->layer->output_dim,
                       what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types_of(pass); t++) {
        rc = type_back(pass, hgt, t, output_gradient[t], &back[t], workspace, gradient, err);
        if (rc == ERROR_NONE)
            rc = find_back(pass, t, &back[t], arena, err);
    }
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations_of(pass); r++)
        if (hgt->relation[r])
            rc = values_back(pass, hgt, r, back, scratch, workspace, err);
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh_back(hgt->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations_of(pass); r++)
        if (hgt->relation[r])
            rc = scores_back(pass, hgt, r, back, scratch, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types_of(pass); t++)
        rc = projections_back(pass, hgt, t, output_gradient[t], &back[t], workspace, gradient, err);
    for (uint32_t r = 0; rc == ERROR_NONE && !arena->counts && r < relations_of(pass); r++)
        if (hgt->relation[r])
            share_out_matrices(pass, r, hgt->relation[r], gradient);
    return rc;
}

static const struct typed_kind typed = {.wants_target_rows = true,
                                        .parameters = parameters,
                                        .check = check,
                                        .forward = forward,
                                        .backward = backward};

/* As PyG's examples have it: layers of hidden_dim columns, and a matrix behind them. */
static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    if (outline->hop_count >= LAYER_COUNT_MAX)
        return -1;
    for (int i = 0; i < outline->hop_count; i++) {
        layer[i] = layer_of_outline(outline, LAYER_HGT, false);
        layer[i].activation = ACTIVATION_NONE; /* HGT has gelu inside */
    }
    layer[outline->hop_count] = layer_of_outline(outline, LAYER_MLP, true);
    return outline->hop_count + 1;
}

const struct layer_type hgt_layer = {
    .pyg_name = "HGT",
    .uses_edges = true,
    .has_heads = true,
    .build = build,
    .typed = &typed,
    .only_typed = true,
};
