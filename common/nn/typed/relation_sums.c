#include "common/nn/typed/relation_sums.h"

#include "common/math/bf16_rows.h"
#include "common/math/vector.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/operators/partial_sums.h"
#include "common/nn/typed/relation_fold.h"
#include "common/nn/typed/relation_input.h"
#include "common/nn/typed/relation_rows.h"
#include "common/numbers/cpu_kernel.h"

static const char what[] = "the rows of relations"; /* user of the memory, for messages */

static uint32_t source_dim(const struct typed_pass *pass, uint32_t relation)
{
    return typed_pass_columns(pass, pass->schema->relation[relation].source_type);
}

static uint32_t widest_input(const struct typed_pass *pass)
{
    uint32_t widest = 0;
    for (uint32_t t = 0; t < pass->schema->type_count; t++)
        if (widest < typed_pass_columns(pass, t))
            widest = typed_pass_columns(pass, t);
    return widest;
}

static enum precision precision_of(const struct typed_pass *pass)
{
    return pass->model->config.precision;
}

/* Returns row `row` of the aggregated rows of a relation. */
static void *aggregated_row(const struct typed_pass *pass, void *rows, uint32_t relation,
                            size_t row)
{
    return layer_pass_row(precision_of(pass), rows, source_dim(pass, relation), (uint32_t)row);
}

static struct rows_view rows_of(const struct typed_pass *pass, void *value, size_t rows,
                                uint32_t cols)
{
    return layer_pass_rows(precision_of(pass), value, cols, 0, (uint32_t)rows);
}

enum error_code relation_sums_new(const struct typed_pass *pass, struct arena *arena,
                                  struct relation_sums **out, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count, types = pass->schema->type_count;
    struct relation_sums *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->weight, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->root, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->bias, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->folded, (size_t)relations + types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->aggregation, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&made->aggregated, relations, sizeof(void *), what,
                             err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->linear, (size_t)relations + types, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < relations; r++) {
        made->weight[r] = NULL;
        made->aggregated[r] = NULL;
    }
    for (uint32_t t = 0; t < types; t++)
        made->root[t] = made->bias[t] = NULL;
    for (uint32_t i = 0; i < relations + types; i++)
        made->folded[i] = (struct folded_weight){0};
    *out = made;
    return ERROR_NONE;
}

enum error_code relation_sums_gradient_new(const struct typed_pass *pass, struct arena *arena,
                                           struct relation_sums_gradient *out, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count, types = pass->schema->type_count;
    enum error_code rc = arena_new(arena, &out->weight, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->root, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->bias, types, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < relations; r++)
        out->weight[r] = NULL;
    for (uint32_t t = 0; t < types; t++)
        out->root[t] = out->bias[t] = NULL;
    return ERROR_NONE;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns whether matrix `i` exists, counted over relations and then types. */
static bool has_matrix(const struct relation_sums *sums, const struct typed_pass *pass, uint32_t i)
{
    const uint32_t relations = pass->schema->relation_count;
    return i < relations ? sums->weight[i] != NULL : sums->root[i - relations] != NULL;
}

/* Prepares the matrices that multiply rows of relations, and own rows of types. */
static enum error_code find_linear(struct relation_sums *sums, const struct typed_pass *pass,
                                   struct arena *arena, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count, dim = pass->layer->config.output_dim;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < relations + pass->schema->type_count; i++) {
        const uint32_t type = i - relations;
        const float *value = sums->folded[i].weight ? sums->folded[i].matrix
                             : i < relations        ? sums->weight[i]
                                                    : sums->root[type];
        const size_t cols = i < relations ? source_dim(pass, i) : typed_pass_columns(pass, type);
        if (value)
            rc = linear_weight_init(&sums->linear[i], matrix_view_of(value, dim, cols),
                                    precision_of(pass), arena, err);
    }
    return rc;
}

static const struct linear_weight *root_weight(const struct relation_sums *sums,
                                               const struct typed_pass *pass, uint32_t type)
{
    return &sums->linear[pass->schema->relation_count + type];
}

