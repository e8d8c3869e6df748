/*
 * Graph attention of Velickovic and others 2018, as PyG's GATConv has it:
 *
 *   s = leaky(att_src . p_j + att_dst . p_i)          in each head; attention.h has the rest
 *
 * With edge features f the score is leaky(att_src . p_j + att_dst . p_i + att_edge . W_e f_k): edge_term.h, where v is
 * W_e^T att_edge.
 *
 * The two products are terms of a node, so that an edge takes one addition a head. Where there are many more sources
 * than destinations the rows are not projected before they are summed (gat_rows.h). Backward, with t_j = att_src . p_j:
 *
 *   dp_j += dt_j att_src (+ dt'_j att_dst for a destination),  datt_src = sum of dt_j p_j,  datt_dst = sum of dt'_i p_i
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention.h"
#include "common/nn/layers/gat_edges.h"
#include "common/nn/layers/gat_rows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/edge_term.h"
#include "common/nn/typed/gat_relations.h"

enum { WEIGHT, ATT_SRC, ATT_DST, BIAS, WEIGHT_EDGE, ATT_EDGE, PARAMETER_COUNT };

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t channels = attention_channels(layer),
                   width = (uint32_t)layer->config.option.heads * channels;
    const float bound = layer_glorot_bound((uint32_t)layer->config.option.heads, channels);
    out[WEIGHT] = (struct layer_parameter){.suffix = "lin.weight",
                                           .dim_count = 2,
                                           .rows = width,
                                           .cols = layer->input_dim,
                                           .bound = layer_glorot_bound(layer->input_dim, width)};
    out[ATT_SRC] = (struct layer_parameter){.suffix = "att_src",
                                            .dim_count = 3,
                                            .rows = (uint32_t)layer->config.option.heads,
                                            .cols = channels,
                                            .bound = bound};
    out[ATT_DST] = out[ATT_SRC];
    out[ATT_DST].suffix = "att_dst";
    out[BIAS] = (struct layer_parameter){
        .suffix = "bias", .dim_count = 1, .rows = layer->config.output_dim, .cols = 1};
    if (layer->edge_dim == 0)
        return WEIGHT_EDGE;
    out[WEIGHT_EDGE] =
        (struct layer_parameter){.suffix = "lin_edge.weight",
                                 .dim_count = 2,
                                 .rows = width,
                                 .cols = layer->edge_dim,
                                 .bound = layer_glorot_bound(layer->edge_dim, width)};
    out[ATT_EDGE] = out[ATT_SRC];
    out[ATT_EDGE].suffix = "att_edge";
    return PARAMETER_COUNT;
}

/* The terms of these rows: of sources with vector 0, of destinations with vector 1. */
CPU_KERNEL(find_gat_terms,
           (const struct attention *a, int vector, uint32_t first, uint32_t end, float *term),
           (a, vector, first, end, term))
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    for (uint32_t j = first; j < end; j++)
        for (size_t h = 0; h < heads; h++)
            term[j * heads + h] = vector_dot(a->source + j * a->width + h * channels,
                                             attention_vector(a, vector) + h * channels, channels);
}

static void prepare(struct attention *a, uint32_t first, uint32_t end)
{
    const uint32_t destinations = a->shape.block.destination_count;
    find_gat_terms(a, 0, first, end, a->source_term);
    find_gat_terms(a, 1, first, end < destinations ? end : destinations, a->destination_term);
}

static void score(struct attention *a, uint32_t first, uint32_t end)
{
    if (a->edge_vector)
        edge_term(&a->shape, a->edge_vector, first, end, a->edge_term);
    edge_score_add(&a->shape, a->source_term, a->destination_term, a->edge_term, first, end,
                   a->share);
}

/* sum += gradient of a term times its row, in each head. */
CPU_KERNEL(add_gat_rows,
           (const struct attention *a, const float *term_gradient, uint32_t first, uint32_t end,
            float *sum),
           (a, term_gradient, first, end, sum))
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    for (uint32_t j = first; j < end; j++)
        for (size_t h = 0; h < heads; h++)
            vector_add_scaled(sum + h * channels, a->source + j * a->width + h * channels,
                              term_gradient[j * heads + h], channels);
}

/* The gradient of each row += that of its term times the vector. */
CPU_KERNEL(add_gat_vectors,
           (struct attention * a, int vector, const float *term_gradient, uint32_t first,
            uint32_t end),
           (a, vector, term_gradient, first, end))
{
    const size_t heads = a->shape.heads, channels = a->shape.channels;
    for (uint32_t j = first; j < end; j++)
        for (size_t h = 0; h < heads; h++)
            vector_add_scaled(a->source_gradient + j * a->width + h * channels,
                              attention_vector(a, vector) + h * channels,
                              term_gradient[j * heads + h], channels);
}

static void score_backward(struct attention *a, uint32_t first, uint32_t end, float *vector_sum)
{
    edge_score_add_backward(&a->shape, a->source_term, a->destination_term, a->edge_term, first,
                            end, a->slot_gradient, a->destination_gradient);
    if (a->edge_vector)
        edge_term_backward(&a->shape, a->slot_gradient, first, end,
                           vector_sum + ATTENTION_VECTOR_COUNT_MAX * a->width);
    add_gat_rows(a, a->destination_gradient, first, end, vector_sum + a->width);
}

static void score_transposed(struct attention *a, uint32_t first, uint32_t end, float *vector_sum)
{
    const uint32_t destinations = a->shape.block.destination_count;
    edge_score_add_transposed(&a->shape, &a->edges, a->slot_gradient, first, end, a->term_gradient);
    add_gat_rows(a, a->term_gradient, first, end, vector_sum);
    add_gat_vectors(a, 0, a->term_gradient, first, end);
    add_gat_vectors(a, 1, a->destination_gradient, first, end < destinations ? end : destinations);
}

const struct attention_kind gat_kind = {
    .parameters = {.source_weight = WEIGHT,
                   .source_bias = -1,
                   .destination_weight = -1,
                   .destination_bias = -1,
                   .output_bias = BIAS,
                   .vector = {ATT_SRC, ATT_DST},
                   .edge_weight = WEIGHT_EDGE,
                   .edge_vector = ATT_EDGE},
    .vector_count = 2,
    .prepare = prepare,
    .score = score,
    .score_backward = score_backward,
    .score_transposed = score_transposed,
    .find_edges = gat_edges_find,
    .edge_floats = gat_edges_floats,
    .finish_edges = gat_edges_finish,
};

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    const bool on_rows = pass->sum || (!arena->counts && gat_rows_pay(pass));
    return (on_rows ? gat_rows_forward : attention_forward)(&gat_kind, pass, keep, arena, pool,
                                                            err);
}

static enum error_code backward(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err)
{
    const bool on_rows = !arena->counts && gat_rows_pay(pass);
    return (on_rows ? gat_rows_backward : attention_backward)(pass, above, logits_gradient,
                                                              is_first, out, arena, pool, err);
}

const struct layer_type gat_layer = {
    .pyg_name = "GAT",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_FEATURE,
    .has_heads = true,
    .parameters = parameters,
    .forward = forward,
    .backward = backward,
    .typed = &gat_relations,
};
