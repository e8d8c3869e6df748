#include "common/nn/layers/attention/gat_windows.h"

#include "common/base/memory.h"
#include "common/math/vector_exp.h"
#include "common/nn/layers/attention/gat_rows.h"
#include "common/nn/layers/attention/gat_terms.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/slot_aggregation.h"

#include <float.h>

/* Numbers of a destination in each head beside its sum. */
enum { TERMS = 5 };

bool gat_windows_are_possible(const struct model_layer *layer)
{
    return layer->type == layer_type_of(LAYER_GAT);
}

bool gat_windows_pay(const struct model_layer *layer, uint64_t destinations, uint64_t sources)
{
    return gat_rows_pay_for(layer, destinations, sources);
}

static size_t heads_of(const struct model_layer *layer)
{
    return (size_t)layer->config.option.heads;
}

uint64_t gat_windows_bytes(const struct model_layer *layer, uint32_t dim, uint32_t own_dim,
                           uint32_t node_count)
{
    return heads_of(layer) * sizeof(float) *
           (node_count + (uint64_t)dim + own_dim + layer->edge_dim);
}

size_t gat_windows_row(const struct model_layer *layer, uint32_t dim)
{
    return heads_of(layer) * ((size_t)dim + TERMS);
}

size_t gat_windows_scratch(const struct model_layer *layer)
{
    return 2 * heads_of(layer) * WINDOW_EDGES_MAX; /* scores, and terms of features */
}

/* Computes v of one of the matrices. */
static enum error_code find_vector(const struct model_layer *layer, const float *att,
                                   const float *weight, size_t dim, float **out, struct error *err)
{
    const size_t heads = heads_of(layer);
    const enum error_code rc = memory_new(out, heads * dim, "terms of attention", err);
    if (rc == ERROR_NONE)
        gat_terms_vectors(att, weight, heads, attention_channels(layer), dim, *out);
    return rc;
}

enum error_code gat_windows_init(struct gat_windows *out, const struct model *model,
                                 const float *value, int layer, uint32_t relation,
                                 uint32_t node_count, struct error *err)
{
    const struct model_layer *own = &model->layer[layer];
    const struct relation *ends = &model->config.types.schema.relation[relation];
    const struct attention_parameters *at =
        &(own->in_relation ? &gat_relation_kind : &gat_kind)->parameters;
    const struct parameter *parameter =
        &model->parameter[own->first_parameter + (int)relation * own->place_parameters];
    const int own_weight = own->in_relation ? at->own_weight : at->source_weight;
    *out = (struct gat_windows){.node_count = node_count,
                                .has_own = !own->in_relation,
                                .heads = heads_of(own),
                                .dim = own->type_input_dim[ends->source_type],
                                .own_dim = own->type_input_dim[ends->target_type],
                                .edge_dim = own->edge_dim};
    enum error_code rc =
        find_vector(own, value + parameter[at->vector[0]].offset,
                    value + parameter[at->source_weight].offset, out->dim, &out->vector, err);
    if (rc == ERROR_NONE)
        rc = find_vector(own, value + parameter[at->vector[1]].offset,
                         value + parameter[own_weight].offset, out->own_dim, &out->own_vector, err);
    if (rc == ERROR_NONE && out->edge_dim)
        rc = find_vector(own, value + parameter[at->edge_vector].offset,
                         value + parameter[at->edge_weight].offset, out->edge_dim,
                         &out->edge_vector, err);
    return rc == ERROR_NONE
               ? memory_new(&out->source_term, node_count * out->heads, "terms of attention", err)
               : rc;
}

void gat_windows_release(struct gat_windows *windows)
{
    memory_free(windows->vector);
    memory_free(windows->own_vector);
    memory_free(windows->edge_vector);
    memory_free(windows->source_term);
    *windows = (struct gat_windows){0};
}

void gat_windows_read(struct gat_windows *windows, uint32_t first, uint32_t count,
                      const float *rows)
{
    const struct gat_windows *w = windows;
    const struct input_rows input = {.base = rows, .stride = w->dim};
    gat_terms_of_rows(&input, w->vector, w->heads, w->dim, 0, count,
                      w->source_term + first * w->heads);
}

/* Return the places of the terms in a destination's row. */
static float *self_of(const struct gat_windows *w, float *row)
{
    return row + w->heads * w->dim;
}

static float *greatest_of(const struct gat_windows *w, float *row)
{
    return self_of(w, row) + w->heads;
}

static float *inverse_of(const struct gat_windows *w, float *row)
{
    return greatest_of(w, row) + w->heads;
}

static float *own_term_of(const struct gat_windows *w, float *row)
{
    return inverse_of(w, row) + w->heads;
}

static float *own_edge_of(const struct gat_windows *w, float *row)
{
    return own_term_of(w, row) + w->heads;
}

void gat_windows_read_own(const struct gat_windows *windows, const float *own, float *row)
{
    const struct gat_windows *w = windows;
    const struct input_rows input = {.base = own, .stride = w->own_dim};
    gat_terms_of_rows(&input, w->own_vector, w->heads, w->own_dim, 0, 1, own_term_of(w, row));
}

static float leaky(float x)
{
    return x > 0 ? x : EDGE_SCORE_SLOPE * x;
}

/* Computes c of some edges, [count, heads]. */
CPU_KERNEL(find_edge_terms,
           (const float *feature, const float *vector, size_t count, size_t heads, size_t dim,
            float *term),
           (feature, vector, count, heads, dim, term))
{
    for (size_t k = 0; k < count; k++)
        for (size_t h = 0; h < heads; h++)
            term[k * heads + h] = vector_dot(feature + k * dim, vector + h * dim, dim);
}

