/*
 * model_file - a model as safetensors, under the names that PyG or DGL give its parameters.
 *
 * PyG's BasicGNN (GraphSAGE, GCN) loads it with load_state_dict(..., strict=True). DGL's SAGEConv keeps
 * the bias on the self side and its GraphConv has the weight transposed; the functions are the same.
 */
#ifndef COMMON_NN_MODEL_FILE_H
#define COMMON_NN_MODEL_FILE_H

#include "common/base/error.h"
#include "common/nn/model.h"

#include <stdint.h>

enum model_flavor { MODEL_FLAVOR_PYG, MODEL_FLAVOR_DGL };

/* Writes `path` whole or not at all. value [model->value_count]. The metadata says model, sizes, run and
 * version. Equal input gives equal bytes. */
MUST_CHECK enum error_code model_file_write(const struct model *model, const float *value,
                                            const char *run_id, int64_t version,
                                            enum model_flavor flavor, const char *path,
                                            struct error *err);

#endif
