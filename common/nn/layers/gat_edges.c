#include "common/nn/layers/gat_edges.h"

#include "common/math/vector.h"
#include "common/nn/layers/gat_rows.h"

size_t gat_edges_floats(const struct attention *attention)
{
    return attention->shape.heads * (size_t)attention->pass->layer->edge_dim;
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
    gat_rows_vectors(attention_parameter(a, a->kind->parameters.edge_vector),
                     attention_parameter(a, a->kind->parameters.edge_weight), a->shape.heads,
                     a->shape.channels, dim, a->edge_vector);
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
