#include "common/nn/model_texts.h"

#include "common/nn/layers/layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_text(struct model_texts *texts, const char *key, const char *value)
{
    must(texts->count < MODEL_TEXT_COUNT_MAX);
    texts->text[texts->count++] = (struct safetensors_text){key, value};
}

__attribute__((format(printf, 3, 4))) static void put(struct model_texts *texts, const char *key,
                                                      const char *format, ...)
{
    char *value = texts->value[texts->count];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(value, MODEL_TEXT_SIZE, format, arguments);
    va_end(arguments);
    must(size >= 0 && size < MODEL_TEXT_SIZE);
    put_text(texts, key, value);
}

static const char *flag(bool is_set)
{
    return is_set ? "True" : "False";
}

/* Whether a kind is among those that a row of LAYER_OPTION_LIST names: "gat,gatv2". */
static bool has_option(enum layer_kind kind, const char *kinds)
{
    const size_t size = strlen(layer_names[kind]);
    for (const char *at = kinds; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, layer_names[kind], size) == 0 && (at[size] == ',' || !at[size]))
            return true;
    return false;
}

static void put_options(struct model_texts *texts, const struct model_layer *layer)
{
#define INT(name, kinds, value, least, most, help)                                                 \
    if (has_option(layer->kind, kinds))                                                            \
        put(texts, #name, "%" PRId64, layer->option.name);
#define REAL(name, kinds, value, least, most, help)                                                \
    if (has_option(layer->kind, kinds))                                                            \
        put(texts, #name, "%.17g", layer->option.name);
#define FLAG(name, kinds, value, help)                                                             \
    if (has_option(layer->kind, kinds))                                                            \
        put_text(texts, #name, flag(layer->option.name));
#define CHOICE(name, kinds, value, names, help)                                                    \
    if (has_option(layer->kind, kinds))                                                            \
        put_text(texts, #name, (names)[layer->option.name]);
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
    if (layer->type->has_heads)
        put_text(texts, "v2", flag(layer->kind == LAYER_GATV2));
}

static void put_layer_options(struct json_writer *json, const struct model_layer *layer)
{
#define INT(name, kinds, value, least, most, help)                                                 \
    if (has_option(layer->kind, kinds))                                                            \
        json_put_int64(json, #name, layer->option.name);
#define REAL(name, kinds, value, least, most, help)                                                \
    if (has_option(layer->kind, kinds))                                                            \
        json_put_double(json, #name, layer->option.name);
#define FLAG(name, kinds, value, help)                                                             \
    if (has_option(layer->kind, kinds))                                                            \
        json_put_bool(json, #name, layer->option.name);
#define CHOICE(name, kinds, value, names, help)                                                    \
    if (has_option(layer->kind, kinds))                                                            \
        json_put_string(json, #name, (names)[layer->option.name]);
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
}

static void put_layer(struct json_writer *json, const struct model_layer *layer)
{
    json_open_object(json, NULL);
    json_put_string(json, "kind", layer_names[layer->kind]);
    json_put_int64(json, "in_channels", layer->input_dim);
    json_put_int64(json, "out_channels", layer->output_dim);
    put_layer_options(json, layer);
    if (layer->edge_dim)
        json_put_int64(json, "edge_dim", layer->edge_dim);
    json_put_bool(json, "residual", layer->residual);
    json_put_string(json, "norm", norm_names[layer->norm]);
    json_put_string(json, "activation", activation_names[layer->activation]);
    json_put_double(json, "dropout", (double)layer->dropout);
    json_close_object(json);
}

static enum error_code put_layers(struct model_texts *texts, const struct model *model,
                                  struct error *err)
{
    struct json_writer *json = &texts->layers;
    json_open_array(json, NULL);
    for (int i = 0; i < model->config.layer_count; i++)
        put_layer(json, &model->layer[i]);
    json_close_array(json);
    const enum error_code rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        put_text(texts, "layers", json->text);
    return rc;
}

enum error_code model_texts_find(struct model_texts *out, const struct model *model,
                                 const char *run_id, int64_t version, enum model_flavor flavor,
                                 struct error *err)
{
    const struct model_config *c = &model->config;
    const int count = c->layer_count - (c->jumping_knowledge != JUMP_NONE); /* without `lin` */
    const struct model_layer *first = &model->layer[0], *last = &model->layer[count - 1];
    *out = (struct model_texts){.count = 0};
    put_text(out, "model", last->type->pyg_name);
    put_text(out, "kind", layer_names[last->kind]);
    put(out, "num_layers", "%d", count);
    put(out, "in_channels", "%" PRIu32, c->input_dim);
    put(out, "hidden_channels", "%" PRIu32, first->output_dim);
    put(out, "out_channels", "%" PRIu32, model_output_dim(model));
    put(out, "dropout", "%.9g", (double)first->dropout);
    put_options(out, last);
    if (last->edge_dim)
        put(out, "edge_dim", "%" PRIu32, last->edge_dim);
    put_text(out, "norm", norm_names[first->norm]);
    put_text(out, "activation", activation_names[first->activation]);
    put_text(out, "residual", flag(first->residual));
    put_text(out, "jumping_knowledge", jumping_knowledge_names[c->jumping_knowledge]);
    put(out, "weights_version", "%" PRId64, version);
    put_text(out, "run", run_id);
    put_text(out, "flavor", flavor == MODEL_FLAVOR_DGL ? "dgl" : "pyg");
    put_text(out, "format", "pt");
    return put_layers(out, model, err);
}

void model_texts_release(struct model_texts *texts)
{
    json_writer_release(&texts->layers);
}
