/*
 * gat_terms - the terms of GAT's scores that are computed from rows before they are projected.
 *
 *   att . W x = v . x      in each head, with v = W^T att
 *
 * Three rows have such a term: the features of an edge, as in PyG's GATConv with edge_dim
 * (operators/edge_term.h); the row of a destination that is no source, in the block of a relation;
 * and both ends of an edge in gat_rows.h. Backward, from the gradient dt of the terms:
 *
 *   dv = sum of dt x,  datt = W dv,  dW += att dv^T,  dx += dt v
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_GAT_TERMS_H
#define COMMON_NN_LAYERS_ATTENTION_GAT_TERMS_H

#include "common/nn/layers/attention/attention.h"

/* Computes v of each head: att [heads, channels], weight [heads, channels, dim], v [heads, dim]. */
void gat_terms_vectors(const float *att, const float *weight, size_t heads, size_t channels,
                       size_t dim, float *v);
/* Writes the terms of rows first .. end - 1 into term [rows, heads], the array of all rows. */
void gat_terms_of_rows(const struct input_rows *input, const float *v, size_t heads, size_t dim,
                       uint32_t first, uint32_t end, float *term);
/* Adds dt x of these rows to dv [heads, dim]; dt is in the array [rows, heads] of all rows. */
void gat_terms_add_vectors(const struct input_rows *input, const float *term_gradient, size_t heads,
                           size_t dim, uint32_t first, uint32_t end, float *dv);
/* Adds dt v to dx [end - first, dim]. */
void gat_terms_add_rows(const float *v, const float *term_gradient, size_t heads, size_t dim,
                        uint32_t first, uint32_t end, float *dx);
/* Writes datt = W dv, and adds att dv^T to dW. */
void gat_terms_finish_vector(const float *att, const float *weight, const float *dv, size_t heads,
                             size_t channels, size_t dim, float *att_gradient,
                             float *weight_gradient);

/* The functions for struct attention_kind: the terms of edge features and of destinations that are
 * no sources. Their sums are dv [heads, edge_dim], and then dv [heads, own_dim] of such
 * destinations. */
MUST_CHECK enum error_code gat_terms_find(struct attention *attention, struct arena *arena,
                                          struct error *err);
/* Returns the floats of both sums. */
size_t gat_terms_floats(const struct attention *attention);
/* Writes the terms of destinations that are no sources. */
void gat_terms_own(struct attention *attention, uint32_t first, uint32_t end);
/* Adds to the sums, and writes the gradient of the rows of destinations that are no sources. */
void gat_terms_back(const struct attention *attention, uint32_t first, uint32_t end, float *sums);
/* Computes the gradients of the vectors' parameters and of their matrices from the sums. */
void gat_terms_finish(const struct attention *attention, const float *sums,
                      const struct layer_gradient *out);

#endif
