/*
 * model_file - a model as safetensors, under the names that PyG or DGL give its parameters.
 *
 * PyG's BasicGNN (GraphSAGE, GCN) loads it with load_state_dict(..., strict=True) and computes the same
 * function. GAT (with v2 for GATv2) has the names and shapes of PyG's. So have norms: norm="batch_norm", and
 * norm="layer_norm" with norm_kwargs={"mode": "node"}. BasicGNN has no residuals: their matrices, where the widths differ,
 * are residuals.<k>.weight, and layer k adds x[:n] or x[:n] @ weight.T to its output, before the norm.
 *
 * DGL: SAGEConv (mean) keeps the bias on the self side and computes the same function. GraphConv has the weight
 * transposed, and another function: it adds no loops, and divides by the root of the *out*-degree of the source,
 * where GCN (Kipf and Welling 2017, and PyG) divides by the root of its in-degree, a loop at each node counted.
 * model_file_note() says how to get GCN's answers from it. Attention is not written for DGL, whose last layer keeps its
 * heads apart.
 */
#ifndef COMMON_NN_MODEL_FILE_H
#define COMMON_NN_MODEL_FILE_H

#include "common/base/error.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/model.h"

#include <stdint.h>

enum model_flavor { MODEL_FLAVOR_PYG, MODEL_FLAVOR_DGL };

/* Writes `path` whole or not at all. value [model->value_count]. The metadata says how to build the
 * model, and of which run and version it is (model_texts.h); `card`, if not NULL, is its text of that name, which says what
 * graph it was trained on. Equal input gives equal bytes.
 * Fails: ERROR_INVALID for a flavour that has no such layers; ERROR_IO. */
MUST_CHECK enum error_code model_file_write(const struct model *model, const float *value,
                                            const char *run_id, int64_t version,
                                            enum model_flavor flavor, const char *card,
                                            const char *path, struct error *err);

/* The reverse for PyG's names: `content` as value [model->value_count]; `name` stands in messages.
 * Fails: ERROR_INPUT naming a tensor that is missing, of another shape or number, or not the model's. */
MUST_CHECK enum error_code model_file_take(const struct model *model,
                                           const struct safetensors *content, const char *name,
                                           float *value, struct error *err);

/* A parameter under PyG's name and in its shape; borrows name and values. value: of the whole model. */
struct safetensors_tensor model_file_tensor(const struct parameter *parameter, const float *value);

/* What has to be known to use the file beyond its names, for people; NULL: nothing. */
const char *model_file_note(enum layer_kind layer, enum model_flavor flavor);

#endif
