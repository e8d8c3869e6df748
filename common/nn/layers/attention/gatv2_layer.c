/*
 * Graph attention of Brody, Alon and Yahav 2022, as in PyG's GATv2Conv:
 *
 *   s = att . leaky(p_j + q_i)          in each head; attention.h has the rest
 *
 * With edge features f, q_i + W_e f_k replaces q_i in the score of slot k; the slot of i itself has
 * the mean of the features of its other edges, or 0 without any.
 *
 * The score of GAT is a sum of one term of each end, so GAT ranks the neighbours of all
 * destinations in the same order; GATv2 does not. Backward, with z = p_j + q_i and g = ds att
 * leaky'(z):
 *
 *   dp_j += g,  dq_i += g,  datt += ds leaky(z)
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/layers/attention/gatv2_score.h"
#include "common/nn/layers/attention/gatv2_windows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/first_bounds.h"

enum { ATT, BIAS, WEIGHT_L, BIAS_L, WEIGHT_R, BIAS_R, WEIGHT_EDGE, PARAMETER_COUNT };

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t channels = attention_channels(layer),
                   width = (uint32_t)layer->config.option.heads * channels;
    out[ATT] = (struct layer_parameter){
        .suffix = "att",
        .dim_count = 3,
        .rows = (uint32_t)layer->config.option.heads,
        .cols = channels,
        .bound = layer_glorot_bound((uint32_t)layer->config.option.heads, channels)};
    out[BIAS] = (struct layer_parameter){
        .suffix = "bias", .dim_count = 1, .rows = layer->config.output_dim, .cols = 1};
    out[WEIGHT_L] = (struct layer_parameter){.suffix = "lin_l.weight",
                                             .dim_count = 2,
                                             .rows = width,
                                             .cols = layer->input_dim,
                                             .bound = layer_glorot_bound(layer->input_dim, width)};
    out[BIAS_L] = (struct layer_parameter){.suffix = "lin_l.bias",
                                           .dim_count = 1,
                                           .rows = width,
                                           .cols = 1,
                                           .bound = layer_linear_bound(layer->input_dim)};
    out[WEIGHT_R] = (struct layer_parameter){.suffix = "lin_r.weight",
                                             .dim_count = 2,
                                             .rows = width,
                                             .cols = layer->own_dim,
                                             .bound = layer_glorot_bound(layer->own_dim, width)};
    out[BIAS_R] = (struct layer_parameter){.suffix = "lin_r.bias",
                                           .dim_count = 1,
                                           .rows = width,
                                           .cols = 1,
                                           .bound = layer_linear_bound(layer->own_dim)};
    if (layer->edge_dim == 0)
        return WEIGHT_EDGE;
    out[WEIGHT_EDGE] =
        (struct layer_parameter){.suffix = "lin_edge.weight",
                                 .dim_count = 2,
                                 .rows = width,
                                 .cols = layer->edge_dim,
                                 .bound = layer_glorot_bound(layer->edge_dim, width)};
    return PARAMETER_COUNT;
}

/* Returns a walk over the source rows of these destinations' neighbours. */
CPU_INLINE struct walk walk_of(const struct attention *a, uint32_t first, uint32_t end)
{
    const struct input_rows rows = {.base = a->source, .stride = a->width};
    return start_walk(NULL, &a->shape.block, &rows, PRECISION_FP32, (uint32_t)a->width, first, end);
}

CPU_INLINE void ask_for_slot(const struct walk *walk, uint32_t i, uint32_t k)
{
    const uint32_t e = walk->block->row_start[i] + k;
    if (e < walk->block->row_start[i + 1])
        ask_ahead(walk, e);
}

/* Returns the vector that the score adds to a slot's source row: q_i, plus the part of edge
 * features if there are any. */
CPU_INLINE const float *end_row_of(const struct attention *a, uint32_t i, size_t slot)
{
    return a->end_row ? a->end_row + slot * a->width : a->destination + i * a->width;
}

static uint32_t proper_edges_of(const struct message_block *block, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        count += block->neighbor[e] != i;
    return count;
}

/* Computes q_i + W_e f_k for the slots of these destinations; for i itself the mean of these. */
CPU_KERNEL(find_end_rows, (const struct attention *a, uint32_t first, uint32_t end),
           (a, first, end))
{
    const struct message_block *block = &a->shape.block;
    const size_t width = a->width, dim = block->edge_feature_dim;
    const bool has_own = !block->is_bipartite;
    for (uint32_t i = first; i < end; i++) {
        float *own = a->end_row + (has_own ? edge_slot_of_self(block, i) : 0) * width;
        const float *q = a->destination + i * width;
        const uint32_t proper = has_own ? proper_edges_of(block, i) : 0;
        if (has_own)
            vector_zero(own, width);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            float *row = a->end_row + edge_slot_of_edge(block, i, e) * width;
            vector_copy(row, q, width);
            for (size_t d = 0; d < dim; d++)
                vector_add_scaled(row, a->edge_matrix + d * width, block->edge_feature[e * dim + d],
                                  width);
            if (has_own && block->neighbor[e] != i)
                vector_add(own, row, width);
        }
        if (proper)
            vector_scale(own, 1 / (float)proper, width);
        else if (has_own)
            vector_copy(own, q, width);
    }
}