/* --- forward --- */

static bool is_ahead(const struct typed_pass *pass, uint32_t relation)
{
    return pass->ahead && pass->ahead->aggregated[relation];
}

struct forward_job {
    const struct relation_sums *sums;
    const struct typed_pass *pass;
    uint32_t type;
    /* [threads, 3, rows_size]: input or aggregated rows of a tile, their products, and rows that
     * are rounded afterwards; behind them a row of sums. */
    float *scratch;
    size_t rows_size, scratch_size;
};

CPU_KERNEL(add_bias_to_rows,
           (float *restrict rows, const float *restrict bias, size_t dim, size_t count),
           (rows, bias, dim, count))
{
    for (size_t i = 0; i < count; i++)
        vector_add(rows + i * dim, bias, dim);
}

/* Adds row k of `more` to row row[k] - first. */
CPU_KERNEL(add_rows_where_they_belong,
           (float *restrict rows, const float *restrict more, const uint32_t *row, uint32_t first,
            size_t dim, size_t count),
           (rows, more, row, first, dim, count))
{
    for (size_t k = 0; k < count; k++)
        vector_add(rows + (row[k] - first) * dim, more + k * dim, dim);
}

static void project_own(const struct forward_job *job, uint32_t first, uint32_t end, float *scratch,
                        float *y)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t input_dim = typed_pass_columns(pass, job->type);
    const size_t dim = pass->layer->config.output_dim;
    const struct folded_weight *folded =
        &job->sums->folded[pass->schema->relation_count + job->type];
    if (job->sums->root[job->type]) {
        linear_forward(root_weight(job->sums, pass, job->type),
                       gather_rows(&pass->input[job->type], input_dim, first, end, scratch), y);
    } else {
        for (size_t i = 0; i < (end - first) * dim; i++)
            y[i] = 0;
    }
    if (folded->weight)
        add_bias_to_rows(y, folded->constant, dim, end - first);
    if (job->sums->bias[job->type])
        add_bias_to_rows(y, job->sums->bias[job->type], dim, end - first);
}

/* Adds rows from .. to - 1 of the relation; the destinations of the tile begin at `first`. */
static void add_relation(const struct forward_job *job, uint32_t relation, uint32_t first,
                         uint32_t from, uint32_t to, float *scratch, float *y)
{
    const struct typed_pass *pass = job->pass;
    const struct relation_edges *edges = &pass->edges[relation];
    const uint32_t input_dim = source_dim(pass, relation);
    const size_t dim = pass->layer->config.output_dim;
    void *aggregated = job->sums->aggregated[relation];
    void *rows = aggregated ? aggregated_row(pass, aggregated, relation, from) : scratch;
    float *product = scratch + job->rows_size;
    uint32_t there = is_ahead(pass, relation) ? pass->ahead->count[relation] : 0;
    there = there < from ? from : there;
    if (there < to)
        aggregation_forward(&job->sums->aggregation[relation], &edges->block,
                            &pass->input[pass->schema->relation[relation].source_type], input_dim,
                            there, to, scratch + 3 * job->rows_size,
                            aggregated_row(pass, rows, relation, there - from));
    linear_forward(&job->sums->linear[relation], rows_of(pass, rows, to - from, input_dim),
                   product);
    if (job->sums->folded[relation].weight)
        add_bias_to_rows(product, job->sums->folded[relation].constant, dim, to - from);
    add_rows_where_they_belong(y, product, edges->row + from, first, dim, to - from);
}

