#include "common/nn/layers/attention/gatv2_windows.h"

#include "common/base/memory.h"
#include "common/math/vector_exp.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/layers/attention/gatv2_score.h"

#include <float.h>

/* Edges whose rows stay in the second-level cache between their scores and their sum, and how many
 * edges ahead a row is prefetched. */
enum { EDGES_AT_ONCE = 32, EDGES_AHEAD = 2 };

bool gatv2_windows_are_possible(const struct model_layer *layer)
{
    return layer->type == layer_type_of(LAYER_GATV2);
}

static size_t heads_of(const struct model_layer *layer)
{
    return (size_t)layer->config.option.heads;
}

size_t gatv2_windows_source_row(const struct model_layer *layer)
{
    return heads_of(layer) * attention_channels(layer);
}

size_t gatv2_windows_row(const struct model_layer *layer)
{
    return 2 * (gatv2_windows_source_row(layer) + heads_of(layer));
}

size_t gatv2_windows_scratch(const struct model_layer *layer)
{
    return gatv2_windows_source_row(layer) + (size_t)2 * EDGES_AT_ONCE * heads_of(layer);
}

uint64_t gatv2_windows_bytes(const struct model_layer *layer)
{
    return layer->edge_dim * gatv2_windows_source_row(layer) * sizeof(float);
}

static enum error_code transpose_edge_weight(struct gatv2_windows *w, const float *weight,
                                             struct error *err)
{
    const enum error_code rc =
        memory_new(&w->edge_matrix, w->edge_dim * w->width, "weights of edge features", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t c = 0; c < w->width; c++)
        for (size_t d = 0; d < w->edge_dim; d++)
            w->edge_matrix[d * w->width + c] = weight[c * w->edge_dim + d];
    return ERROR_NONE;
}

enum error_code gatv2_windows_init(struct gatv2_windows *out, const struct model *model,
                                   const float *value, int layer, struct error *err)
{
    const struct model_layer *own = &model->layer[layer];
    const struct parameter *parameter = &model->parameter[own->first_parameter];
    const struct attention_parameters *at = &gatv2_kind.parameters;
    *out = (struct gatv2_windows){
        .heads = heads_of(own),
        .channels = attention_channels(own),
        .width = gatv2_windows_source_row(own),
        .dim = own->input_dim,
        .edge_dim = own->edge_dim,
        .att = value + parameter[at->vector[0]].offset,
        .source_weight = value + parameter[at->source_weight].offset,
        .source_bias = value + parameter[at->source_bias].offset,
        .destination_weight = value + parameter[at->destination_weight].offset,
        .destination_bias = value + parameter[at->destination_bias].offset,
    };
    if (out->edge_dim == 0)
        return ERROR_NONE;
    return transpose_edge_weight(out, value + parameter[at->edge_weight].offset, err);
}

void gatv2_windows_release(struct gatv2_windows *windows)
{
    memory_free(windows->edge_matrix);
    *windows = (struct gatv2_windows){0};
}

void gatv2_windows_project(const struct gatv2_windows *windows, bool is_source, uint32_t count,
                           const float *rows, float *out)
{
    const struct gatv2_windows *w = windows;
    attention_project(rows_view_of(matrix_view_of(rows, count, w->dim)),
                      is_source ? w->source_weight : w->destination_weight,
                      is_source ? w->source_bias : w->destination_bias, w->width, out);
}

/* Return the places of these arrays in a destination's row. */
static float *own_of(const struct gatv2_windows *w, float *row)
{
    return row + w->width;
}

static float *greatest_of(const struct gatv2_windows *w, float *row)
{
    return own_of(w, row) + w->width;
}

static float *total_of(const struct gatv2_windows *w, float *row)
{
    return greatest_of(w, row) + w->heads;
}

void gatv2_windows_begin(const struct gatv2_windows *windows, const float *own, float *row)
{
    const struct gatv2_windows *w = windows;
    for (size_t c = 0; c < w->width; c++) {
        row[c] = 0;
        own_of(w, row)[c] = own[c];
    }
    for (size_t h = 0; h < w->heads; h++) {
        greatest_of(w, row)[h] = -FLT_MAX;
        total_of(w, row)[h] = 0;
    }
}

/* Returns the vector that the score adds to a source row: q_i, or, for an edge with features, q_i +
 * W_e f in `room`. */
CPU_INLINE const float *end_row_of(const struct gatv2_windows *w, const float *own,
                                   const float *feature, float *room)
{
    if (!feature)
        return own;
    vector_copy(room, own, w->width);
    for (size_t d = 0; d < w->edge_dim; d++)
        vector_add_scaled(room, w->edge_matrix + d * w->width, feature[d], w->width);
    return room;
}

/* Computes a and b of gatv2_windows.h for each edge and head, [count, heads] each, and updates
 * `greatest` [heads]. */
