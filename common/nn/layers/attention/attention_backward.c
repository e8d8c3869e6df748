#include "common/math/vector.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/partial_sums.h"
#include "common/nn/operators/slot_aggregation.h"

static const char what[] = "attention"; /* user of the memory, for messages */

/* The sums over tiles of destinations, one array behind the other. */
struct destination_sums {
    float *output_bias; /* [output_dim] */
    float *vectors;     /* [attention_vector_floats()] */
};

/* The sums over tiles of sources. */
struct source_sums {
    float *vectors;            /* [ATTENTION_VECTOR_COUNT_MAX, width] */
    float *source_bias;        /* [width] */
    float *destination_bias;   /* [width] */
    float *source_weight;      /* [width, input_dim] */
    float *destination_weight; /* [width, own_dim], if there is one */
};

struct backward_job {
    struct attention *a;
    struct layer_pass *pass;
    const struct layer_pass *above;
    const float *logits_gradient;
    bool is_first;
    struct partial_sums destinations, sources;
    struct partial_sums own; /* for a bipartite block: the projection of destinations alone */
    float *scratch;          /* [threads, scratch_size] */
    size_t scratch_size;
};

static size_t destination_sums_size(const struct attention *a)
{
    return a->pass->output_dim + attention_vector_floats(a);
}

static struct destination_sums destination_sums_of(const struct attention *a, float *sum)
{
    return (struct destination_sums){sum, sum + a->pass->output_dim};
}

static size_t matrix_size(const struct attention *a)
{
    return a->width * a->pass->input_dim;
}

static size_t own_matrix_size(const struct attention *a)
{
    return a->kind->parameters.destination_weight >= 0 ? a->width * a->pass->layer->own_dim : 0;
}

/* Returns whether destinations are no sources. Then their projection, with bias [width] and matrix,
 * runs over tiles of its own. */
static bool has_own_tiles(const struct attention *a)
{
    return a->shape.block.is_bipartite && own_matrix_size(a) > 0;
}

static size_t source_sums_size(const struct attention *a)
{
    const size_t own = has_own_tiles(a) ? 0 : own_matrix_size(a);
    return (ATTENTION_VECTOR_COUNT_MAX + (size_t)2) * a->width + matrix_size(a) + own;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the result is written */
static struct source_sums source_sums_of(const struct attention *a, float *sum)
{
    struct source_sums sums = {.vectors = sum};
    sums.source_bias = sums.vectors + ATTENTION_VECTOR_COUNT_MAX * a->width;
    sums.destination_bias = sums.source_bias + a->width;
    sums.source_weight = sums.destination_bias + a->width;
    sums.destination_weight = sums.source_weight + matrix_size(a);
    return sums;
}

static float *backward_scratch(const struct backward_job *job, int thread)
{
    return job->scratch + (size_t)thread * job->scratch_size;
}

CPU_KERNEL(add_column_sums,
           (const float *rows, size_t count, size_t dim, float *restrict tile_sum,
            float *restrict sum),
           (rows, count, dim, tile_sum, sum))
{
    vector_zero(tile_sum, dim);
    for (size_t row = 0; row < count; row++)
        vector_add(tile_sum, rows + row * dim, dim);
    vector_add(sum, tile_sum, dim);
}

void attention_add_columns(const float *rows, size_t count, size_t dim, float *tile_sum, float *sum)
{
    add_column_sums(rows, count, dim, tile_sum, sum);
}

CPU_KERNEL(share_out_to_heads,
           (const struct edge_shape *shape, bool joins, const float *gradient, size_t count,
            float *out),
           (shape, joins, gradient, count, out))
{
    const size_t channels = shape->channels, width = shape->heads * channels;
    const float share = joins ? 1 : 1 / (float)shape->heads;
    for (size_t row = 0; row < count; row++, out += width)
        for (size_t h = 0; h < shape->heads; h++) {
            const float *from = gradient + (joins ? row * width + h * channels : row * channels);
            vector_copy(out + h * channels, from, channels);
            vector_scale(out + h * channels, share, channels);
        }
}

void attention_share_out(const struct edge_shape *shape, bool joins, const float *gradient,
                         size_t count, float *out)
{
    share_out_to_heads(shape, joins, gradient, count, out);
}

static void destination_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    struct attention *a = job->a;
    const uint32_t first = tile->first, end = tile->end;
    const size_t dim = job->pass->output_dim;
    const struct destination_sums sums = destination_sums_of(a, tile->sum);
    float *scratch = backward_scratch(job, tile->thread);
    const float *gradient = layer_pass_product_gradient(job->pass, job->above, job->logits_gradient,
                                                        first, end, scratch + dim);
    if (tile->fresh)
        vector_zero(tile->sum, destination_sums_size(a));
    add_column_sums(gradient, end - first, dim, scratch, sums.output_bias);
    share_out_to_heads(&a->shape, a->joins, gradient, end - first,
                       a->output_gradient + first * a->width);
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < ATTENTION_ROWS_AT_ONCE ? end : row + ATTENTION_ROWS_AT_ONCE;
        edge_score_dot(&a->shape, a->output_gradient, a->source, row, next, a->slot_gradient);
        attention_weigh_slots_back(a, row, next);
        a->kind->score_backward(a, row, next, sums.vectors);
    }
}