static void forward_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct typed_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->destination_count[job->type]);
    const struct layer_pass *row = &pass->row[job->type].pass;
    const size_t dim = row->output_dim;
    const bool rounds = row->output_precision == PRECISION_BF16;
    float *scratch = job->scratch + (size_t)thread * job->scratch_size;
    float *y =
        rounds ? scratch + 2 * job->rows_size : pass->output[job->type] + (size_t)first * dim;
    project_own(job, first, end, scratch, y);
    for (uint32_t r = 0; r < pass->schema->relation_count; r++) {
        if (pass->schema->relation[r].target_type != job->type ||
            pass->edges[r].block.destination_count == 0)
            continue;
        const uint32_t from = relation_rows_from(&pass->edges[r], first);
        const uint32_t to = relation_rows_from(&pass->edges[r], end);
        if (from < to)
            add_relation(job, r, first, from, to, scratch, y);
    }
    if (row->activation.relu)
        layer_pass_finish(row, y, first, end);
    if (rounds)
        bf16_rows_round((bf16 *)row->output + first * bf16_stride(dim), y, dim, end - first);
}

static enum error_code weigh_relations(struct relation_sums *sums, const struct typed_pass *pass,
                                       bool keep, struct arena *arena, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++) {
        const struct message_block *block = &pass->edges[r].block;
        if (block->destination_count == 0)
            continue;
        if (is_ahead(pass, r)) {
            sums->aggregation[r] = pass->ahead->aggregation[r];
            sums->aggregated[r] = pass->ahead->aggregated[r];
            continue;
        }
        struct model_layer layer = *pass->layer;
        layer.input_dim = source_dim(pass, r);
        rc = neighbor_weights(&layer, block, arena, &sums->aggregation[r], err);
        if (pass->sum)
            sums->aggregation[r].sum = pass->sum[r];
        if (rc == ERROR_NONE && keep)
            rc = arena_new_bytes(arena, &sums->aggregated[r],
                                 block->destination_count *
                                     precision_stride(precision_of(pass), layer.input_dim),
                                 precision_bytes(precision_of(pass)), what, err);
    }
    return rc;
}

