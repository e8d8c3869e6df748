/*
 * Graph attention of Brody, Alon and Yahav 2022, as PyG's GATv2Conv has it:
 *
 *   s = att . leaky(p_j + q_i)          in each head; attention.h has the rest
 *
 * GAT ranks the neighbours of all destinations alike, as its score is a sum of a term of each end; here it is not.
 * Backward, with z = p_j + q_i and g = ds att leaky'(z):   dp_j += g, dq_i += g, datt += ds leaky(z).
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/nn/operators/edge_score.h"

enum { ATT, BIAS, WEIGHT_L, BIAS_L, WEIGHT_R, BIAS_R, PARAMETER_COUNT };

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t channels = attention_channels(layer),
                   width = (uint32_t)layer->option.heads * channels;
    out[ATT] = (struct layer_parameter){
        .suffix = "att",
        .dim_count = 3,
        .rows = (uint32_t)layer->option.heads,
        .cols = channels,
        .bound = layer_glorot_bound((uint32_t)layer->option.heads, channels)};
    out[BIAS] = (struct layer_parameter){
        .suffix = "bias", .dim_count = 1, .rows = layer->output_dim, .cols = 1};
    out[WEIGHT_L] = (struct layer_parameter){.suffix = "lin_l.weight",
                                             .dim_count = 2,
                                             .rows = width,
                                             .cols = layer->input_dim,
                                             .bound = layer_glorot_bound(layer->input_dim, width)};
    out[BIAS_L] =
        (struct layer_parameter){.suffix = "lin_l.bias", .dim_count = 1, .rows = width, .cols = 1};
    out[WEIGHT_R] = out[WEIGHT_L];
    out[WEIGHT_R].suffix = "lin_r.weight";
    out[BIAS_R] = out[BIAS_L];
    out[BIAS_R].suffix = "lin_r.bias";
    return PARAMETER_COUNT;
}

/* The sum of att times leaky(p + q) over `count` channels, in the parts of vector_dot(). */
CPU_INLINE float score_of(const float *restrict att, const float *restrict p,
                          const float *restrict q, size_t count)
{
    float part[DOT_PARTS] = {0}, sum = 0;
    size_t i = 0;
    for (; count - i >= DOT_PARTS; i += DOT_PARTS)
        for (size_t k = 0; k < DOT_PARTS; k++) {
            const float z = p[i + k] + q[i + k];
            part[k] = vector_multiply_add(att[i + k], z > 0 ? z : EDGE_SCORE_SLOPE * z, part[k]);
        }
    for (size_t k = 0; i < count; i++, k++) {
        const float z = p[i] + q[i];
        part[k] = vector_multiply_add(att[i], z > 0 ? z : EDGE_SCORE_SLOPE * z, part[k]);
    }
    for (size_t k = 0; k < DOT_PARTS; k++)
        sum += part[k];
    return sum;
}

/* A walk over the rows of sources that these destinations hear from. */
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

CPU_KERNEL(score_gatv2, (struct attention * a, uint32_t first, uint32_t end), (a, first, end))
{
    const struct message_block *block = &a->shape.block;
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const struct walk walk = walk_of(a, first, end);
    for (uint32_t i = first; i < end; i++) {
        const float *q = a->destination + i * a->width;
        float *row = a->share + edge_slot(block, i) * heads;
        ask_for_own_rows(&walk, i);
        for (uint32_t k = 0; k < edge_slots_of(block, i); k++, row += heads) {
            const float *p = a->source + edge_slot_source(block, i, k) * a->width;
            ask_for_slot(&walk, i, k);
            for (size_t h = 0; h < heads; h++)
                row[h] = score_of(attention_vector(a, 0) + h * channels, p + h * channels,
                                  q + h * channels, channels);
        }
    }
}

/* dq += g, and unless it is NULL datt += ds leaky(z). */
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

CPU_INLINE void add_slopes_of_slot(struct attention *a, uint32_t j, uint32_t i, size_t slot)
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    const float *p = a->source + j * a->width, *q = a->destination + i * a->width;
    for (size_t h = 0, at = 0; h < heads; h++, at += channels)
        add_slope(a->source_gradient + j * a->width + at, NULL, attention_vector(a, 0) + at, p + at,
                  q + at, a->slot_gradient[slot * heads + h], channels);
}

/* The same type as of gatv2_backward(). NOLINTBEGIN(readability-non-const-parameter) */
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
        if (j < block->destination_count)
            add_slopes_of_slot(a, j, j, edge_slot_of_self(block, j));
    }
}

static const struct attention_kind kind = {
    .parameters = {.source_weight = WEIGHT_L,
                   .source_bias = BIAS_L,
                   .destination_weight = WEIGHT_R,
                   .destination_bias = BIAS_R,
                   .output_bias = BIAS,
                   .vector = {ATT}},
    .vector_count = 1,
    .score = score_gatv2,
    .score_backward = gatv2_backward,
    .score_transposed = gatv2_transposed,
};

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    return attention_forward(&kind, pass, keep, arena, pool, err);
}

const struct layer_type gatv2_layer = {
    .pyg_name = "GAT",
    .uses_edges = true,
    .has_heads = true,
    .parameters = parameters,
    .forward = forward,
    .backward = attention_backward,
};
