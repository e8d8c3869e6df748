#include "common/nn/layers/layer.h"

#include <math.h>
#include <stdio.h>

#define ROW(constant, name, help) [LAYER_##constant] = &name##_layer,
static const struct layer_type *const layer_table[LAYER_KIND_COUNT] = {LAYER_LIST(ROW)};
#undef ROW

#define ROW(constant, name, help) #name,
const char *const layer_names[LAYER_KIND_COUNT + 1] = {LAYER_LIST(ROW) NULL};
#undef ROW

#define ROW(constant, name) #name,
const char *const layer_aggr_names[LAYER_AGGR_COUNT + 1] = {LAYER_AGGR_LIST(ROW) NULL};
#undef ROW

#define ROW(constant, name) #name,
const char *const layer_inner_names[LAYER_INNER_COUNT + 1] = {LAYER_INNER_LIST(ROW) NULL};
#undef ROW

const struct layer_type *layer_type_of(enum layer_kind kind)
{
    must(kind < LAYER_KIND_COUNT);
    return layer_table[kind];
}

void layer_parameter_name(const struct layer_type *type, int number, const char *suffix,
                          char out[PARAMETER_NAME_SIZE])
{
    const char *prefix = type->prefix ? type->prefix : "convs";
    if (*prefix)
        (void)snprintf(out, PARAMETER_NAME_SIZE, "%s.%d.%s", prefix, number, suffix);
    else
        (void)snprintf(out, PARAMETER_NAME_SIZE, "%s", suffix);
}

struct layer_config layer_of_outline(const struct model_outline *outline, enum layer_kind kind,
                                     bool is_last)
{
    struct layer_config layer = outline->layer;
    layer.kind = kind;
    layer_config_set_inner(&layer, layer.norm, layer.activation);
    if (!is_last)
        return layer;
    layer.output_dim = outline->output_dim;
    layer.residual = false;
    layer.norm = NORM_NONE;
    layer.activation = ACTIVATION_NONE;
    return layer;
}

void layer_config_set_inner(struct layer_config *layer, enum norm_kind norm,
                            enum activation_kind activation)
{
    if (layer->kind != LAYER_GIN)
        return;
    if (layer->option.inner == LAYER_INNER_AUTO)
        layer->option.inner = LAYER_INNER_SAME;
    const bool same = layer->option.inner == LAYER_INNER_SAME;
    layer->inner_norm = same ? norm : NORM_NONE;
    layer->inner_activation = same ? activation : ACTIVATION_RELU;
}

void layer_fill_options(struct model_layer *layer)
{
    struct layer_options *option = &layer->config.option;
    if (option->heads == 0)
        option->heads = 1;
    if (option->aggr == LAYER_AGGR_AUTO || layer->type->aggr == LAYER_AGGR_AUTO)
        option->aggr = layer->type->aggr;
}
