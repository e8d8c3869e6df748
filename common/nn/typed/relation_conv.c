#include "common/nn/typed/relation_conv.h"

#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/numbers/cpu_kernel.h"

bool conv_gives_target_alone(const struct model *model, const struct model_layer *layer)
{
    return layer == &model->layer[model->config.layer_count - 1] && !layer->type->uses_edges &&
           !model->config.types.gives_all;
}

uint32_t conv_place_count(const struct model *model, const struct model_layer *layer)
{
    const struct relation_schema *schema = &model->config.types.schema;
    return layer->type->uses_edges ? schema->relation_count : schema->type_count;
}

struct conv_place conv_place_of(const struct model *model, const struct model_layer *layer,
                                uint32_t i)
{
    const struct relation *relation = &model->config.types.schema.relation[i];
    if (layer->type->uses_edges)
        return (struct conv_place){relation->source_type, relation->target_type, (int)i};
    if (!conv_gives_target_alone(model, layer))
        return (struct conv_place){i, i, (int)i};
    return (struct conv_place){i, i, i == model->config.types.target_type ? 0 : -1};
}

uint32_t conv_giver_count(const struct model *model, const struct model_layer *layer, uint32_t type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < conv_place_count(model, layer); i++) {
        const struct conv_place place = conv_place_of(model, layer, i);
        count += place.target == type && place.tensors >= 0;
    }
    return count;
}

bool conv_is_bipartite(const struct model *model, const struct model_layer *layer,
                       const struct conv_place *place)
{
    const struct layer_type *type = layer->type;
    const bool has_loops = type->forward && !type->divides_by_ends;
    if (!type->uses_edges)
        return false;
    return place->source != place->target ||
           (has_loops && *model->config.types.schema.type_name[place->source]);
}

bool conv_adds_own_product(const struct model *model, const struct model_layer *layer,
                           const struct conv_place *place)
{
    return layer->own_tensor >= 0 && conv_is_bipartite(model, layer, place);
}

bool conv_is_joined(const struct model *model, const struct model_layer *layer, uint32_t type)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < conv_place_count(model, layer); i++) {
        const struct conv_place place = conv_place_of(model, layer, i);
        if (place.target == type && place.tensors >= 0)
            parts += 1 + conv_adds_own_product(model, layer, &place);
    }
    return parts > 1;
}

struct model_layer conv_layer_of(const struct model *model, const struct model_layer *layer,
                                 const struct conv_place *place, int tensors)
{
    struct model_layer own = *layer;
    own.input_dim = layer->type_input_dim[place->source];
    own.own_dim = layer->type_input_dim[place->target];
    own.parameter_count = tensors - conv_adds_own_product(model, layer, place);
    if (conv_is_joined(model, layer, place->target))
        own.config.activation = ACTIVATION_NONE;
    return own;
}

const struct parameter *conv_tensors(const struct typed_pass *pass, const struct conv *conv)
{
    return &pass->model->parameter[pass->layer->first_parameter +
                                   conv->place.tensors * pass->layer->place_parameters];
}

const struct parameter *conv_own_tensor(const struct typed_pass *pass, const struct conv *conv)
{
    return conv_tensors(pass, conv) + pass->layer->own_tensor;
}

CPU_KERNEL(add_scaled_rows,
           (float *restrict sum, const float *restrict rows, float share, size_t count),
           (sum, rows, share, count))
{
    vector_add_scaled(sum, rows, share, count);
}

void conv_add_rows(float *sum, const float *rows, float share, size_t count)
{
    add_scaled_rows(sum, rows, share, count);
}
