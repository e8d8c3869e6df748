/*
 * relation_convs - a layer for each relation, as HeteroConv of PyG runs them.
 *
 *   y_i = act(sum, mean or max over the relations r to the type t of
 *             conv_r(sources of r, own rows of t)_i)
 *
 * Each relation is one layer_pass. A plain graph is one type and one relation, so its layer is one
 * pass, which computes bias, activation and dropout tile by tile. If several relations lead to a
 * type, their rows are joined, and the activation is computed while a tile is joined. A layer that
 * uses no edges has a pass for each type.
 *
 * A kind reads own rows, of model_layer.own_dim columns, through layer_pass_own_rows(), and leaves
 * own_gradient. The tensors of a relation are convs.<k>.convs.<relation>.<the kind's names>, as in
 * PyG; those of a relation without a name are convs.<k>.<the kind's names>. In a relation with a
 * name a destination has no loop of its own (add_self_loops=False).
 *
 * A kind that divides by values of both ends of an edge (gcn, sgc, appnp, propagate) computes on a
 * relation from a type to itself as on a plain graph, with loops, as HeteroConv does. PyG refuses
 * such a kind between two types. Here such a relation has no loops, and its edges are divided by
 * the roots of both degrees in it (gcn_weights.h). The number of edges that begin at a source is
 * read from the reverse relation, so there must be one.
 *
 * A destination is a row of every relation to its type, even if it has no edges of that relation.
 */
#ifndef COMMON_NN_TYPED_RELATION_CONVS_H
#define COMMON_NN_TYPED_RELATION_CONVS_H

#include "common/nn/typed/typed_layer.h"

/* Fails: ERROR_INVALID for a schema, or for widths of types, on which the kind cannot compute. */
MUST_CHECK enum error_code relation_convs_check(const struct model_config *config,
                                                const struct model_layer *layer, struct error *err);
/* Writes the tensors of a layer. */
void relation_convs_parameters(struct parameter_writer *writer);
/* Writes the running statistics of the norm inside the layer. */
void relation_convs_buffers(struct parameter_writer *writer);
/* Run the functions of struct typed_kind. Backward reads pass->above beside output_gradient, an
 * element of which may be NULL, and sets pass->reader and pass->input_gradient. */
MUST_CHECK enum error_code relation_convs_forward(struct typed_pass *pass, bool keep,
                                                  const struct model_workspace *workspace,
                                                  struct error *err);
MUST_CHECK enum error_code relation_convs_backward(struct typed_pass *pass,
                                                   float *const *output_gradient,
                                                   const struct model_workspace *workspace,
                                                   float *gradient, struct error *err);

#endif