/* The backward pass of one of the projections. */
struct projection {
    const struct input_rows *rows; /* its input, of `dim` columns */
    uint32_t dim;
    const float *matrix;   /* [width, dim] */
    const float *gradient; /* gradient of its rows [.., width] */
    float *weight_sum, *bias_sum;
};

/* Adds the gradients of its weights from rows first .. end - 1, and writes the gradient of its
 * input unless that is NULL. */
static void project_back(const struct backward_job *job, const struct projection *projection,
                         uint32_t first, uint32_t end, float *input_gradient, float *scratch)
{
    const size_t width = job->a->width;
    const float *rows = projection->gradient + first * width;
    const struct linear_weight weight = {
        .rows = rows_view_of(matrix_view_of(projection->matrix, width, projection->dim))};
    struct linear_gradient gradient =
        linear_gradient_in(&weight, end - first, input_gradient != NULL, NULL);
    linear_gradient_add(&gradient, rows, end - first);
    add_column_sums(rows, end - first, width, scratch, projection->bias_sum);
    linear_backward_weight(&gradient,
                           gather_rows(projection->rows, projection->dim, first, end, scratch),
                           true, projection->weight_sum);
    if (input_gradient)
        linear_backward_input(&weight, &gradient, input_gradient);
}

CPU_KERNEL(add_own_gradient, (float *restrict sum, const float *restrict x, size_t count),
           (sum, x, count))
{
    vector_add(sum, x, count);
}

static struct projection projection_of_own(const struct backward_job *job, float *weight_sum,
                                           float *bias_sum)
{
    const struct attention *a = job->a;
    return (struct projection){layer_pass_own_rows(job->pass),
                               job->pass->layer->own_dim,
                               attention_parameter(a, a->kind->parameters.destination_weight),
                               a->destination_gradient,
                               weight_sum,
                               bias_sum};
}

static void own_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    struct layer_pass *pass = job->pass;
    const struct projection of_own = projection_of_own(job, tile->sum + job->a->width, tile->sum);
    float *input =
        job->is_first ? NULL : pass->own_gradient + (size_t)tile->first * pass->layer->own_dim;
    if (tile->fresh)
        vector_zero(tile->sum, job->a->width + own_matrix_size(job->a));
    project_back(job, &of_own, tile->first, tile->end, input, backward_scratch(job, tile->thread));
}

static void source_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct backward_job *job = context;
    struct attention *a = job->a;
    struct layer_pass *pass = job->pass;
    const struct attention_parameters *at = &a->kind->parameters;
    const uint32_t first = tile->first, end = tile->end, dim = pass->input_dim;
    const uint32_t own_end = attention_own_end(a, end);
    const struct source_sums sums = source_sums_of(a, tile->sum);
    float *scratch = backward_scratch(job, tile->thread);
    float *input = job->is_first ? NULL : pass->input_gradient + (size_t)first * dim;
    float *own = job->is_first ? NULL : scratch + (size_t)TILE_ROWS * dim;
    if (tile->fresh)
        vector_zero(tile->sum, source_sums_size(a));
    slot_aggregation_backward(&a->shape, &a->edges, a->weight, a->output_gradient, first, end,
                              a->source_gradient + first * a->width);
    a->kind->score_transposed(a, first, end, sums.vectors);
    const struct projection of_sources = {&pass->input,
                                          dim,
                                          attention_parameter(a, at->source_weight),
                                          a->source_gradient,
                                          sums.source_weight,
                                          sums.source_bias};
    project_back(job, &of_sources, first, end, input, scratch);
    if (at->destination_weight < 0 || first >= own_end)
        return;
    const struct projection of_own =
        projection_of_own(job, sums.destination_weight, sums.destination_bias);
    project_back(job, &of_own, first, own_end, own, scratch);
    if (input)
        add_own_gradient(input, own, (size_t)(own_end - first) * dim);
}

/* Adds up the gradients of the vectors from the scores of both ends. */
static void reduce_vectors(const struct backward_job *job, const struct layer_gradient *out)
{
    const struct attention *a = job->a;
    const size_t width = a->width;
    for (int v = 0; v < a->kind->vector_count; v++) {
        float *gradient = out->parameter[a->kind->parameters.vector[v]];
        const size_t at = (size_t)v * width;
        vector_copy(gradient,
                    partial_sums_total(&job->destinations, job->pass->output_dim + at, width),
                    width);
        add_own_gradient(gradient, partial_sums_total(&job->sources, at, width), width);
    }
}