enum error_code relation_sums_forward(struct relation_sums *sums, const struct typed_pass *pass,
                                      bool keep, const struct model_workspace *workspace,
                                      struct error *err)
{
    struct arena *arena = workspace->arena;
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    const size_t dim = pass->layer->config.output_dim, input_dim = widest_input(pass);
    struct forward_job job = {
        .sums = sums,
        .pass = pass,
        .rows_size = layer_pass_scratch(TILE_ROWS * (dim > input_dim ? dim : input_dim))};
    job.scratch_size = 3 * job.rows_size + layer_pass_scratch(input_dim);
    enum error_code rc = weigh_relations(sums, pass, keep, arena, err);
    if (rc == ERROR_NONE)
        rc = relation_fold_room(sums, pass, arena, sums->folded, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job.scratch, threads * job.scratch_size, what, err);
    if (rc == ERROR_NONE && !arena->counts)
        relation_fold_make(pass, sums->folded, workspace->pool);
    if (rc == ERROR_NONE)
        rc = find_linear(sums, pass, arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (job.type = 0; job.type < pass->schema->type_count; job.type++)
        thread_pool_run(workspace->pool, layer_pass_tiles(pass->destination_count[job.type]),
                        forward_tile, &job);
    return ERROR_NONE;
}

/* --- backward --- */

struct backward_job {
    const struct relation_sums *sums;
    const struct typed_pass *pass;
    float *const *output_gradient;       /* [types] */
    float **aggregated_gradient;         /* [relations]: da_r; NULL if it is not needed */
    struct folded_weight *folded;        /* [matrices]: their gradients */
    struct transposed_edges *transposed; /* [relations], for da_r */
    uint32_t number;                     /* index of the relation or type that is processed */
    struct partial_sums partial;
    /* [threads, rows_size + columns_size]: rows of a tile, and the sums of their columns */
    float *scratch;
    size_t rows_size, columns_size;
    bf16 *room; /* [threads, room_size]: operands of products in bf16 */
    size_t room_size;
};

static float *scratch_of(const struct backward_job *job, int thread)
{
    return job->scratch + (size_t)thread * (job->rows_size + job->columns_size);
}

/* Returns dy [count, output_dim] of a tile as an operand of the products with a matrix. */
static struct linear_gradient operand_of(const struct backward_job *job,
                                         const struct linear_weight *weight, const float *dy,
                                         size_t count, bool wants_input, int thread)
{
    bf16 *room = job->room ? job->room + (size_t)thread * job->room_size : NULL;
    struct linear_gradient out = linear_gradient_in(weight, count, wants_input, room);
    const size_t dim = job->pass->layer->config.output_dim;
    for (size_t row = 0; row < count; row += out.rows_at_once)
        linear_gradient_add(&out, dy + row * dim,
                            count - row < out.rows_at_once ? count - row : out.rows_at_once);
    return out;
}

CPU_KERNEL(gather_rows_of_destinations,
           (const float *rows, const uint32_t *row, size_t dim, size_t count, float *restrict out),
           (rows, row, dim, count, out))
{
    for (size_t k = 0; k < count; k++)
        vector_copy(out + k * dim, rows + row[k] * dim, dim);
}

CPU_KERNEL(sum_columns,
           (const float *rows, size_t count, size_t dim, bool fresh, float *restrict tile_sum,
            float *restrict sum),
           (rows, count, dim, fresh, tile_sum, sum))
{
    vector_zero(tile_sum, dim);
    for (size_t i = 0; i < count; i++)
        vector_add(tile_sum, rows + i * dim, dim);
    if (fresh)
        vector_copy(sum, tile_sum, dim);
    else
        vector_add(sum, tile_sum, dim);
}

/* The columns of a folded relation: behind the sum of its matrix. */
static bool lie_together(const uint32_t *row, size_t count)
{
    return row[count - 1] - row[0] == count - 1; /* row numbers ascend */
}

/* Returns dy of the rows of a tile: in place if their destinations lie together, otherwise copied
 * to `scratch`. */
static const float *destination_rows(const struct backward_job *job, uint32_t relation,
                                     const struct partial_sums_tile *tile, float *scratch)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t *row = pass->edges[relation].row + tile->first;
    const float *rows = job->output_gradient[pass->schema->relation[relation].target_type];
    const size_t dim = pass->layer->config.output_dim, count = tile->end - tile->first;
    if (lie_together(row, count))
        return rows + row[0] * dim;
    gather_rows_of_destinations(rows, row, dim, count, scratch);
    return scratch;
}

static void relation_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    const struct typed_pass *pass = job->pass;
    const uint32_t r = job->number, input_dim = source_dim(pass, r);
    const size_t dim = pass->layer->config.output_dim, count = tile->end - tile->first;
    const struct linear_weight *weight = &job->sums->linear[r];
    float *da = job->aggregated_gradient[r], *scratch = scratch_of(job, tile->thread);
    const float *dy = destination_rows(job, r, tile, scratch);
    const struct linear_gradient gradient =
        operand_of(job, weight, dy, count, da != NULL, tile->thread);
    void *rows = aggregated_row(pass, job->sums->aggregated[r], r, tile->first);
    linear_backward_weight(&gradient, rows_of(pass, rows, count, input_dim), !tile->fresh,
                           tile->sum);
    if (da)
        linear_backward_input(weight, &gradient, da + (size_t)tile->first * input_dim);
    if (job->folded[r].weight)
        sum_columns(dy, count, dim, tile->fresh, scratch + job->rows_size,
                    tile->sum + dim * input_dim);
}

/* Computes the sums of own rows; the bias lies behind the sum of the weights. */
static void own_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    const struct typed_pass *pass = job->pass;
    const uint32_t t = job->number, input_dim = typed_pass_columns(pass, t);
    const size_t dim = pass->layer->config.output_dim, count = tile->end - tile->first;
    const float *dy = job->output_gradient[t] + (size_t)tile->first * dim;
    float *dx = pass->input_gradient[t];
    size_t at = 0;
    if (job->sums->root[t]) {
        const struct linear_weight *weight = root_weight(job->sums, pass, t);
        const struct linear_gradient gradient =
            operand_of(job, weight, dy, count, dx != NULL, tile->thread);
        linear_backward_weight(&gradient,
                               gather_rows(&pass->input[t], input_dim, tile->first, tile->end,
                                           scratch_of(job, tile->thread)),
                               !tile->fresh, tile->sum);
        if (dx)
            linear_backward_input(weight, &gradient, dx + (size_t)tile->first * input_dim);
        at = dim * input_dim;
    }
    sum_columns(dy, count, dim, tile->fresh, scratch_of(job, tile->thread), tile->sum + at);
}

