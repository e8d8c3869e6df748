#include "common/nn/source_aggregation.h"

#include "common/math/vector.h"
#include "common/nn/layers/layer.h"

#include <string.h>

/* How many sources ahead each step prefetches. Each step needs the data that the previous step
 * prefetched: where a source's edges begin, its edges, their destinations into the second-level
 * cache, and into the first. */
enum { AHEAD_START = 56, AHEAD_EDGE = 40, AHEAD_FAR = 24, AHEAD_NEAR = 3, AHEAD_ROW = 8 };

/* Flags of an edge beside its destination: it is the first, or the last, edge of the destination.
 * So sums need no separate pass that sets them to zero, or that scales them. */
static const uint32_t is_first = 1U << 31, is_last = 1U << 30, destination_mask = (1U << 30) - 1;

bool source_aggregation_is_exact(const struct message_block *block, const uint32_t *node)
{
    unsigned descends = 0;
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i] + 1; e < block->row_start[i + 1]; e++)
            descends |= node[block->neighbor[e - 1]] > node[block->neighbor[e]];
    return !descends;
}

uint64_t source_aggregation_floats(const struct model *model, uint64_t destination_count)
{
    const uint32_t dim = model_layer_input_dim(model, 0);
    if (!layer_aggregates_first(&model->layer[0]) || destination_count > destination_mask)
        return 0;
    return destination_count * 2 * dim; /* mean and own row, side by side or apart */
}

uint64_t source_aggregation_scratch(const struct message_block *block)
{
    const uint64_t edges = block->row_start[block->destination_count] - block->row_start[0];
    const uint64_t weights = 2 * (uint64_t)block->destination_count + block->source_count;
    const bool both = block->edge_value && block->edge_factor; /* and their products */
    const uint64_t products = both ? block->row_start[block->destination_count] : 0;
    const uint64_t values = (block->edge_value || block->edge_factor ? edges : 0) + products;
    /* the last term is for alignment */
    return 4 * (edges + values + weights + block->source_count) + 4096;
}

/* Returns the next edge of destination `i` from `e` on that counts. */
static uint32_t next_edge(const struct source_aggregation *m, const struct message_block *block,
                          uint32_t i, uint32_t e)
{
    while (m->aggregation.skip_self_loops && e < block->row_start[i + 1] && block->neighbor[e] == i)
        e++;
    return e;
}

/* Transposes the edges; transposed_edges.c counts and fills the same way. A destination without
 * edges is zero. */