CPU_INLINE void find_factors(const struct gatv2_windows *w, const struct window_edges *edges,
                             const float *rows, const float *own, float *room, float *greatest,
                             float *a, float *b)
{
    for (uint32_t k = 0; k < edges->count; k++) {
        const float *p = rows + edges->source[k] * w->width;
        const float *feature = edges->feature ? edges->feature + k * w->edge_dim : NULL;
        const float *q = end_row_of(w, own, feature, room);
        if (k + EDGES_AHEAD < edges->count)
            vector_prefetch(rows + edges->source[k + EDGES_AHEAD] * w->width,
                            w->width * sizeof *rows);
        for (size_t h = 0, at = 0; h < w->heads; h++, at += w->channels) {
            const float score = gatv2_score(w->att + at, p + at, q + at, w->channels);
            const float before = greatest[h], most = score > before ? score : before;
            a[k * w->heads + h] = before - most;
            b[k * w->heads + h] = score - most;
            greatest[h] = most;
        }
    }
    vector_exp(a, edges->count * w->heads);
    vector_exp(b, edges->count * w->heads);
}

CPU_KERNEL(add_gatv2_edges,
           (const struct gatv2_windows *w, const struct window_edges *edges, const float *rows,
            float *scratch, float *row),
           (w, edges, rows, scratch, row))
{
    const size_t heads = w->heads, channels = w->channels;
    float *own = row + w->width, *greatest = own + w->width, *total = greatest + heads;
    float *a = scratch + w->width, *b = a + EDGES_AT_ONCE * heads;
    find_factors(w, edges, rows, own, scratch, greatest, a, b);
    for (uint32_t k = 0; k < edges->count; k++, a += heads, b += heads) {
        const float *p = rows + edges->source[k] * w->width;
        for (size_t h = 0; h < heads; h++) {
            if (a[h] != 1) /* there is a new maximum */
                vector_scale(row + h * channels, a[h], channels);
            vector_add_scaled(row + h * channels, p + h * channels, b[h], channels);
            total[h] = vector_multiply_add(total[h], a[h], b[h]);
        }
    }
}

void gatv2_windows_add(const struct gatv2_windows *windows, const struct window_edges *edges,
                       const float *rows, float *scratch, float *row)
{
    for (uint32_t at = 0; at < edges->count; at += EDGES_AT_ONCE) {
        const uint32_t left = edges->count - at;
        const struct window_edges some = {
            .count = left < EDGES_AT_ONCE ? left : EDGES_AT_ONCE,
            .source = edges->source + at,
            .feature = edges->feature ? edges->feature + at * windows->edge_dim : NULL};
        add_gatv2_edges(windows, &some, rows, scratch, row);
    }
}

/* --- the output --- */

struct forward_job {
    struct layer_pass *pass;
    struct attention *attention;
    float *scratch; /* [threads, scratch_size]: rows by heads, if they do not stand side by side */
    size_t scratch_size;
};

/* Writes y / l of these destinations into rows [end - first, width]. */
CPU_KERNEL(divide_sums,
           (const float *sum, size_t heads, size_t channels, uint32_t first, uint32_t end,
            float *rows),
           (sum, heads, channels, first, end, rows))
{
    const size_t width = heads * channels, stride = 2 * (width + heads);
    for (uint32_t i = first; i < end; i++, rows += width) {
        const float *row = sum + i * stride, *total = row + 2 * width + heads;
        vector_copy(rows, row, width);
        for (size_t h = 0; h < heads; h++)
            vector_scale(rows + h * channels, 1 / total[h], channels);
    }
}

static void finish_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const struct attention *a = job->attention;
    const struct layer_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.destination_count);
    float *output = (float *)pass->output + (size_t)first * pass->output_dim;
    float *rows = a->joins ? output : job->scratch + (size_t)thread * job->scratch_size;
    divide_sums(pass->sum, a->shape.heads, a->shape.channels, first, end, rows);
    if (!a->joins)
        attention_mean_of_heads(&a->shape, rows, end - first, output);
    layer_pass_finish(pass, output, first, end);
}

enum error_code gatv2_windows_forward(struct layer_pass *pass, struct arena *arena,
                                      struct thread_pool *pool, struct error *err)
{
    struct forward_job job = {.pass = pass};
    const size_t threads = (size_t)thread_pool_size(pool);
    enum error_code rc = attention_new(&gatv2_kind, pass, arena, &job.attention, err);
    if (rc != ERROR_NONE)
        return rc;
    job.scratch_size = layer_pass_scratch(TILE_ROWS * job.attention->width);
    if (!job.attention->joins)
        rc = arena_new(arena, &job.scratch, threads * job.scratch_size, "attention", err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), finish_tile, &job);
    return ERROR_NONE;
}
