#include "common/nn/layers/attention/gat_rows.h"

#include "common/math/blas.h"
#include "common/math/vector.h"
#include "common/nn/layers/attention/gat_terms.h"
#include "common/nn/layers/attention/gat_windows.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/edge_term.h"
#include "common/nn/operators/partial_sums.h"
#include "common/nn/operators/slot_aggregation.h"

static const char what[] = "attention"; /* user of the memory, for messages */

enum { ENDS = 2 };

/* One layer on one block. */
struct gat_rows {
    struct attention *attention;
    struct layer_pass *pass;
    size_t dim, heads, channels, width; /* width: heads * channels */
    size_t wide;                        /* heads * dim: columns of z */
    float *vector;                      /* v [ENDS, heads, dim] */
    uint32_t *sum_row; /* for a bipartite block: the row of pass->sum of each destination */
    float *z;          /* [destinations, wide]; NULL if not kept for backward */
    float *scratch;    /* [threads, scratch_size] */
    size_t scratch_size;
    /* Backward. */
    const struct layer_pass *above;
    const float *logits_gradient;
    /* [destinations, wide]; NULL for the first layer, where each tile has its own */
    float *z_gradient;
    struct partial_sums destinations, sources;
};

bool gat_rows_pay_for(const struct model_layer *layer, uint64_t destinations, uint64_t sources)
{
    return destinations * layer->input_dim <= sources * attention_channels(layer);
}

bool gat_rows_pay(const struct layer_pass *pass)
{
    return gat_rows_pay_for(pass->layer, pass->block.destination_count, pass->block.source_count);
}

static const float *parameter_of(const struct gat_rows *g, int index)
{
    return g->pass->parameter[index];
}

static float *scratch_of(const struct gat_rows *g, int thread)
{
    return g->scratch + (size_t)thread * g->scratch_size;
}

/* Returns a head's rows of W, and its columns of rows by heads. */
static struct matrix_view weight_of(const struct gat_rows *g, size_t head)
{
    return matrix_view_of(parameter_of(g, g->attention->kind->parameters.source_weight) +
                              head * g->channels * g->dim,
                          g->channels, g->dim);
}

static struct matrix_view z_of(const struct gat_rows *g, const float *z, size_t head, size_t rows)
{
    return (struct matrix_view){z + head * g->dim, rows, g->dim, g->wide};
}

static struct matrix_view y_of(const struct gat_rows *g, const float *y, size_t head, size_t rows)
{
    return (struct matrix_view){y + head * g->channels, rows, g->channels, g->width};
}

/* --- forward --- */

static void term_tile(void *context, int64_t tile, int thread)
{
    const struct gat_rows *g = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, g->pass->block.source_count);
    (void)thread;
    gat_terms_of_rows(&g->pass->input, g->vector, g->heads, g->dim, first, end,
                      g->attention->source_term);
    gat_terms_of_rows(&g->pass->input, g->vector + g->wide, g->heads, g->dim, first,
                      attention_own_end(g->attention, end), g->attention->destination_term);
}

/* Computes z of a head [end - first, dim] from the rows of gat_windows.h: the sum, plus the
 * destination itself. */
static struct matrix_view z_of_sums(const struct gat_rows *g, size_t head, uint32_t first,
                                    uint32_t end, float *z)
{
    const struct layer_pass *pass = g->pass;
    const size_t width = gat_windows_row(pass->layer, (uint32_t)g->dim);
    for (uint32_t i = first; i < end; i++) {
        const bool has_edges = pass->block.row_start[i] < pass->block.row_start[i + 1];
        const float *sum = pass->sum + (g->sum_row ? g->sum_row[i] : i) * width;
        float *row = z + (i - first) * g->dim;
        if (g->sum_row && !has_edges) {
            vector_zero(row, g->dim);
            continue;
        }
        vector_copy(row, sum + head * g->dim, g->dim);
        if (!g->sum_row)
            slot_aggregation_shared_add(&pass->input, &i, sum + g->wide + head, 1, 1,
                                        (uint32_t)g->dim, row);
    }
    return matrix_view_of(z, end - first, g->dim);
}

static void attend_tile(void *context, int64_t tile, int thread)
{
    const struct gat_rows *g = context;
    const struct layer_pass *pass = g->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    const struct attention_kind *kind = g->attention->kind;
    float *output = (float *)pass->output + (size_t)first * pass->output_dim;
    float *by_heads = scratch_of(g, thread), *z = by_heads + TILE_ROWS * g->width;
    if (g->attention->joins)
        by_heads = output;
    if (g->z)
        z = g->z + first * g->wide;
    if (!pass->sum && kind->prepare_own)
        kind->prepare_own(g->attention, first, end);
    if (!pass->sum) {
        attention_weigh_slots(g->attention, first, end);
        slot_aggregation_shared_forward(&g->attention->shape, g->attention->weight, &pass->input,
                                        (uint32_t)g->dim, first, end, z);
    }
    for (size_t h = 0; h < g->heads; h++)
        blas_product(BLAS_NT,
                     pass->sum ? z_of_sums(g, h, first, end, z) : z_of(g, z, h, end - first),
                     weight_of(g, h), false, by_heads + h * g->channels, g->width);
    if (!g->attention->joins)
        attention_mean_of_heads(&g->attention->shape, by_heads, end - first, output);
    layer_pass_finish(pass, output, first, end);
}

