/*
 * Graph attention of Velickovic and others 2018, as in PyG's GATConv:
 *
 *   s = leaky(att_src . p_j + att_dst . p_i)          in each head; attention.h has the rest
 *
 * With edge features f the score is leaky(att_src . p_j + att_dst . p_i + att_edge . W_e f_k): see
 * edge_term.h, where v is W_e^T att_edge.
 *
 * The two products are terms of a node, so each edge costs one addition for each head. If there are
 * many more sources than destinations, the rows are summed before they are projected (gat_rows.h).
 * In a relation with a name, destinations have a matrix of their own, lin_dst, and their term is
 * computed from their rows (gat_terms.h). Backward, with t_j = att_src . p_j:
 *
 *   dp_j += dt_j att_src (+ dt'_j att_dst for a destination),
 *   datt_src = sum of dt_j p_j,  datt_dst = sum of dt'_i p_i
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/layers/attention/gat_rows.h"
#include "common/nn/layers/attention/gat_terms.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/edge_term.h"
#include "common/nn/operators/first_bounds.h"

static const struct attention_kind *kind_of(const struct model_layer *layer)
{
    return layer->in_relation ? &gat_relation_kind : &gat_kind;
}

static struct layer_parameter matrix(const char *suffix, uint32_t width, uint32_t dim)
{
    return (struct layer_parameter){.suffix = suffix,
                                    .dim_count = 2,
                                    .rows = width,
                                    .cols = dim,
                                    .bound = layer_glorot_bound(dim, width)};
}

static struct layer_parameter vector(const char *suffix, uint32_t heads, uint32_t channels)
{
    return (struct layer_parameter){.suffix = suffix,
                                    .dim_count = 3,
                                    .rows = heads,
                                    .cols = channels,
                                    .bound = layer_glorot_bound(heads, channels)};
}

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const struct attention_parameters *at = &kind_of(layer)->parameters;
    const uint32_t heads = (uint32_t)layer->config.option.heads;
    const uint32_t channels = attention_channels(layer), width = heads * channels;
    const bool in_relation = layer->in_relation;
    out[at->source_weight] =
        matrix(in_relation ? "lin_src.weight" : "lin.weight", width, layer->input_dim);
    out[at->vector[0]] = vector("att_src", heads, channels);
    out[at->vector[1]] = vector("att_dst", heads, channels);
    out[at->output_bias] = (struct layer_parameter){
        .suffix = "bias", .dim_count = 1, .rows = layer->config.output_dim, .cols = 1};
    if (in_relation)
        out[at->own_weight] = matrix("lin_dst.weight", width, layer->own_dim);
    if (layer->edge_dim == 0)
        return at->edge_weight;
    out[at->edge_weight] = matrix("lin_edge.weight", width, layer->edge_dim);
    out[at->edge_vector] = vector("att_edge", heads, channels);
    return at->edge_vector + 1;
}

/* Computes the terms of these rows: of sources with vector 0, of destinations with vector 1. */
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
    find_gat_terms(a, 0, first, end, a->source_term);
    find_gat_terms(a, 1, first, attention_own_end(a, end), a->destination_term);
}

static void score(struct attention *a, uint32_t first, uint32_t end)
{
    if (a->edge_vector)
        edge_term(&a->shape, a->edge_vector, first, end, a->edge_term);
    edge_score_add(&a->shape, a->source_term, a->destination_term, a->edge_term, first, end,
                   a->share);
}

/* Adds the gradient of each term times its row to sum, in each head. */
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

/* Adds the gradient of each row's term times the vector to the row's gradient. */
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
    gat_terms_back(a, first, end, vector_sum + ATTENTION_VECTOR_COUNT_MAX * a->width);
    if (!a->own_vector)
        add_gat_rows(a, a->destination_gradient, first, end, vector_sum + a->width);
}

static void score_transposed(struct attention *a, uint32_t first, uint32_t end, float *vector_sum)
{
    edge_score_add_transposed(&a->shape, &a->edges, a->slot_gradient, first, end, a->term_gradient);
    add_gat_rows(a, a->term_gradient, first, end, vector_sum);
    add_gat_vectors(a, 0, a->term_gradient, first, end);
    add_gat_vectors(a, 1, a->destination_gradient, first, attention_own_end(a, end));
}

/* The kinds with either order of tensors share these functions. */
#define SCORES                                                                                     \
    .prepare = prepare, .score = score, .score_backward = score_backward,                          \
    .score_transposed = score_transposed, .find_terms = gat_terms_find,                            \
    .term_floats = gat_terms_floats, .finish_terms = gat_terms_finish

const struct attention_kind gat_kind = {.parameters = {.source_weight = 0,
                                                       .source_bias = -1,
                                                       .destination_weight = -1,
                                                       .destination_bias = -1,
                                                       .output_bias = 3,
                                                       .vector = {1, 2},
                                                       .edge_weight = 4,
                                                       .edge_vector = 5},
                                        .vector_count = 2,
                                        SCORES};

const struct attention_kind gat_relation_kind = {.parameters = {.source_weight = 3,
                                                                .source_bias = -1,
                                                                .destination_weight = -1,
                                                                .destination_bias = -1,
                                                                .output_bias = 2,
                                                                .vector = {0, 1},
                                                                .edge_weight = 5,
                                                                .edge_vector = 6,
                                                                .own_weight = 4},
                                                 .vector_count = 1,
                                                 .prepare_own = gat_terms_own,
                                                 SCORES};

static enum error_code forward(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err)
{
    const bool on_rows = pass->sum || (!arena->counts && gat_rows_pay(pass));
    return (on_rows ? gat_rows_forward : attention_forward)(kind_of(pass->layer), pass, keep, arena,
                                                            pool, err);
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
};
