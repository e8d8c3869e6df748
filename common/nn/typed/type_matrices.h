/*
 * type_matrices - kind mlp on a typed graph: a matrix and a bias for each type, y = x W_t^T + b_t, without the graph.
 *
 * As the last layer it is one matrix, `lin`, for the rows of the target type alone, as PyG's examples end; before that
 * lins.<k>.<type>.
 */
#ifndef COMMON_NN_TYPED_TYPE_MATRICES_H
#define COMMON_NN_TYPED_TYPE_MATRICES_H

#include "common/nn/typed/typed_layer.h"

extern const struct typed_kind type_matrices;

#endif