/* Numbers the sums of a bipartite block, where rows without edges have none. */
static enum error_code find_sum_rows(struct gat_rows *g, struct arena *arena, struct error *err)
{
    const struct message_block *block = &g->pass->block;
    uint32_t count = 0;
    const enum error_code rc = arena_new(arena, &g->sum_row, block->destination_count, what, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < block->destination_count; i++) {
        const bool has_edges = block->row_start[i] < block->row_start[i + 1];
        g->sum_row[i] = count;
        count += has_edges;
    }
    return rc;
}

static enum error_code find_room(struct gat_rows *g, bool keep, struct arena *arena, int threads,
                                 struct error *err)
{
    const size_t of_z = g->pass->sum ? g->dim : g->wide;
    g->scratch_size = layer_pass_scratch(TILE_ROWS * (g->width + (keep ? 0 : of_z)));
    enum error_code rc = g->pass->sum ? ERROR_NONE : attention_find_slots(g->attention, arena, err);
    if (rc == ERROR_NONE && g->pass->sum && g->pass->block.is_bipartite)
        rc = find_sum_rows(g, arena, err);
    if (rc == ERROR_NONE && !g->pass->sum)
        rc = arena_new(arena, &g->vector, ENDS * g->wide, what, err);
    if (rc == ERROR_NONE && keep)
        rc = arena_new(arena, &g->z, g->pass->block.destination_count * g->wide, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &g->scratch, (size_t)threads * g->scratch_size, what, err);
    if (rc == ERROR_NONE && keep && g->pass->activation.relu)
        rc = layer_pass_keep_active(g->pass, arena, err);
    return rc;
}

enum error_code gat_rows_forward(const struct attention_kind *kind, struct layer_pass *pass,
                                 bool keep, struct arena *arena, struct thread_pool *pool,
                                 struct error *err)
{
    struct attention *attention = NULL;
    struct gat_rows *g = NULL;
    enum error_code rc = attention_new(kind, pass, arena, &attention, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &g, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *g = (struct gat_rows){.attention = attention,
                           .pass = pass,
                           .dim = pass->input_dim,
                           .heads = attention->shape.heads,
                           .channels = attention->shape.channels,
                           .width = attention->width,
                           .wide = (size_t)attention->shape.heads * pass->input_dim};
    pass->state = g;
    rc = find_room(g, keep, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE)
        return rc;
    for (int end = 0; end < kind->vector_count && !pass->sum; end++)
        gat_terms_vectors(attention_vector(attention, end), weight_of(g, 0).value, g->heads,
                          g->channels, g->dim, g->vector + (size_t)end * g->wide);
    if (!pass->sum)
        thread_pool_run(pool, layer_pass_tiles(pass->block.source_count), term_tile, g);
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), attend_tile, g);
    return ERROR_NONE;
}

/* --- backward --- */

/* The sums over tiles of destinations, one array behind the other; those over tiles of sources are
 * dv [ENDS, heads, dim]. */
struct destination_sums {
    float *output_bias; /* [output_dim] */
    float *weight;      /* u^T z [width, dim] */
    float *terms;       /* [gat_terms_floats()] */
};

static size_t destination_sums_size(const struct gat_rows *g)
{
    return g->pass->output_dim + g->width * g->dim + gat_terms_floats(g->attention);
}

static struct destination_sums destination_sums_of(const struct gat_rows *g, float *sum)
{
    float *weight = sum + g->pass->output_dim;
    return (struct destination_sums){sum, weight, weight + g->width * g->dim};
}

static void destination_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct gat_rows *g = context;
    struct attention *a = g->attention;
    const struct layer_pass *pass = g->pass;
    const uint32_t first = tile->first, end = tile->end;
    const size_t count = end - first;
    const struct destination_sums sums = destination_sums_of(g, tile->sum);
    float *tile_sum = scratch_of(g, tile->thread), *given = tile_sum + pass->output_dim;
    float *u = given + TILE_ROWS * (size_t)pass->output_dim, *dz = u + TILE_ROWS * g->width;
    const float *gradient =
        layer_pass_product_gradient(pass, g->above, g->logits_gradient, first, end, given);
    if (tile->fresh)
        vector_zero(tile->sum, destination_sums_size(g));
    attention_add_columns(gradient, count, pass->output_dim, tile_sum, sums.output_bias);
    attention_share_out(&a->shape, a->joins, gradient, count, u);
    if (g->z_gradient)
        dz = g->z_gradient + first * g->wide;
    for (size_t h = 0; h < g->heads; h++) {
        const struct matrix_view of_head = y_of(g, u, h, count);
        blas_product(BLAS_TN, of_head, z_of(g, g->z + first * g->wide, h, count), true,
                     sums.weight + h * g->channels * g->dim, g->dim);
        blas_product(BLAS_NN, of_head, weight_of(g, h), false, dz + h * g->dim, g->wide);
    }
    edge_score_dot_shared(&a->shape, dz, &pass->input, (uint32_t)g->dim, first, end,
                          a->slot_gradient);
    attention_weigh_slots_back(a, first, end);
    edge_score_add_backward(&a->shape, a->source_term, a->destination_term, a->edge_term, first,
                            end, a->slot_gradient, a->destination_gradient);
    gat_terms_back(a, first, end, sums.terms);
}

