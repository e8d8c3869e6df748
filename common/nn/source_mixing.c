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
    *out = (struct source_mixing){.dim = dim, .mixed = area};
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
        vector_prefetch(m->mixed + m->edges.destination[e] * width, m->dim);
}

CPU_INLINE void add_source(const struct source_mixing *m, uint32_t source, const float *row,
                           size_t width)
{
    const struct mixing *mixing = &m->mixing;
    for (uint32_t e = m->edges.start[source]; e < m->edges.start[source + 1]; e++) {
        float *sum = m->mixed + m->edges.destination[e] * width;
        if (mixing->source_scale)
            vector_add_scaled(sum, row, mixing->source_scale[source], m->dim);
        else
            vector_add(sum, row, m->dim);
    }
    if (source < mixing->destination_count)
        vector_copy(m->own ? m->own + (size_t)source * m->dim : m->mixed + source * width + m->dim,
                    row, m->dim);
}

CPU_CLONES
static void add(const struct source_mixing *m, const uint32_t *source, const float *const *row,
                uint32_t count)
{
    const size_t width = mixing_width(&m->mixing, m->dim);
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > SOURCES_AHEAD)
            prefetch_destinations(m, source[i + SOURCES_AHEAD], width);
        add_source(m, source[i], row[i], width);
    }
}

void source_mixing_add(const struct source_mixing *mixing, const uint32_t *source,
                       const float *const *row, uint32_t count)
{
    add(mixing, source, row, count);
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

void source_mixing_finish(const struct source_mixing *mixing)
{
    finish(mixing);
}