static enum error_code find_terms(struct attention *a, struct arena *arena, struct error *err)
{
    static const char what[] = "attention";
    const size_t dim = a->pass->layer->edge_dim;
    const float *weight = a->pass->parameter[WEIGHT_EDGE];
    if (dim == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &a->edge_matrix, dim * a->width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->end_row, edge_slot_count(&a->shape.block) * a->width, what, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    must(message_block_edges(&a->shape.block) == 0 ||
         (a->shape.block.edge_feature && a->shape.block.edge_feature_dim == dim));
    for (size_t c = 0; c < a->width; c++)
        for (size_t d = 0; d < dim; d++)
            a->edge_matrix[d * a->width + c] = weight[c * dim + d];
    return ERROR_NONE;
}

/* Returns the floats of dW_e^T [edge_dim, width] and of two rows of room behind it. */
static size_t term_floats(const struct attention *a)
{
    const size_t dim = a->pass->layer->edge_dim;
    return dim ? (dim + 2) * a->width : 0;
}

static void finish_terms(const struct attention *a, const float *sums,
                         const struct layer_gradient *out)
{
    const size_t dim = a->pass->layer->edge_dim;
    for (size_t c = 0; c < a->width; c++)
        for (size_t d = 0; d < dim; d++)
            out->parameter[WEIGHT_EDGE][c * dim + d] = sums[d * a->width + c];
}

CPU_KERNEL(score_gatv2, (struct attention * a, uint32_t first, uint32_t end), (a, first, end))
{
    const struct message_block *block = &a->shape.block;
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const struct walk walk = walk_of(a, first, end);
    for (uint32_t i = first; i < end; i++) {
        const size_t slot = edge_slot(block, i);
        float *row = a->share + slot * heads;
        ask_for_own_rows(&walk, i);
        for (uint32_t k = 0; k < edge_slots_of(block, i); k++, row += heads) {
            const float *p = a->source + edge_slot_source(block, i, k) * a->width;
            const float *q = end_row_of(a, i, slot + k);
            ask_for_slot(&walk, i, k);
            for (size_t h = 0; h < heads; h++)
                row[h] = gatv2_score(attention_vector(a, 0) + h * channels, p + h * channels,
                                     q + h * channels, channels);
        }
    }
}

static void score(struct attention *a, uint32_t first, uint32_t end)
{
    if (a->end_row)
        find_end_rows(a, first, end);
    score_gatv2(a, first, end);
}

/* Adds g to dq, and ds leaky(z) to datt unless that is NULL. */
CPU_INLINE void add_slope(float *restrict gradient, float *restrict att_gradient,
                          const float *restrict att, const float *restrict p,
                          const float *restrict q, float ds, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        const float z = p[c] + q[c], slope = z > 0 ? 1 : EDGE_SCORE_SLOPE;
        gradient[c] = vector_multiply_add(ds, att[c] * slope, gradient[c]);
        if (att_gradient)
            att_gradient[c] = vector_multiply_add(ds, z * slope, att_gradient[c]);
    }
}

CPU_KERNEL(gatv2_backward, (struct attention * a, uint32_t first, uint32_t end, float *vector_sum),
           (a, first, end, vector_sum))
{
    const struct message_block *block = &a->shape.block;
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const struct walk walk = walk_of(a, first, end);
    for (uint32_t i = first; i < end; i++) {
        const float *q = a->destination + i * a->width;
        const float *ds = a->slot_gradient + edge_slot(block, i) * heads;
        float *dq = a->destination_gradient + i * a->width;
        vector_zero(dq, a->width);
        ask_for_own_rows(&walk, i);
        for (uint32_t k = 0; k < edge_slots_of(block, i); k++, ds += heads) {
            const float *p = a->source + edge_slot_source(block, i, k) * a->width;
            ask_for_slot(&walk, i, k);
            for (size_t h = 0, at = 0; h < heads; h++, at += channels)
                add_slope(dq + at, vector_sum + at, attention_vector(a, 0) + at, p + at, q + at,
                          ds[h], channels);
        }
    }
}

