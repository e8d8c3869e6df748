/*
 * gat_windows - inference of GAT while the sources are read window after window, on the rows before
 * projection (gat_rows.h).
 *
 * A share does not depend on rows but on two numbers of each node and head. One of them, t, is kept
 * for all nodes:
 *
 *   t_j = v_src . x_j                              from one pass over all rows
 *   u_i = v_dst . x_i                              from the rows of the destinations
 *   c_k = v_edge . f_k                             if edges have features; i itself has their mean
 *   m_i = max of s_k,  r_i = 1 / sum of e^(s_k - m_i),  s_k = leaky(t_j + u_i (+ c_k))
 *                                                  from t, u and c alone
 *   z_i = sum over the slots k of e^(s_k - m_i) r_i x_j                            source by source
 *
 * The slots are processed in the order of i's edges, i itself last. The operations and their order
 * are those of gat_rows_forward(), and so are the bits.
 *
 * The state of a destination is one row: z [heads, dim], the share of i itself, m, r, u and c of i
 * itself [heads each]. It is pass->sum for such a layer.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_GAT_WINDOWS_H
#define COMMON_NN_LAYERS_ATTENTION_GAT_WINDOWS_H

#include "common/base/error.h"
#include "common/nn/description/model_description.h"
#include "common/nn/layers/attention/window_edges.h"
#include "common/nn/operators/gather.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state of one relation. In a relation with a name i itself is no slot. */
struct gat_windows {
    uint32_t node_count;
    bool has_own; /* i itself is a slot */
    size_t heads, dim, own_dim, edge_dim;
    float *vector;      /* v_src [heads, dim]; owned, as are the next three */
    float *own_vector;  /* v_dst [heads, own_dim] */
    float *edge_vector; /* [heads, edge_dim]; NULL: the layer reads no edge features */
    float *source_term; /* t [node_count, heads] */
};

/* Returns whether the layer is of kind gat. */
bool gat_windows_are_possible(const struct model_layer *layer);
/* Returns gat_rows_pay() for a block of that many destinations and sources. */
bool gat_windows_pay(const struct model_layer *layer, uint64_t destinations, uint64_t sources);
/* Returns the bytes for a relation between types whose rows have `dim` and `own_dim` columns. */
uint64_t gat_windows_bytes(const struct model_layer *layer, uint32_t dim, uint32_t own_dim,
                           uint32_t node_count);
/* Return the floats of a destination's row, and of a thread's scratch. */
size_t gat_windows_row(const struct model_layer *layer, uint32_t dim);
size_t gat_windows_scratch(const struct model_layer *layer);

/* Begins a relation of layer `layer` (from 0) with the weights `value`. The caller releases it
 * whether this succeeds or not. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gat_windows_init(struct gat_windows *out, const struct model *model,
                                            const float *value, int layer, uint32_t relation,
                                            uint32_t node_count, struct error *err);
/* Frees the vectors and t. */
void gat_windows_release(struct gat_windows *windows);
/* Computes t of `count` nodes from `first` on; rows [count, dim]. Several threads may call it at
 * once for different nodes. */
void gat_windows_read(struct gat_windows *windows, uint32_t first, uint32_t count,
                      const float *rows);

/* Computes u of a destination, in its row. Several threads may call it at once for different
 * destinations. */
void gat_windows_read_own(const struct gat_windows *windows, const float *own, float *row);

/* The steps of one destination, after t of all nodes and its own u are computed, in this order:
 * - if edges have features: clear; own_edges for all edges and own_count, which compute its own c;
 * - begin;
 * - greatest for all edges, then total for all edges, then share;
 * - add for all edges, with their rows.
 * `edges` never contains loops. Sources are nodes, except in add. */
void gat_windows_clear(const struct gat_windows *windows, float *row);
void gat_windows_own_edges(const struct gat_windows *windows, const struct window_edges *edges,
                           float *scratch, float *row);
void gat_windows_own_count(const struct gat_windows *windows, uint64_t count, float *row);
void gat_windows_begin(const struct gat_windows *windows, uint32_t node, float *row);
void gat_windows_greatest(const struct gat_windows *windows, const struct window_edges *edges,
                          float *scratch, float *row);
void gat_windows_total(const struct gat_windows *windows, const struct window_edges *edges,
                       float *scratch, float *row);
void gat_windows_share(const struct gat_windows *windows, uint32_t node, float *row);
/* Sources count from node `first`, whose row is the first of `rows`. */
void gat_windows_add(const struct gat_windows *windows, const struct window_edges *edges,
                     uint32_t first, const struct input_rows *rows, float *scratch, float *row);

#endif
