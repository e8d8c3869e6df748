#include "common/nn/layers/attention/gat_terms.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/nn/operators/edge_term.h"

CPU_KERNEL(find_term_vectors,
           (const float *att, const float *weight, size_t heads, size_t channels, size_t dim,
            float *v),
           (att, weight, heads, channels, dim, v))
{
    for (size_t h = 0; h < heads; h++, v += dim) {
        vector_zero(v, dim);
        for (size_t c = 0; c < channels; c++, weight += dim)
            vector_add_scaled(v, weight, att[h * channels + c], dim);
    }
}

void gat_terms_vectors(const float *att, const float *weight, size_t heads, size_t channels,
                       size_t dim, float *v)
{
    find_term_vectors(att, weight, heads, channels, dim, v);
}

CPU_KERNEL(find_row_terms,
           (const struct input_rows *input, const float *v, size_t heads, size_t dim,
            uint32_t first, uint32_t end, float *term),
           (input, v, heads, dim, first, end, term))
{
    for (uint32_t j = first; j < end; j++) {
        if (end - j > ROWS_FAR)
            vector_prefetch_far(float_row(input, j + ROWS_FAR), dim * sizeof *v);
        for (size_t h = 0; h < heads; h++)
            term[j * heads + h] = vector_dot(float_row(input, j), v + h * dim, dim);
    }
}

void gat_terms_of_rows(const struct input_rows *input, const float *v, size_t heads, size_t dim,
                       uint32_t first, uint32_t end, float *term)
{
    find_row_terms(input, v, heads, dim, first, end, term);
}

CPU_KERNEL(add_row_vectors,
           (const struct input_rows *input, const float *term_gradient, size_t heads, size_t dim,
            uint32_t first, uint32_t end, float *dv),
           (input, term_gradient, heads, dim, first, end, dv))
{
    for (uint32_t j = first; j < end; j++) {
        if (end - j > ROWS_FAR)
            vector_prefetch_far(float_row(input, j + ROWS_FAR), dim * sizeof *dv);
        for (size_t h = 0; h < heads; h++)
            vector_add_scaled(dv + h * dim, float_row(input, j), term_gradient[j * heads + h], dim);
    }
}

void gat_terms_add_vectors(const struct input_rows *input, const float *term_gradient, size_t heads,
                           size_t dim, uint32_t first, uint32_t end, float *dv)
{
    add_row_vectors(input, term_gradient, heads, dim, first, end, dv);
}

CPU_KERNEL(add_term_gradients,
           (const float *v, const float *term_gradient, size_t heads, size_t dim, uint32_t first,
            uint32_t end, float *dx),
           (v, term_gradient, heads, dim, first, end, dx))
{
    for (uint32_t j = first; j < end; j++, dx += dim)
        for (size_t h = 0; h < heads; h++)
            vector_add_scaled(dx, v + h * dim, term_gradient[j * heads + h], dim);
}

void gat_terms_add_rows(const float *v, const float *term_gradient, size_t heads, size_t dim,
                        uint32_t first, uint32_t end, float *dx)
{
    add_term_gradients(v, term_gradient, heads, dim, first, end, dx);
}

CPU_KERNEL(finish_term_vector,
           (const float *att, const float *weight, const float *dv, size_t heads, size_t channels,
            size_t dim, float *att_gradient, float *weight_gradient),
           (att, weight, dv, heads, channels, dim, att_gradient, weight_gradient))
{
    for (size_t c = 0; c < heads * channels; c++) {
        const float *row = dv + c / channels * dim;
        att_gradient[c] = vector_dot(weight + c * dim, row, dim);
        vector_add_scaled(weight_gradient + c * dim, row, att[c], dim);
    }
}

void gat_terms_finish_vector(const float *att, const float *weight, const float *dv, size_t heads,
                             size_t channels, size_t dim, float *att_gradient,
                             float *weight_gradient)
{
    finish_term_vector(att, weight, dv, heads, channels, dim, att_gradient, weight_gradient);
}

/* --- edge features, and destinations that are no sources --- */