static void turn_edges(const struct source_aggregation *m, const struct message_block *block)
{
    const float *edge_value = m->aggregation.edge_value;
    uint32_t *start = m->start;
    memset(start, 0, ((size_t)block->source_count + 2) * sizeof *start);
    for (uint32_t e = block->row_start[0]; e < block->row_start[block->destination_count]; e++)
        start[(size_t)block->neighbor[e] + 2]++;
    for (uint32_t i = 0; m->aggregation.skip_self_loops && i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
            start[(size_t)i + 2] -= block->neighbor[e] == i;
    for (size_t j = 2; j <= (size_t)block->source_count + 1; j++)
        start[j] += start[j - 1];
    for (uint32_t i = 0; i < block->destination_count; i++) {
        const uint32_t end = block->row_start[i + 1];
        uint32_t flags = is_first, next = 0, e = next_edge(m, block, i, block->row_start[i]);
        if (e == end)
            memset(m->aggregated + i * aggregation_width(&m->aggregation, m->dim), 0,
                   m->dim * sizeof(float));
        for (; e < end; e = next, flags = 0) {
            next = next_edge(m, block, i, e + 1);
            const uint32_t at = start[(size_t)block->neighbor[e] + 1]++;
            m->edge[at] = i | flags | (next == end ? is_last : 0);
            if (edge_value)
                m->value[at] = edge_value[e];
        }
    }
}

enum error_code source_aggregation_begin(struct source_aggregation *out, const struct model *model,
                                         const struct message_block *block, float *area,
                                         struct arena *arena, struct error *err)
{
    const uint32_t dim = model_layer_input_dim(model, 0);
    const size_t edges = block->row_start[block->destination_count] - block->row_start[0];
    *out = (struct source_aggregation){
        .dim = dim, .precision = model->config.precision, .aggregated = area};
    must(source_aggregation_floats(model, block->destination_count) || !block->destination_count);
    enum error_code rc =
        model->layer[0].type->weigh(&model->layer[0], block, arena, &out->aggregation, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->start, (size_t)block->source_count + 2, "edges by source", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->edge, edges, "edges by source", err);
    if (rc == ERROR_NONE && out->aggregation.edge_value)
        rc = arena_new(arena, &out->value, edges, "edges by source", err);
    if (rc != ERROR_NONE)
        return rc;
    if (!out->aggregation.self_beside)
        out->own = area + block->destination_count * aggregation_width(&out->aggregation, dim);
    turn_edges(out, block);
    return ERROR_NONE;
}

CPU_INLINE void ask_for_destinations(const struct source_aggregation *m, uint32_t source,
                                     size_t width, bool far)
{
    for (uint32_t e = m->start[source]; e < m->start[source + 1]; e++) {
        const float *sum = m->aggregated + (m->edge[e] & destination_mask) * width;
        if (far)
            vector_prefetch_far(sum, m->dim * sizeof(float));
        else
            vector_prefetch(sum, m->dim * sizeof(float));
    }
}

CPU_INLINE void ask_ahead(const struct source_aggregation *m, const uint32_t *source, uint32_t left,
                          size_t width)
{
    if (left > AHEAD_START)
        __builtin_prefetch(&m->start[source[AHEAD_START]]);
    if (left > AHEAD_EDGE)
        __builtin_prefetch(&m->edge[m->start[source[AHEAD_EDGE]]]);
    if (left > AHEAD_FAR)
        ask_for_destinations(m, source[AHEAD_FAR], width, true);
    if (left > AHEAD_NEAR)
        ask_for_destinations(m, source[AHEAD_NEAR], width, false);
}

/* A float at any address. */
typedef float loose_float __attribute__((aligned(1)));

/* Adds the first term to zero instead of copying it: so a negative zero gets the same bits as in
 * the gather. */
CPU_INLINE void begin_sum(float *restrict sum, const loose_float *restrict row, float scale,
                          size_t dim)
{
    for (size_t i = 0; i < dim; i++)
        sum[i] = 0 + scale * row[i];
}

CPU_INLINE void add_to_sum(float *restrict sum, const loose_float *restrict row, float scale,
                           size_t dim)
{
    for (size_t i = 0; i < dim; i++)
        sum[i] = vector_multiply_add(scale, row[i], sum[i]);
}

CPU_INLINE void begin_sum_bf16(float *restrict sum, const bf16 *restrict row, float scale,
                               size_t dim)
{
    for (size_t i = 0; i < dim; i++)
        sum[i] = 0 + scale * bf16_to_float(row[i]);
}

CPU_INLINE void add_row(float *sum, const void *row, enum precision precision, bool begins,
                        float scale, size_t dim)
{
    if (precision == PRECISION_BF16 && begins)
        begin_sum_bf16(sum, row, scale, dim);
    else if (precision == PRECISION_BF16)
        vector_add_scaled_bf16(sum, row, scale, dim);
    else if (begins)
        begin_sum(sum, row, scale, dim);
    else
        add_to_sum(sum, row, scale, dim);
}

CPU_INLINE void add_source(const struct source_aggregation *m, enum precision precision,
                           uint32_t source, const void *row, size_t width)
{
    const struct aggregation *aggregation = &m->aggregation;
    const float source_scale = aggregation->source_scale ? aggregation->source_scale[source] : 1;
    for (uint32_t e = m->start[source]; e < m->start[source + 1]; e++) {
        const uint32_t i = m->edge[e] & destination_mask;
        float *sum = m->aggregated + i * width;
        const float scale = m->value ? source_scale * m->value[e] : source_scale;
        add_row(sum, row, precision, m->edge[e] & is_first, scale, m->dim);
        if (m->edge[e] & is_last)
            vector_scale(sum, aggregation->destination_scale[i], m->dim);
    }
    if (source >= aggregation->destination_count)
        return;
    float *own =
        m->own ? m->own + (size_t)source * m->dim : m->aggregated + source * width + m->dim;
    if (precision == PRECISION_BF16)
        bf16_to_floats(own, row, m->dim);
    else
        memcpy(own, row, m->dim * sizeof *own);
}

CPU_INLINE void add_sources(const struct source_aggregation *m, enum precision precision,
                            const uint32_t *source, const void *const *row, uint32_t count)
{
    const size_t width = aggregation_width(&m->aggregation, m->dim);
    const size_t row_bytes = m->dim * precision_bytes(precision);
    for (uint32_t i = 0; i < count && i < AHEAD_FAR; i++)
        ask_for_destinations(m, source[i], width, true);
    for (uint32_t i = 0; i < count; i++) {
        ask_ahead(m, source + i, count - i, width);
        if (count - i > AHEAD_ROW)
            vector_prefetch(row[i + AHEAD_ROW], row_bytes);
        add_source(m, precision, source[i], row[i], width);
    }
}

CPU_KERNEL(add_floats,
           (const struct source_aggregation *m, const uint32_t *source, const void *const *row,
            uint32_t count),
           (m, source, row, count))
{
    add_sources(m, PRECISION_FP32, source, row, count);
}

CPU_KERNEL(add_bf16,
           (const struct source_aggregation *m, const uint32_t *source, const void *const *row,
            uint32_t count),
           (m, source, row, count))
{
    add_sources(m, PRECISION_BF16, source, row, count);
}

void source_aggregation_add(const struct source_aggregation *aggregation, const uint32_t *source,
                            const void *const *row, uint32_t count)
{
    if (aggregation->precision == PRECISION_BF16)
        add_bf16(aggregation, source, row, count);
    else
        add_floats(aggregation, source, row, count);
}

CPU_KERNEL(add_own, (const struct source_aggregation *m), (m))
{
    const size_t width = aggregation_width(&m->aggregation, m->dim);
    for (size_t i = 0; i < m->aggregation.destination_count; i++)
        vector_add_scaled(m->aggregated + i * width, m->own + i * m->dim,
                          m->aggregation.self_scale[i], m->dim);
}

/* Rounds in place: moves each row down to its place at half the bytes, over rows that have already
 * moved. It goes through a small array, because a row may overlap its own new place. */
CPU_KERNEL(round_in_place, (const struct source_aggregation *m), (m))
{
    enum { PIECE = 64 };
    const size_t width = aggregation_width(&m->aggregation, m->dim), stride = bf16_stride(width);
    char *to = (char *)m->aggregated;
    for (size_t i = 0; i < m->aggregation.destination_count; i++, to += stride * sizeof(bf16))
        for (size_t first = 0; first < stride; first += PIECE) {
            const size_t count = stride - first < PIECE ? stride - first : PIECE;
            const size_t there = width - first < count ? width - first : count;
            bf16 piece[PIECE] = {0};
            bf16_of_floats(piece, m->aggregated + i * width + first, there);
            memcpy(to + first * sizeof *piece, piece, count * sizeof *piece);
        }
}

void source_aggregation_finish(const struct source_aggregation *aggregation)
{
    if (aggregation->own)
        add_own(aggregation);
    if (aggregation->precision == PRECISION_BF16)
        round_in_place(aggregation);
}