CPU_KERNEL(add_to_rows, (float *restrict rows, const float *restrict more, size_t count),
           (rows, more, count))
{
    vector_add(rows, more, count);
}

/* Computes the gradient of sources of type job->number: what own_tile() left for destinations, plus
 * the gradients from the relations that begin there. */
static void source_tile(void *context, int64_t tile, int thread)
{
    const struct backward_job *job = context;
    const struct typed_pass *pass = job->pass;
    const uint32_t t = job->number, dim = typed_pass_columns(pass, t);
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->source_count[t]);
    const uint32_t own = job->sums->root[t] ? pass->destination_count[t] : 0;
    float *dx = pass->input_gradient[t], *more = scratch_of(job, thread);
    bool is_there = first < own;
    for (size_t i = (size_t)own * dim; is_there && i < (size_t)end * dim; i++)
        dx[i] = 0;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++) {
        if (!job->aggregated_gradient[r] || pass->schema->relation[r].source_type != t)
            continue;
        float *out = is_there ? more : dx + (size_t)first * dim;
        aggregation_backward(&job->sums->aggregation[r], &job->transposed[r],
                             job->aggregated_gradient[r], dim, first, end, out);
        if (is_there)
            add_to_rows(dx + (size_t)first * dim, more, (size_t)(end - first) * dim);
        is_there = true;
    }
    for (size_t i = (size_t)first * dim; !is_there && i < (size_t)end * dim; i++)
        dx[i] = 0;
}

static enum error_code find_relation_room(struct backward_job *job, uint32_t r, struct arena *arena,
                                          struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const struct message_block *block = &pass->edges[r].block;
    job->aggregated_gradient[r] = NULL;
    if (block->destination_count == 0 ||
        !pass->input_gradient[pass->schema->relation[r].source_type])
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(arena, &job->aggregated_gradient[r],
                  (size_t)block->destination_count * source_dim(pass, r), what, err);
    if (rc != ERROR_NONE)
        return rc;
    return transposed_edges_new(block, aggregation_numbers_edges(&job->sums->aggregation[r]), arena,
                                &job->transposed[r], err);
}

static void transpose_relation(void *context, int64_t relation, int thread)
{
    const struct backward_job *job = context;
    (void)thread;
    if (job->aggregated_gradient[relation])
        transposed_edges_fill(&job->pass->edges[relation].block, false, &job->transposed[relation]);
}