/* Returns the columns of a destination's row if it has a term of its own, otherwise 0. */
static size_t own_dim_of(const struct attention *a)
{
    return a->shape.block.is_bipartite ? a->pass->layer->own_dim : 0;
}

static size_t edge_floats(const struct attention *a)
{
    return a->shape.heads * (size_t)a->pass->layer->edge_dim;
}

size_t gat_terms_floats(const struct attention *attention)
{
    return edge_floats(attention) + attention->shape.heads * own_dim_of(attention);
}

/* Computes v of one of the matrices. */
static enum error_code find_vector(const struct attention *a, int weight, int att, size_t dim,
                                   struct arena *arena, float **out, struct error *err)
{
    if (dim == 0)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, out, a->shape.heads * dim, "attention", err);
    if (rc == ERROR_NONE && !arena->counts)
        gat_terms_vectors(attention_parameter(a, att), attention_parameter(a, weight),
                          a->shape.heads, a->shape.channels, dim, *out);
    return rc;
}

enum error_code gat_terms_find(struct attention *attention, struct arena *arena, struct error *err)
{
    struct attention *a = attention;
    const struct attention_parameters *at = &a->kind->parameters;
    const struct message_block *block = &a->shape.block;
    const size_t dim = a->pass->layer->edge_dim;
    enum error_code rc =
        find_vector(a, at->edge_weight, at->edge_vector, dim, arena, &a->edge_vector, err);
    if (rc == ERROR_NONE && dim)
        rc = arena_new(arena, &a->edge_term, edge_slot_count(block) * a->shape.heads, "attention",
                       err);
    if (rc == ERROR_NONE)
        rc = find_vector(a, at->own_weight, at->vector[1], own_dim_of(a), arena, &a->own_vector,
                         err);
    must(arena->counts || dim == 0 || message_block_edges(block) == 0 ||
         (block->edge_feature && block->edge_feature_dim == dim));
    return rc;
}

void gat_terms_own(struct attention *attention, uint32_t first, uint32_t end)
{
    gat_terms_of_rows(layer_pass_own_rows(attention->pass), attention->own_vector,
                      attention->shape.heads, own_dim_of(attention), first, end,
                      attention->destination_term);
}

void gat_terms_back(const struct attention *attention, uint32_t first, uint32_t end, float *sums)
{
    const struct attention *a = attention;
    const size_t heads = a->shape.heads, dim = own_dim_of(a);
    if (a->edge_vector)
        edge_term_backward(&a->shape, a->slot_gradient, first, end, sums);
    if (!a->own_vector)
        return;
    gat_terms_add_vectors(layer_pass_own_rows(a->pass), a->destination_gradient, heads, dim, first,
                          end, sums + edge_floats(a));
    if (!a->pass->own_gradient)
        return;
    float *dx = a->pass->own_gradient + first * dim;
    for (size_t c = 0; c < (end - first) * dim; c++)
        dx[c] = 0;
    gat_terms_add_rows(a->own_vector, a->destination_gradient, heads, dim, first, end, dx);
}

/* Completes the gradient of a matrix that has no other part. */
static void finish_alone(const struct attention *a, int weight, int att, size_t dim,
                         const float *dv, const struct layer_gradient *out)
{
    float *gradient = out->parameter[weight];
    for (size_t c = 0; c < a->width * dim; c++)
        gradient[c] = 0;
    gat_terms_finish_vector(attention_parameter(a, att), attention_parameter(a, weight), dv,
                            a->shape.heads, a->shape.channels, dim, out->parameter[att], gradient);
}

void gat_terms_finish(const struct attention *attention, const float *sums,
                      const struct layer_gradient *out)
{
    const struct attention *a = attention;
    const struct attention_parameters *at = &a->kind->parameters;
    if (a->edge_vector)
        finish_alone(a, at->edge_weight, at->edge_vector, a->pass->layer->edge_dim, sums, out);
    if (a->own_vector)
        finish_alone(a, at->own_weight, at->vector[1], own_dim_of(a), sums + edge_floats(a), out);
}