static void reduce_terms(const struct backward_job *job, const struct layer_gradient *out)
{
    const struct attention *a = job->a;
    const size_t before = ATTENTION_VECTOR_COUNT_MAX * a->width;
    const size_t count = attention_vector_floats(a) - before;
    if (count)
        a->kind->finish_terms(
            a, partial_sums_total(&job->destinations, job->pass->output_dim + before, count), out);
}

static void reduce_all(const struct backward_job *job, const struct layer_gradient *out,
                       struct thread_pool *pool)
{
    const struct attention *a = job->a;
    const struct attention_parameters *at = &a->kind->parameters;
    const size_t bias = ATTENTION_VECTOR_COUNT_MAX * a->width, weight = bias + 2 * a->width;
    const bool apart = has_own_tiles(a);
    const struct partial_sums *own = apart ? &job->own : &job->sources;
    const struct {
        const struct partial_sums *sums;
        int parameter;
        size_t first, count;
    } projections[] = {{&job->sources, at->source_bias, bias, a->width},
                       {own, at->destination_bias, apart ? 0 : bias + a->width, a->width},
                       {&job->sources, at->source_weight, weight, matrix_size(a)},
                       {own, at->destination_weight, apart ? a->width : weight + matrix_size(a),
                        own_matrix_size(a)}};
    partial_sums_total_into(&job->destinations, pool, 0, job->pass->output_dim,
                            out->parameter[at->output_bias]);
    reduce_vectors(job, out);
    reduce_terms(job, out);
    for (size_t i = 0; i < sizeof projections / sizeof *projections; i++)
        if (projections[i].parameter >= 0)
            partial_sums_total_into(projections[i].sums, pool, projections[i].first,
                                    projections[i].count, out->parameter[projections[i].parameter]);
}

enum error_code attention_find_slot_gradients(struct attention *attention, struct arena *arena,
                                              struct error *err)
{
    struct attention *a = attention;
    const struct message_block *block = &a->shape.block;
    const size_t heads = a->shape.heads;
    enum error_code rc =
        transposed_edges_number(block, !block->is_bipartite, arena, &a->edges, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->slot_gradient, edge_slot_count(block) * heads, what, err);
    if (rc == ERROR_NONE && a->kind->prepare)
        rc = arena_new(arena, &a->term_gradient, (size_t)block->source_count * heads, what, err);
    return rc;
}

enum error_code attention_find_row_gradients(struct layer_pass *pass, struct arena *arena,
                                             struct error *err)
{
    const struct message_block *block = &pass->block;
    const size_t sources = block->source_count, destinations = block->destination_count;
    const enum error_code rc =
        arena_new(arena, &pass->input_gradient, sources * pass->input_dim, what, err);
    return rc == ERROR_NONE && block->is_bipartite
               ? arena_new(arena, &pass->own_gradient, destinations * pass->layer->own_dim, what,
                           err)
               : rc;
}

static enum error_code find_gradients(struct backward_job *job, struct arena *arena, int threads,
                                      struct error *err)
{
    struct attention *a = job->a;
    struct layer_pass *pass = job->pass;
    const struct message_block *block = &a->shape.block;
    const size_t sources = block->source_count, destinations = block->destination_count;
    const size_t widest = a->width > pass->output_dim ? a->width : pass->output_dim;
    size_t dim = pass->input_dim;
    if (has_own_tiles(a) && dim < pass->layer->own_dim)
        dim = pass->layer->own_dim;
    job->scratch_size = layer_pass_scratch(TILE_ROWS * (2 * dim + widest) + widest);
    enum error_code rc = attention_find_slot_gradients(a, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->output_gradient, destinations * a->width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->source_gradient, sources * a->width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->destination_gradient, destinations * a->width, what, err);
    if (rc == ERROR_NONE && !job->is_first)
        rc = attention_find_row_gradients(pass, arena, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job->destinations, block->destination_count,
                               destination_sums_size(a), threads, arena, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&job->sources, block->source_count, source_sums_size(a), threads,
                               arena, err);
    if (rc == ERROR_NONE && has_own_tiles(a))
        rc = partial_sums_init(&job->own, block->destination_count, a->width + own_matrix_size(a),
                               threads, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, what, err);
    return rc;
}

enum error_code attention_backward(struct layer_pass *pass, const struct layer_pass *above,
                                   const float *logits_gradient, bool is_first,
                                   const struct layer_gradient *out, struct arena *arena,
                                   struct thread_pool *pool, struct error *err)
{
    struct backward_job job = {.a = pass->state,
                               .pass = pass,
                               .above = above,
                               .logits_gradient = logits_gradient,
                               .is_first = is_first};
    const enum error_code rc = find_gradients(&job, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    partial_sums_run(&job.destinations, pool, destination_tile, &job);
    partial_sums_run(&job.sources, pool, source_tile, &job);
    if (has_own_tiles(job.a))
        partial_sums_run(&job.own, pool, own_tile, &job);
    reduce_all(&job, out, pool);
    return ERROR_NONE;
}