static void source_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct gat_rows *g = context;
    struct attention *a = g->attention;
    struct layer_pass *pass = g->pass;
    const uint32_t first = tile->first, end = tile->end;
    const uint32_t own_end = attention_own_end(a, end);
    if (tile->fresh)
        vector_zero(tile->sum, ENDS * g->wide);
    edge_score_add_transposed(&a->shape, &a->edges, a->slot_gradient, first, end, a->term_gradient);
    gat_terms_add_vectors(&pass->input, a->term_gradient, g->heads, g->dim, first, end, tile->sum);
    gat_terms_add_vectors(&pass->input, a->destination_gradient, g->heads, g->dim, first, own_end,
                          tile->sum + g->wide);
    if (!g->z_gradient)
        return;
    float *dx = pass->input_gradient + first * g->dim;
    slot_aggregation_shared_backward(&a->shape, &a->edges, a->weight, g->z_gradient,
                                     (uint32_t)g->dim, first, end, dx);
    gat_terms_add_rows(g->vector, a->term_gradient, g->heads, g->dim, first, end, dx);
    gat_terms_add_rows(g->vector + g->wide, a->destination_gradient, g->heads, g->dim, first,
                       own_end, dx);
}

static void reduce(const struct gat_rows *g, const struct layer_gradient *out,
                   struct thread_pool *pool)
{
    const struct attention *a = g->attention;
    const struct attention_parameters *at = &a->kind->parameters;
    const size_t bias = g->pass->output_dim, matrix = g->width * g->dim;
    const size_t of_terms = gat_terms_floats(a);
    float *weight = out->parameter[at->source_weight];
    partial_sums_total_into(&g->destinations, pool, 0, bias, out->parameter[at->output_bias]);
    partial_sums_total_into(&g->destinations, pool, bias, matrix, weight);
    const float *vectors = partial_sums_total(&g->sources, 0, ENDS * g->wide);
    for (int end = 0; end < a->kind->vector_count; end++)
        gat_terms_finish_vector(attention_vector(a, end), weight_of(g, 0).value,
                                vectors + (size_t)end * g->wide, g->heads, g->channels, g->dim,
                                out->parameter[at->vector[end]], weight);
    if (of_terms)
        gat_terms_finish(a, partial_sums_total(&g->destinations, bias + matrix, of_terms), out);
}

static enum error_code find_gradients(struct gat_rows *g, bool is_first, struct arena *arena,
                                      int threads, struct error *err)
{
    struct attention *a = g->attention;
    struct layer_pass *pass = g->pass;
    const size_t sources = pass->block.source_count, destinations = pass->block.destination_count;
    const size_t of_tile = pass->output_dim + g->width + (is_first ? g->wide : 0);
    g->scratch_size = layer_pass_scratch(pass->output_dim + TILE_ROWS * of_tile);
    enum error_code rc = attention_find_slot_gradients(a, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->destination_gradient, destinations * g->heads, what, err);
    if (rc == ERROR_NONE && !is_first)
        rc = arena_new(arena, &g->z_gradient, destinations * g->wide, what, err);
    if (rc == ERROR_NONE && !is_first)
        rc = attention_find_row_gradients(pass, arena, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&g->destinations, (uint32_t)destinations, destination_sums_size(g),
                               threads, arena, err);
    if (rc == ERROR_NONE)
        rc = partial_sums_init(&g->sources, (uint32_t)sources, ENDS * g->wide, threads, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &g->scratch, (size_t)threads * g->scratch_size, what, err);
    return rc;
}

enum error_code gat_rows_backward(struct layer_pass *pass, const struct layer_pass *above,
                                  const float *logits_gradient, bool is_first,
                                  const struct layer_gradient *out, struct arena *arena,
                                  struct thread_pool *pool, struct error *err)
{
    struct gat_rows *g = pass->state;
    g->above = above;
    g->logits_gradient = logits_gradient;
    const enum error_code rc = find_gradients(g, is_first, arena, thread_pool_size(pool), err);
    if (rc != ERROR_NONE)
        return rc;
    partial_sums_run(&g->destinations, pool, destination_tile, g);
    partial_sums_run(&g->sources, pool, source_tile, g);
    reduce(g, out, pool);
    return ERROR_NONE;
}
