/*
 * model_file - a model as safetensors, under the names that PyG or DGL give its parameters.
 *
 * PyG: BasicGNN (GraphSAGE, GCN) loads the file with load_state_dict(..., strict=True) and computes
 * the same function. GAT (GATv2 with v2) and norms also have PyG's names and shapes:
 * norm="batch_norm", and norm="layer_norm" with norm_kwargs={"mode": "node"}. BasicGNN has no
 * residuals. If the widths differ, the matrix of a residual is residuals.<k>.weight. Layer k adds
 * x[:n] or x[:n] @ weight.T to its output, before the norm.
 *
 * DGL: SAGEConv (mean) keeps the bias on the self side and computes the same function. GraphConv
 * stores the weight transposed and computes another function: it adds no loops and divides by the
 * root of the *out*-degree of the source, where GCN (Kipf and Welling 2017, and PyG) divides by the
 * root of its in-degree, counting a loop at each node. model_file_note() says how to compute GCN's
 * function with it. Attention is not written for DGL, because DGL's last layer keeps its heads
 * apart.
 */
#ifndef COMMON_NN_MODEL_FILE_H
#define COMMON_NN_MODEL_FILE_H

#include "common/base/error.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/model.h"

#include <stdint.h>

enum model_flavor { MODEL_FLAVOR_PYG, MODEL_FLAVOR_DGL };

/* Writes `path` whole or not at all. value [model->value_count]. The metadata says how to build the
 * model and names its run and version (model_texts.h). If `card` is not NULL, it is stored as the
 * text `card`, which describes the graph that the model was trained on. Equal input gives equal
 * bytes. Fails: ERROR_INVALID for a flavour that has no such layers; ERROR_IO. */
MUST_CHECK enum error_code model_file_write(const struct model *model, const float *value,
                                            const char *run_id, int64_t version,
                                            enum model_flavor flavor, const char *card,
                                            const char *path, struct error *err);

/* Reads the parameters from `content`, which has PyG's names, into value [model->value_count];
 * `name` appears in messages. Fails: ERROR_INPUT naming a tensor that is missing, that has another
 * shape or number type, or that the model does not have. */
MUST_CHECK enum error_code model_file_take(const struct model *model,
                                           const struct safetensors *content, const char *name,
                                           float *value, struct error *err);

/* Returns a parameter under PyG's name and in its shape; borrows name and values. value: of the
 * whole model. */
struct safetensors_tensor model_file_tensor(const struct parameter *parameter, const float *value);

/* Returns a note for people on how to use the file, or NULL if the names say enough. */
const char *model_file_note(enum layer_kind layer, enum model_flavor flavor);

#endif
