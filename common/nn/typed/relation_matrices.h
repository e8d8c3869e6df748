/*
 * relation_matrices - a matrix for each relation, made from fewer numbers (Schlichtkrull and
 * others, ESWC 2018).
 *
 *   free     weight [relations, in, out]
 *   bases    weight [bases, in, out], comp [relations, bases]:
 *            W_r = sum over b of comp[r, b] weight[b]
 *   blocks   weight [relations, blocks, in / blocks, out / blocks]: the blocks on the diagonal
 *
 * as in PyG's RGCNConv and RGATConv, where y = x W. Here they are expanded to [out, in] for the
 * relations that have rows.
 */
#ifndef COMMON_NN_TYPED_RELATION_MATRICES_H
#define COMMON_NN_TYPED_RELATION_MATRICES_H

#include "common/nn/typed/typed_layer.h"

struct relation_matrices {
    const struct typed_pass *pass;
    uint32_t relations, input, output;
    uint32_t bases, blocks; /* 0: not of that form */
    int weight, comp;       /* indices of the tensors in the layer */
    float **matrix;         /* [relations]: [output, input]; NULL: the relation has no rows */
    float *scratch;         /* [threads, input * output] */
};

/* Fails: ERROR_INVALID if the sources of relations have rows of several widths, for bases together
 * with blocks, or for blocks that do not divide the widths. */
MUST_CHECK enum error_code relation_matrices_check(const struct relation_schema *schema,
                                                   const struct model_layer *layer, uint32_t output,
                                                   struct error *err);
/* Adds the tensors weight and, with bases, comp to the table, under these names behind
 * "convs.<k>.". */
void relation_matrices_parameters(struct parameter_writer *writer, uint32_t output,
                                  const char *weight, const char *comp);
/* Returns the number of these tensors. */
int relation_matrices_tensors(const struct model_layer *layer);
/* Reserves room in the arena; the tensors are the first of the layer. */
MUST_CHECK enum error_code relation_matrices_new(const struct typed_pass *pass, uint32_t output,
                                                 const struct model_workspace *workspace,
                                                 struct relation_matrices *out, struct error *err);
/* Computes the matrices of the relations that have rows. */
void relation_matrices_make(const struct relation_matrices *matrices, struct thread_pool *pool);
/* Computes the gradients of the tensors from those of the matrices, in `matrix`, which it
 * overwrites. */
void relation_matrices_back(const struct relation_matrices *matrices, float *gradient,
                            struct thread_pool *pool);

#endif
