#include "common/nn/model_file.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct named_tensors {
    char name[PARAMETER_COUNT_MAX][PARAMETER_NAME_SIZE];
    struct safetensors_tensor tensor[PARAMETER_COUNT_MAX];
    int64_t count[PARAMETER_COUNT_MAX]; /* values of the parameters that are whole numbers */
    float *transposed;                  /* [value_count], owned; NULL for PyG */
};

static void transpose(const float *from, uint32_t rows, uint32_t cols, float *to)
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < cols; c++)
            to[(size_t)c * rows + r] = from[(size_t)r * cols + c];
}

static void rename_for_dgl(const struct model *model, int layer, const float *value,
                           struct named_tensors *named)
{
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX];
    const int count = model->layer[layer].type->parameters(&model->layer[layer], own);
    for (int i = 0; i < count; i++) {
        const int index = model->layer[layer].first_parameter + i;
        const struct parameter *p = &model->parameter[index];
        (void)snprintf(named->name[index], PARAMETER_NAME_SIZE, "layers.%d.%s", layer, own[i].dgl);
        if (!own[i].dgl_transposes)
            continue;
        transpose(value + p->offset, p->rows, p->cols, named->transposed + p->offset);
        named->tensor[index].data = named->transposed + p->offset;
        named->tensor[index].dim[0] = p->cols;
        named->tensor[index].dim[1] = p->rows;
    }
}

struct safetensors_tensor model_file_tensor(const struct parameter *parameter, const float *value)
{
    struct safetensors_tensor tensor = {.name = parameter->name,
                                        .dim_count = parameter->dim_count,
                                        .data = value + parameter->offset};
    for (int i = 0; i < parameter->dim_count; i++)
        tensor.dim[i] = parameter->dim[i];
    return tensor;
}

static void name_tensors(const struct model *model, const float *value, enum model_flavor flavor,
                         struct named_tensors *named)
{
    for (int i = 0; i < model->parameter_count; i++) {
        memcpy(named->name[i], model->parameter[i].name, sizeof named->name[i]);
        named->tensor[i] = model_file_tensor(&model->parameter[i], value);
        named->tensor[i].name = named->name[i];
        if (!model->parameter[i].is_count)
            continue;
        named->count[i] = (int64_t)value[model->parameter[i].offset];
        named->tensor[i].type = SAFETENSORS_I64;
        named->tensor[i].dim_count = 0;
        named->tensor[i].data = &named->count[i];
    }
    for (int layer = 0; flavor == MODEL_FLAVOR_DGL && layer < model->config.layer_count; layer++)
        rename_for_dgl(model, layer, value, named);
}

static enum error_code encode_and_write(const struct model *model, struct named_tensors *named,
                                        const char *run_id, int64_t version,
                                        enum model_flavor flavor, const char *card,
                                        const char *path, struct error *err)
{
    struct model_texts texts;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum error_code rc = model_texts_find(&texts, model, run_id, version, flavor, card, err);
    const struct safetensors content = {.tensor = named->tensor,
                                        .tensor_count = (size_t)model->parameter_count,
                                        .metadata = texts.text,
                                        .metadata_count = texts.count};
    if (rc == ERROR_NONE)
        rc = safetensors_encode(&content, &bytes, &size, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, bytes, size, false, err);
    model_texts_release(&texts);
    memory_free(bytes);
    return rc;
}

/* Refuses a model whose layers DGL does not have. */
static enum error_code check_dgl_has(const struct model *model, struct error *err)
{
    if (model_is_typed(model))
        return error_set(err, ERROR_INVALID,
                         "models over relations are written for PyG alone: HeteroGraphConv of DGL "
                         "calls its tensors otherwise");
    for (int i = 0; i < model->config.layer_count; i++) {
        const struct model_layer *layer = &model->layer[i];
        struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
        if (layer->config.residual || layer->config.norm != NORM_NONE ||
            layer->config.inner_norm != NORM_NONE)
            return error_set(err, ERROR_INVALID,
                             "layer %d has a norm or a residual: such models are written for PyG "
                             "alone, since DGL has no names for them",
                             i + 1);
        if (layer->config.inner_activation != ACTIVATION_RELU)
            return error_set(err, ERROR_INVALID,
                             "layer %d has %s between its two matrices: such models are written "
                             "for PyG alone, since graphmill's DGL form has ReLU there",
                             i + 1, activation_names[layer->config.inner_activation]);
        if (layer->type->has_heads)
            return error_set(err, ERROR_INVALID,
                             "models of kind %s are written for PyG alone: DGL's last layer does "
                             "not take the mean of its heads",
                             layer_names[layer->config.kind]);
        if (layer->type->parameters(layer, own) > 0 && !own[0].dgl)
            return error_set(err, ERROR_INVALID,
                             "layers of kind %s are written for PyG alone: DGL has none like them",
                             layer_names[layer->config.kind]);
    }
    return ERROR_NONE;
}

