#include "common/nn/operators/edge_term.h"

#include "common/math/vector.h"

static uint32_t proper_edges(const struct message_block *block, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        count += block->neighbor[e] != i;
    return count;
}

CPU_KERNEL(edge_terms_of_rows,
           (const struct edge_shape *shape, const float *vector, uint32_t first, uint32_t end,
            float *term),
           (shape, vector, first, end, term))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, dim = block->edge_feature_dim;
    const bool has_own = !block->is_bipartite;
    for (uint32_t i = first; i < end; i++) {
        float *own = term + (has_own ? edge_slot_of_self(block, i) : 0) * heads;
        const uint32_t proper = has_own ? proper_edges(block, i) : 0;
        if (has_own)
            vector_zero(own, heads);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            float *row = term + edge_slot_of_edge(block, i, e) * heads;
            for (size_t h = 0; h < heads; h++)
                row[h] = vector_dot(block->edge_feature + e * dim, vector + h * dim, dim);
            if (has_own && block->neighbor[e] != i)
                vector_add(own, row, heads);
        }
        if (proper)
            vector_scale(own, 1 / (float)proper, heads);
    }
}

void edge_term(const struct edge_shape *shape, const float *vector, uint32_t first, uint32_t end,
               float *term)
{
    edge_terms_of_rows(shape, vector, first, end, term);
}

CPU_KERNEL(add_edge_vectors,
           (const struct edge_shape *shape, const float *gradient, uint32_t first, uint32_t end,
            float *sum),
           (shape, gradient, first, end, sum))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, dim = block->edge_feature_dim;
    const bool has_own = !block->is_bipartite;
    for (uint32_t i = first; i < end; i++) {
        const float *own = gradient + (has_own ? edge_slot_of_self(block, i) : 0) * heads;
        /* infinite without other edges, but then the loop does not read it */
        const float share = 1 / (float)proper_edges(block, i);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            const float *row = gradient + edge_slot_of_edge(block, i, e) * heads;
            if (has_own && block->neighbor[e] == i)
                continue;
            for (size_t h = 0; h < heads; h++)
                vector_add_scaled(sum + h * dim, block->edge_feature + e * dim,
                                  has_own ? vector_multiply_add(share, own[h], row[h]) : row[h],
                                  dim);
        }
    }
}

void edge_term_backward(const struct edge_shape *shape, const float *gradient, uint32_t first,
                        uint32_t end, float *vector_sum)
{
    add_edge_vectors(shape, gradient, first, end, vector_sum);
}
