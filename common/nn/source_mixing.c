#include "common/nn/source_mixing.h"

#include "common/math/vector.h"
#include "common/nn/layer.h"

#include <string.h>

/* Sources ahead of use whose destinations are asked for. */
enum { SOURCES_AHEAD = 6 };

bool source_mixing_is_exact(const struct message_block *block, const uint32_t *node)
{
    unsigned descends = 0;
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i] + 1; e < block->row_start[i + 1]; e++)
            descends |= node[block->neighbor[e - 1]] > node[block->neighbor[e]];
    return !descends;
}

uint64_t source_mixing_floats(const struct model *model, uint64_t destination_count)
{
    const struct layer_type *type = layer_type_of(model->config.layer);
    const uint32_t dim = model_layer_input_dim(model, 0);
    if (type->maps_first(dim, model_layer_output_dim(model, 0)))
        return 0;
    return destination_count * 2 * dim; /* mean and own row, side by side or apart */
}

uint64_t source_mixing_scratch(const struct message_block *block)
{
    const uint64_t edges = block->row_start[block->destination_count] - block->row_start[0];
    const uint64_t weights = 2 * (uint64_t)block->destination_count + block->source_count;
    return 4 * (edges + weights + block->source_count) + 4096; /* and for alignment */
}

enum error_code source_mixing_begin(struct source_mixing *out, const struct model *model,
                                    const struct message_block *block, float *area,
                                    struct arena *arena, struct error *err)
{
    const struct layer_type *type = layer_type_of(model->config.layer);
    const uint32_t dim = model_layer_input_dim(model, 0);
    *out = (struct source_mixing){.dim = dim, .precision = model->config.precision, .mixed = area};
    must(source_mixing_floats(model, 1));
    enum error_code rc = type->weigh(block, arena, &out->mixing, err);
    if (rc == ERROR_NONE)
        rc = transposed_edges_build(block, out->mixing.skip_self_loops, arena, &out->edges, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t mixed = block->destination_count * mixing_width(&out->mixing, dim);
    if (!out->mixing.self_beside)
        out->own = area + mixed;
    memset(area, 0, mixed * sizeof *area);
    return ERROR_NONE;
}

CPU_INLINE void prefetch_destinations(const struct source_mixing *m, uint32_t source, size_t width)
{
    for (uint32_t e = m->edges.start[source]; e < m->edges.start[source + 1]; e++)
        vector_prefetch(m->mixed + m->edges.destination[e] * width, m->dim * sizeof(float));
}

CPU_INLINE void add_row(float *restrict sum, const void *row, enum precision precision,
                        const float *scale, uint32_t dim)
{
    if (precision == PRECISION_BF16 && scale)
        vector_add_scaled_bf16(sum, row, *scale, dim);
    else if (precision == PRECISION_BF16)
        vector_add_bf16(sum, row, dim);
    else if (scale)
        vector_add_scaled(sum, row, *scale, dim);
    else
        vector_add(sum, row, dim);
}

CPU_INLINE void add_source(const struct source_mixing *m, enum precision precision, uint32_t source,
                           const void *row, size_t width)
{
    const struct mixing *mixing = &m->mixing;
    for (uint32_t e = m->edges.start[source]; e < m->edges.start[source + 1]; e++)
        add_row(m->mixed + m->edges.destination[e] * width, row, precision,
                mixing->source_scale ? &mixing->source_scale[source] : NULL, m->dim);
    if (source >= mixing->destination_count)
        return;
    float *own = m->own ? m->own + (size_t)source * m->dim : m->mixed + source * width + m->dim;
    if (precision == PRECISION_BF16)
        bf16_to_floats(own, row, m->dim);
    else
        vector_copy(own, row, m->dim);
}

CPU_INLINE void add_sources(const struct source_mixing *m, enum precision precision,
                            const uint32_t *source, const void *const *row, uint32_t count)
{
    const size_t width = mixing_width(&m->mixing, m->dim);
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > SOURCES_AHEAD)
            prefetch_destinations(m, source[i + SOURCES_AHEAD], width);
        add_source(m, precision, source[i], row[i], width);
    }
}

CPU_CLONES
static void add_floats(const struct source_mixing *m, const uint32_t *source,
                       const void *const *row, uint32_t count)
{
    add_sources(m, PRECISION_FP32, source, row, count);
}

CPU_CLONES
static void add_bf16(const struct source_mixing *m, const uint32_t *source, const void *const *row,
                     uint32_t count)
{
    add_sources(m, PRECISION_BF16, source, row, count);
}

void source_mixing_add(const struct source_mixing *mixing, const uint32_t *source,
                       const void *const *row, uint32_t count)
{
    if (mixing->precision == PRECISION_BF16)
        add_bf16(mixing, source, row, count);
    else
        add_floats(mixing, source, row, count);
}

CPU_CLONES
static void finish(const struct source_mixing *m)
{
    const struct mixing *mixing = &m->mixing;
    const size_t width = mixing_width(mixing, m->dim);
    for (size_t i = 0; i < mixing->destination_count; i++) {
        float *mixed = m->mixed + i * width;
        vector_scale(mixed, mixing->destination_scale[i], m->dim);
        if (m->own)
            vector_add_scaled(mixed, m->own + i * m->dim, mixing->self_scale[i], m->dim);
    }
}

/* Each row moves down to where it lies at half the bytes, over rows that have moved already. By way of a
 * small array, since it may overlap with itself. */
CPU_CLONES
static void round_in_place(const struct source_mixing *m)
{
    enum { PIECE = 64 };
    const size_t width = mixing_width(&m->mixing, m->dim), stride = bf16_stride(width);
    char *to = (char *)m->mixed;
    for (size_t i = 0; i < m->mixing.destination_count; i++, to += stride * sizeof(bf16))
        for (size_t first = 0; first < stride; first += PIECE) {
            const size_t count = stride - first < PIECE ? stride - first : PIECE;
            const size_t there = width - first < count ? width - first : count;
            bf16 piece[PIECE] = {0};
            bf16_of_floats(piece, m->mixed + i * width + first, there);
            memcpy(to + first * sizeof *piece, piece, count * sizeof *piece);
        }
}

void source_mixing_finish(const struct source_mixing *mixing)
{
    finish(mixing);
    if (mixing->precision == PRECISION_BF16)
        round_in_place(mixing);
}