static enum error_code find_room(struct backward_job *job, struct arena *arena, int threads,
                                 struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const size_t dim = pass->layer->config.output_dim, input_dim = widest_input(pass);
    job->rows_size = layer_pass_scratch(TILE_ROWS * (dim > input_dim ? dim : input_dim));
    job->columns_size = layer_pass_scratch(dim);
    enum error_code rc = arena_new(
        arena, &job->scratch, (size_t)threads * (job->rows_size + job->columns_size), what, err);
    for (uint32_t i = 0; i < pass->schema->relation_count + pass->schema->type_count; i++)
        if (precision_of(pass) == PRECISION_BF16 && has_matrix(job->sums, pass, i))
            job->room_size =
                max_size(job->room_size, linear_room(&job->sums->linear[i], TILE_ROWS));
    job->room_size = (job->room_size + 31) / 32 * 32;
    if (rc == ERROR_NONE && job->room_size)
        rc = arena_new(arena, &job->room, (size_t)threads * job->room_size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->folded, relation_fold_count(pass), what, err);
    if (rc == ERROR_NONE)
        rc = relation_fold_room(job->sums, pass, arena, job->folded, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->aggregated_gradient, pass->schema->relation_count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->transposed, pass->schema->relation_count, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        rc = find_relation_room(job, r, arena, err);
    return rc;
}

/* Completes the sum of a matrix and of the columns behind it: `columns`, or NULL. Keeps both for a
 * folded matrix, which needs them later. */
static void matrix_total(struct backward_job *job, uint32_t matrix, size_t size, float *out,
                         float *columns, struct thread_pool *pool)
{
    const struct folded_weight *folded = &job->folded[matrix];
    const size_t dim = job->pass->layer->config.output_dim;
    float *constant = folded->weight ? folded->constant : columns;
    if (size)
        partial_sums_total_into(&job->partial, pool, 0, size,
                                folded->weight ? folded->matrix : out);
    if (constant)
        partial_sums_total_into(&job->partial, pool, size, dim, constant);
    if (constant && columns && columns != constant)
        vector_copy(columns, constant, dim);
}

static enum error_code relation_back(struct backward_job *job, uint32_t r, float *out,
                                     const struct model_workspace *workspace, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t rows = pass->edges[r].block.destination_count;
    const size_t dim = pass->layer->config.output_dim, size = dim * source_dim(pass, r);
    if (rows == 0)
        return ERROR_NONE;
    const enum error_code rc =
        partial_sums_init(&job->partial, rows, size + (job->folded[r].weight ? dim : 0),
                          thread_pool_size(workspace->pool), workspace->arena, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    job->number = r;
    partial_sums_run(&job->partial, workspace->pool, relation_tile, job);
    matrix_total(job, r, size, out, NULL, workspace->pool);
    return ERROR_NONE;
}

static enum error_code own_back(struct backward_job *job, uint32_t t,
                                const struct relation_sums_gradient *out,
                                const struct model_workspace *workspace, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t rows = pass->destination_count[t];
    const size_t dim = pass->layer->config.output_dim;
    const size_t size = job->sums->root[t] ? dim * typed_pass_columns(pass, t) : 0;
    if (rows == 0 || !(job->sums->root[t] || job->sums->bias[t]))
        return ERROR_NONE;
    const enum error_code rc = partial_sums_init(
        &job->partial, rows, size + dim, thread_pool_size(workspace->pool), workspace->arena, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    job->number = t;
    partial_sums_run(&job->partial, workspace->pool, own_tile, job);
    matrix_total(job, pass->schema->relation_count + t, size, out->root[t],
                 job->sums->bias[t] ? out->bias[t] : NULL, workspace->pool);
    return ERROR_NONE;
}

/* Computes the gradient of each type's sources from those of its relations. */
static void find_input_gradients(struct backward_job *job, struct thread_pool *pool)
{
    const struct typed_pass *pass = job->pass;
    for (job->number = 0; job->number < pass->schema->type_count; job->number++)
        if (pass->input_gradient[job->number])
            thread_pool_run(pool, layer_pass_tiles(pass->source_count[job->number]), source_tile,
                            job);
}

enum error_code relation_sums_backward(const struct relation_sums *sums,
                                       const struct typed_pass *pass, float *const *output_gradient,
                                       const struct relation_sums_gradient *gradient,
                                       const struct model_workspace *workspace, struct error *err)
{
    struct backward_job job = {.sums = sums, .pass = pass, .output_gradient = output_gradient};
    enum error_code rc = find_room(&job, workspace->arena, thread_pool_size(workspace->pool), err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, pass->schema->relation_count, transpose_relation, &job);
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = own_back(&job, t, gradient, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        rc = relation_back(&job, r, gradient->weight[r], workspace, err);
    if (rc == ERROR_NONE)
        rc = relation_fold_back(pass, job.folded, gradient, workspace, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        find_input_gradients(&job, workspace->pool);
    return rc;
}