enum error_code model_file_write(const struct model *model, const float *value, const char *run_id,
                                 int64_t version, enum model_flavor flavor, const char *card,
                                 const char *path, struct error *err)
{
    struct named_tensors *named = NULL;
    enum error_code rc = flavor == MODEL_FLAVOR_DGL ? check_dgl_has(model, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = memory_new(&named, 1, "tensor names", err);
    if (rc == ERROR_NONE && flavor == MODEL_FLAVOR_DGL)
        rc = memory_new(&named->transposed, model->value_count, "transposed weights", err);
    if (rc == ERROR_NONE) {
        name_tensors(model, value, flavor, named);
        rc = encode_and_write(model, named, run_id, version, flavor, card, path, err);
    }
    if (named)
        memory_free(named->transposed);
    memory_free(named);
    return rc;
}

/* --- reading --- */

static void print_shape(const struct safetensors_tensor *tensor, char text[64])
{
    size_t at = 0;
    text[at++] = '[';
    for (int i = 0; i < tensor->dim_count && at < 48; i++)
        at += (size_t)snprintf(text + at, 64 - at, "%s%" PRIu64, i ? ", " : "", tensor->dim[i]);
    (void)snprintf(text + at, 64 - at, "]");
}

static bool same_shape(const struct safetensors_tensor *a, const struct safetensors_tensor *b)
{
    return a->type == b->type && a->dim_count == b->dim_count &&
           memcmp(a->dim, b->dim, (size_t)a->dim_count * sizeof *a->dim) == 0;
}

static enum error_code take_tensor(const struct safetensors *content, const char *name,
                                   const struct safetensors_tensor *like, bool is_count,
                                   uint64_t bytes, float *value, struct error *err)
{
    const struct safetensors_tensor *found = safetensors_find(content, like->name);
    char expected[64], shape[64];
    int64_t count = 0;
    print_shape(like, expected);
    if (!found)
        return error_set(err, ERROR_INPUT, "%s: expected a tensor %s of shape %s, found none", name,
                         like->name, expected);
    if (!same_shape(found, like)) {
        print_shape(found, shape);
        return error_set(err, ERROR_INPUT, "%s: tensor %s has shape %s, expected %s of %s", name,
                         like->name, shape, expected, is_count ? "I64" : "F32");
    }
    if (!is_count)
        memcpy(value, found->data, bytes);
    else
        memcpy(&count, found->data, sizeof count);
    if (is_count)
        *value = (float)count;
    return ERROR_NONE;
}

enum error_code model_file_take(const struct model *model, const struct safetensors *content,
                                const char *name, float *value, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < model->parameter_count; i++) {
        const struct parameter *p = &model->parameter[i];
        struct safetensors_tensor like = model_file_tensor(p, value);
        if (p->is_count) {
            like.type = SAFETENSORS_I64;
            like.dim_count = 0;
        }
        rc = take_tensor(content, name, &like, p->is_count,
                         (uint64_t)p->rows * p->cols * sizeof *value, value + p->offset, err);
    }
    if (rc == ERROR_NONE && content->tensor_count != (size_t)model->parameter_count)
        rc = error_set(err, ERROR_INPUT, "%s: %zu tensors, expected the model's %d", name,
                       content->tensor_count, model->parameter_count);
    return rc;
}

const char *model_file_note(enum layer_kind layer, enum model_flavor flavor)
{
    return flavor == MODEL_FLAVOR_DGL ? layer_type_of(layer)->dgl_note : NULL;
}