/* Computes the scores of `edges`, whose sources count from node `first`. With features, their terms
 * are written behind the scores. */
static void find_scores(const struct gat_windows *w, const float *destination,
                        const struct window_edges *edges, uint32_t first, float *score)
{
    const size_t heads = w->heads;
    const float *edge = score + WINDOW_EDGES_MAX * heads;
    if (edges->feature)
        find_edge_terms(edges->feature, w->edge_vector, edges->count, heads, w->edge_dim,
                        score + WINDOW_EDGES_MAX * heads);
    for (uint32_t k = 0; k < edges->count; k++) {
        const float *term = w->source_term + ((size_t)edges->source[k] + first) * heads;
        for (size_t h = 0; h < heads; h++) {
            const float sum = term[h] + destination[h];
            *score++ = leaky(edges->feature ? sum + *edge++ : sum);
        }
    }
}

static void find_own_score(const struct gat_windows *w, uint32_t node, float *row, float *score)
{
    const float *term = w->source_term + node * w->heads;
    for (size_t h = 0; h < w->heads; h++) {
        const float sum = term[h] + own_term_of(w, row)[h];
        score[h] = leaky(w->edge_dim ? sum + own_edge_of(w, row)[h] : sum);
    }
}

CPU_KERNEL(find_exponentials,
           (float *restrict score, const float *restrict greatest, size_t count, size_t heads),
           (score, greatest, count, heads))
{
    for (size_t k = 0; k < count; k++)
        for (size_t h = 0; h < heads; h++)
            score[k * heads + h] = score[k * heads + h] - greatest[h];
    vector_exp(score, count * heads);
}

void gat_windows_clear(const struct gat_windows *windows, float *row)
{
    for (size_t h = 0; h < windows->heads; h++)
        own_edge_of(windows, row)[h] = 0;
}

void gat_windows_own_edges(const struct gat_windows *windows, const struct window_edges *edges,
                           float *scratch, float *row)
{
    const size_t heads = windows->heads;
    float *own = own_edge_of(windows, row);
    find_edge_terms(edges->feature, windows->edge_vector, edges->count, heads, windows->edge_dim,
                    scratch);
    for (size_t at = 0; at < edges->count * heads; at += heads)
        for (size_t h = 0; h < heads; h++)
            own[h] += scratch[at + h];
}

void gat_windows_own_count(const struct gat_windows *windows, uint64_t count, float *row)
{
    const float share = 1 / (float)count;
    for (size_t h = 0; count && h < windows->heads; h++)
        own_edge_of(windows, row)[h] *= share;
}

void gat_windows_begin(const struct gat_windows *windows, uint32_t node, float *row)
{
    const struct gat_windows *w = windows;
    for (size_t c = 0; c < w->heads * w->dim; c++)
        row[c] = 0;
    for (size_t h = 0; h < w->heads; h++) {
        inverse_of(w, row)[h] = self_of(w, row)[h] = 0;
        greatest_of(w, row)[h] = -FLT_MAX;
    }
    if (w->has_own)
        find_own_score(w, node, row, greatest_of(w, row));
}

void gat_windows_greatest(const struct gat_windows *windows, const struct window_edges *edges,
                          float *scratch, float *row)
{
    const size_t heads = windows->heads;
    float *most = greatest_of(windows, row);
    find_scores(windows, own_term_of(windows, row), edges, 0, scratch);
    for (size_t at = 0; at < edges->count * heads; at += heads)
        for (size_t h = 0; h < heads; h++)
            most[h] = scratch[at + h] > most[h] ? scratch[at + h] : most[h];
}

void gat_windows_total(const struct gat_windows *windows, const struct window_edges *edges,
                       float *scratch, float *row)
{
    const size_t heads = windows->heads;
    float *sum = inverse_of(windows, row);
    find_scores(windows, own_term_of(windows, row), edges, 0, scratch);
    find_exponentials(scratch, greatest_of(windows, row), edges->count, heads);
    for (size_t at = 0; at < edges->count * heads; at += heads)
        for (size_t h = 0; h < heads; h++)
            sum[h] += scratch[at + h];
}

void gat_windows_share(const struct gat_windows *windows, uint32_t node, float *row)
{
    const struct gat_windows *w = windows;
    float *self = self_of(w, row), *inverse = inverse_of(w, row);
    if (w->has_own) {
        find_own_score(w, node, row, self);
        find_exponentials(self, greatest_of(w, row), 1, w->heads);
    }
    for (size_t h = 0; h < w->heads; h++) {
        inverse[h] = 1 / (inverse[h] + self[h]);
        self[h] *= inverse[h];
    }
}

void gat_windows_add(const struct gat_windows *windows, const struct window_edges *edges,
                     uint32_t first, const struct input_rows *rows, float *scratch, float *row)
{
    const size_t heads = windows->heads;
    const float *inverse = inverse_of(windows, row);
    find_scores(windows, own_term_of(windows, row), edges, first, scratch);
    find_exponentials(scratch, greatest_of(windows, row), edges->count, heads);
    for (size_t at = 0; at < edges->count * heads; at += heads)
        for (size_t h = 0; h < heads; h++)
            scratch[at + h] *= inverse[h];
    slot_aggregation_shared_add(rows, edges->source, scratch, edges->count, heads,
                                (uint32_t)windows->dim, row);
}