/* Computes g of slot k of row i into `gradient`, and its part of datt. */
CPU_INLINE void find_slot_gradient(const struct attention *a, uint32_t i, uint32_t k,
                                   float *vector_sum, float *gradient)
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const size_t slot = edge_slot(&a->shape.block, i) + k;
    const float *p = a->source + edge_slot_source(&a->shape.block, i, k) * a->width;
    const float *q = end_row_of(a, i, slot);
    vector_zero(gradient, a->width);
    for (size_t h = 0, at = 0; h < heads; h++, at += channels)
        add_slope(gradient + at, vector_sum + at, attention_vector(a, 0) + at, p + at, q + at,
                  a->slot_gradient[slot * heads + h], channels);
}

/* Computes dq, datt and dW_e += g f^T of these destinations if edges have features. The slot of i
 * itself has the mean of the features, so each other edge gets an equal share of its g. */
CPU_KERNEL(gatv2_edges_backward,
           (struct attention * a, uint32_t first, uint32_t end, float *vector_sum),
           (a, first, end, vector_sum))
{
    const struct message_block *block = &a->shape.block;
    const size_t width = a->width, dim = block->edge_feature_dim;
    float *matrix = vector_sum + ATTENTION_VECTOR_COUNT_MAX * width;
    float *own = matrix + dim * width, *row = own + width;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t count = block->row_start[i + 1] - block->row_start[i];
        const float share = 1 / (float)proper_edges_of(block, i); /* not read if there are none */
        float *dq = a->destination_gradient + i * width;
        if (block->is_bipartite)
            vector_zero(own, width);
        else
            find_slot_gradient(a, i, count, vector_sum, own);
        vector_copy(dq, own, width);
        for (uint32_t k = 0; k < count; k++) {
            const float *feature = block->edge_feature + (block->row_start[i] + k) * dim;
            if (edge_slot_is_replaced(block, i, k))
                continue;
            find_slot_gradient(a, i, k, vector_sum, row);
            vector_add(dq, row, width);
            if (!block->is_bipartite)
                vector_add_scaled(row, own, share, width);
            for (size_t d = 0; d < dim; d++)
                vector_add_scaled(matrix + d * width, row, feature[d], width);
        }
    }
}

static void score_backward(struct attention *a, uint32_t first, uint32_t end, float *vector_sum)
{
    if (a->end_row)
        gatv2_edges_backward(a, first, end, vector_sum);
    else
        gatv2_backward(a, first, end, vector_sum);
}

CPU_INLINE void add_slopes_of_slot(struct attention *a, uint32_t j, uint32_t i, size_t slot)
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const float *p = a->source + j * a->width, *q = end_row_of(a, i, slot);
    for (size_t h = 0, at = 0; h < heads; h++, at += channels)
        add_slope(a->source_gradient + j * a->width + at, NULL, attention_vector(a, 0) + at, p + at,
                  q + at, a->slot_gradient[slot * heads + h], channels);
}

/* The function needs the type of gatv2_backward(). NOLINTBEGIN(readability-non-const-parameter) */
CPU_KERNEL(gatv2_transposed,
           (struct attention * a, uint32_t first, uint32_t end, float *vector_sum),
           (a, first, end, vector_sum))
/* NOLINTEND(readability-non-const-parameter) */
{
    const struct message_block *block = &a->shape.block;
    (void)vector_sum;
    for (uint32_t j = first; j < end; j++) {
        for (uint32_t e = a->edges.start[j]; e < a->edges.start[j + 1]; e++) {
            const uint32_t i = a->edges.destination[e];
            edge_slots_ask_ahead(&a->edges, a->edges.start[end], e, a->destination, a->width);
            add_slopes_of_slot(a, j, i, edge_slot_of_edge(block, i, a->edges.edge[e]));
        }
        if (j < block->destination_count && !block->is_bipartite)
            add_slopes_of_slot(a, j, j, edge_slot_of_self(block, j));
    }
}

const struct attention_kind gatv2_kind = {
    .parameters = {.source_weight = WEIGHT_L,
                   .source_bias = BIAS_L,
                   .destination_weight = WEIGHT_R,
                   .destination_bias = BIAS_R,
                   .output_bias = BIAS,
                   .vector = {ATT},
                   .edge_weight = WEIGHT_EDGE},
    .vector_count = 1,
    .score = score,
    .score_backward = score_backward,
    .score_transposed = gatv2_transposed,
    .find_terms = find_terms,
    .term_floats = term_floats,
    .finish_terms = finish_terms,
};

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    return pass->sum ? gatv2_windows_forward(pass, arena, pool, err)
                     : attention_forward(&gatv2_kind, pass, keep, arena, pool, err);
}

const struct layer_type gatv2_layer = {
    .pyg_name = "GAT",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_FEATURE,
    .has_heads = true,
    .parameters = parameters,
    .forward = forward,
    .backward = attention_backward,
};
