/*
 * relation_fold - which matrices of a layer by relation take projections in (projection_fold.h): made before forward, and
 * their gradients taken apart behind backward.
 *
 * They are numbered: those of the relations, then the own ones of the types.
 */
#ifndef COMMON_NN_TYPED_RELATION_FOLD_H
#define COMMON_NN_TYPED_RELATION_FOLD_H

#include "common/nn/typed/relation_sums.h"

uint32_t relation_fold_count(const struct typed_pass *pass);
/* Room for what the matrices become, M and c, or for the gradients of these, into out [relation_fold_count()]; `weight` is NULL where
 * nothing is folded: a type of rows that are projected already, or no rows. */
MUST_CHECK enum error_code relation_fold_room(const struct relation_sums *sums,
                                              const struct typed_pass *pass, struct arena *arena,
                                              struct folded_weight *out, struct error *err);
void relation_fold_make(const struct typed_pass *pass, const struct folded_weight *folded,
                        struct thread_pool *pool);
/* From the gradients that `folded` has those of the matrices, into `out`, and those of the projections, which are added to. */
MUST_CHECK enum error_code relation_fold_back(const struct typed_pass *pass,
                                              const struct folded_weight *folded,
                                              const struct relation_sums_gradient *out,
                                              const struct model_workspace *workspace,
                                              struct error *err);

#endif
