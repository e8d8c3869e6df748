/*
 * relation_fold - folds projections (projection_fold.h) into the matrices of a layer by relation
 * before forward, and splits their gradients after backward.
 *
 * The matrices are numbered: those of the relations, then the own ones of the types.
 */
#ifndef COMMON_NN_TYPED_RELATION_FOLD_H
#define COMMON_NN_TYPED_RELATION_FOLD_H

#include "common/nn/typed/relation_sums.h"

/* Returns the number of matrices: relations and types together. */
uint32_t relation_fold_count(const struct typed_pass *pass);
/* Reserves room for the folded matrices M and c, or for their gradients, in out
 * [relation_fold_count()]. `weight` is NULL if nothing is folded: for a type whose rows are already
 * projected, or without rows. */
MUST_CHECK enum error_code relation_fold_room(const struct relation_sums *sums,
                                              const struct typed_pass *pass, struct arena *arena,
                                              struct folded_weight *out, struct error *err);
/* Computes M and c of all matrices that fold a projection. */
void relation_fold_make(const struct typed_pass *pass, const struct folded_weight *folded,
                        struct thread_pool *pool);
/* Computes the gradients of the matrices, into `out`, from those in `folded`, and adds to the
 * gradients of the projections. */
MUST_CHECK enum error_code relation_fold_back(const struct typed_pass *pass,
                                              const struct folded_weight *folded,
                                              const struct relation_sums_gradient *out,
                                              const struct model_workspace *workspace,
                                              struct error *err);

#endif
