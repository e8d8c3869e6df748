#include "common/nn/layers/gat_edges.h"

#include "common/math/vector.h"

size_t gat_edges_floats(const struct attention *attention)
{
    return attention->shape.heads * (size_t)attention->pass->layer->edge_dim;
}

/* v = W_e^T att_e in each head. */
CPU_KERNEL(find_edge_vector, (const struct attention *a), (a))
{
    const size_t dim = a->shape.block.edge_feature_dim;
    const float *att = a->pass->parameter[a->kind->parameters.edge_vector];
    const float *row = a->pass->parameter[a->kind->parameters.edge_weight];
    for (size_t c = 0; c < a->width; c++, row += dim) {
        float *v = a->edge_vector + c / a->shape.channels * dim;
        if (c % a->shape.channels == 0)
            vector_zero(v, dim);
        vector_add_scaled(v, row, att[c], dim);
    }
}

enum error_code gat_edges_find(struct attention *attention, struct arena *arena, struct error *err)
{
    static const char what[] = "attention";
    struct attention *a = attention;
    const uint32_t dim = a->pass->layer->edge_dim;
    enum error_code rc = arena_new(arena, &a->edge_vector, a->shape.heads * (size_t)dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->edge_term, edge_slot_count(&a->shape.block) * a->shape.heads,
                       what, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    must(a->shape.block.edge_feature && a->shape.block.edge_feature_dim == dim);
    find_edge_vector(a);
    return ERROR_NONE;
}

CPU_KERNEL(finish_edge_vector,
           (const struct attention *a, const float *vector_gradient, float *att_gradient,
            float *weight_gradient),
           (a, vector_gradient, att_gradient, weight_gradient))
{
    const size_t dim = a->shape.block.edge_feature_dim;
    const float *att = a->pass->parameter[a->kind->parameters.edge_vector];
    const float *row = a->pass->parameter[a->kind->parameters.edge_weight];
    for (size_t c = 0; c < a->width; c++) {
        const float *dv = vector_gradient + c / a->shape.channels * dim;
        att_gradient[c] = vector_dot(row + c * dim, dv, dim);
        vector_copy(weight_gradient + c * dim, dv, dim);
        vector_scale(weight_gradient + c * dim, att[c], dim);
    }
}

void gat_edges_finish(const struct attention *attention, const float *vector_gradient,
                      const struct layer_gradient *out)
{
    const struct attention_parameters *at = &attention->kind->parameters;
    finish_edge_vector(attention, vector_gradient, out->parameter[at->edge_vector],
                       out->parameter[at->edge_weight]);
}
