/*
 * gatv2_windows - inference of GATv2 while the sources are read window after window
 * (gatv2_layer.c).
 *
 * A score needs the projected rows of both ends. So the rows of sources are projected, once for as
 * many destinations as fit in memory. Softmax and sum are computed edge by edge, reading each edge
 * once (Milakov and Gimelshein 2018: online softmax). In each head, m, l and y are the greatest
 * score, the sum of exponentials and the sum of rows so far:
 *
 *   p_j = W_l x_j + b_l                     of a window's sources
 *   q_i = W_r x_i + b_r                     of destinations
 *   m' = max(m, s_k),  a = e^(m - m'),  b = e^(s_k - m')
 *   l  = a l + b,  y = a y + b p_j          and in the end y / l
 *
 * The edges are processed in ascending order of their sources, i itself at its place among them, so
 * neither windows nor threads change a bit. The rounding differs from attention_forward(), so
 * either all tiles of a layer are computed here, or none.
 *
 * The state of a destination is one row: y [width], q [width], m and l [heads each]. It is
 * pass->sum for such a layer.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_GATV2_WINDOWS_H
#define COMMON_NN_LAYERS_ATTENTION_GATV2_WINDOWS_H

#include "common/base/error.h"
#include "common/nn/description/model_description.h"
#include "common/nn/layers/attention/window_edges.h"
#include "common/nn/layers/layer_pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gatv2_windows {
    size_t heads, channels, width, dim, edge_dim;
    const float *att; /* of the layer; borrowed, as are the next four */
    const float *source_weight, *source_bias;
    const float *destination_weight, *destination_bias;
    float *edge_matrix; /* W_e^T [edge_dim, width]; owned; NULL: the layer reads no edge features */
};

struct attention_kind;                         /* attention.h */
extern const struct attention_kind gatv2_kind; /* gatv2_layer.c */

/* Returns whether the layer is of kind gatv2. */
bool gatv2_windows_are_possible(const struct model_layer *layer);
/* Return the floats of a destination's row, of a source's row, and of a thread's scratch. */
size_t gatv2_windows_row(const struct model_layer *layer);
size_t gatv2_windows_source_row(const struct model_layer *layer);
size_t gatv2_windows_scratch(const struct model_layer *layer);
/* Returns the bytes of edge_matrix. */
uint64_t gatv2_windows_bytes(const struct model_layer *layer);

/* Begins layer `layer` (from 0) with the weights `value`, which are borrowed. The caller releases
 * it whether this succeeds or not. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gatv2_windows_init(struct gatv2_windows *out, const struct model *model,
                                              const float *value, int layer, struct error *err);
/* Frees edge_matrix. */
void gatv2_windows_release(struct gatv2_windows *windows);

/* Computes p or q [count, width] from `count` rows [count, dim]. The bits depend on how many rows
 * are projected together. */
void gatv2_windows_project(const struct gatv2_windows *windows, bool is_source, uint32_t count,
                           const float *rows, float *out);

/* The steps of one destination, in this order: begin, with its q; then all its edges, and i itself
 * among them. */
void gatv2_windows_begin(const struct gatv2_windows *windows, const float *own, float *row);
/* The sources of `edges` index the rows of p from `rows` on. The features of i itself are the mean
 * of those of its other edges, or 0. */
void gatv2_windows_add(const struct gatv2_windows *windows, const struct window_edges *edges,
                       const float *rows, float *scratch, float *row);

/* The function for struct layer_type: computes the output of the destinations whose rows are
 * pass->sum. */
MUST_CHECK enum error_code gatv2_windows_forward(struct layer_pass *pass, struct arena *arena,
                                                 struct thread_pool *pool, struct error *err);

#endif
