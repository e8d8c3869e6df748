#include "common/nn/model_texts.h"

#include "common/nn/layers/layer.h"
#include "common/nn/links/decoder.h"

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

/* Returns whether a kind is in the list of kinds of a row of LAYER_OPTION_LIST, such as
 * "gat,gatv2". */
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
    if (has_option(layer->config.kind, kinds))                                                     \
        put(texts, #name, "%" PRId64, layer->config.option.name);
#define REAL(name, kinds, value, least, most, help)                                                \
    if (has_option(layer->config.kind, kinds))                                                     \
        put(texts, #name, "%.17g", layer->config.option.name);
#define FLAG(name, kinds, value, help)                                                             \
    if (has_option(layer->config.kind, kinds))                                                     \
        put_text(texts, #name, flag(layer->config.option.name));
#define CHOICE(name, kinds, value, names, help)                                                    \
    if (has_option(layer->config.kind, kinds))                                                     \
        put_text(texts, #name, (names)[layer->config.option.name]);
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
    if (layer->type->has_heads)
        put_text(texts, "v2", flag(layer->config.kind == LAYER_GATV2));
}

static void put_layer_options(struct json_writer *json, const struct model_layer *layer)
{
#define INT(name, kinds, value, least, most, help)                                                 \
    if (has_option(layer->config.kind, kinds))                                                     \
        json_put_int64(json, #name, layer->config.option.name);
#define REAL(name, kinds, value, least, most, help)                                                \
    if (has_option(layer->config.kind, kinds))                                                     \
        json_put_double(json, #name, layer->config.option.name);
#define FLAG(name, kinds, value, help)                                                             \
    if (has_option(layer->config.kind, kinds))                                                     \
        json_put_bool(json, #name, layer->config.option.name);
#define CHOICE(name, kinds, value, names, help)                                                    \
    if (has_option(layer->config.kind, kinds))                                                     \
        json_put_string(json, #name, (names)[layer->config.option.name]);
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
}

/* `input_dim` 0: not written, because it differs by type and follows from the layer below or from
 * the graph. */
static void put_layer(struct json_writer *json, const struct model_layer *layer, uint32_t input_dim)
{
    json_open_object(json, NULL);
    json_put_string(json, "kind", layer_names[layer->config.kind]);
    if (input_dim)
        json_put_int64(json, "in_channels", input_dim);
    json_put_int64(json, "out_channels", layer->config.output_dim);
    put_layer_options(json, layer);
    if (layer->edge_dim)
        json_put_int64(json, "edge_dim", layer->edge_dim);
    json_put_bool(json, "residual", layer->config.residual);
    json_put_string(json, "norm", norm_names[layer->config.norm]);
    json_put_string(json, "activation", activation_names[layer->config.activation]);
    json_put_double(json, "dropout", (double)(float)layer->config.dropout);
    json_close_object(json);
}

static enum error_code put_layers(struct model_texts *texts, const struct model *model,
                                  struct error *err)
{
    struct json_writer *json = &texts->layers;
    json_open_array(json, NULL);
    for (int i = 0; i < model->config.layer_count; i++)
        put_layer(json, &model->layer[i], model_is_typed(model) ? 0 : model->layer[i].input_dim);
    json_close_array(json);
    const enum error_code rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        put_text(texts, "layers", json->text);
    return rc;
}

/* --- relations --- */

static void put_names(struct json_writer *json, const struct model_types *types, bool projected)
{
    json_open_array(json, projected ? "projected" : "node_types");
    for (uint32_t t = 0; t < types->schema.type_count; t++)
        if (!projected || types->projects[t])
            json_put_string(json, NULL, types->schema.type_name[t]);
    json_close_array(json);
}

static void put_relations(struct json_writer *json, const struct relation_schema *schema)
{
    json_open_array(json, "relations");
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const struct relation *relation = &schema->relation[r];
        json_open_array(json, NULL);
        json_put_string(json, NULL, schema->type_name[relation->source_type]);
        json_put_string(json, NULL, relation->name);
        json_put_string(json, NULL, schema->type_name[relation->target_type]);
        json_close_array(json);
    }
    json_close_array(json);
}

static enum error_code put_graph(struct model_texts *texts, const struct model_types *types,
                                 struct error *err)
{
    struct json_writer *json = &texts->graph;
    json_open_object(json, NULL);
    put_names(json, types, false);
    put_relations(json, &types->schema);
    json_open_object(json, "in_channels");
    for (uint32_t t = 0; t < types->schema.type_count; t++)
        json_put_int64(json, types->schema.type_name[t], types->input_dim[t]);
    json_close_object(json);
    put_names(json, types, true);
    json_put_int64(json, "projected_channels", types->projected_dim);
    json_put_string(json, "projected_activation", activation_names[types->projected_activation]);
    json_put_string(json, "target", types->schema.type_name[types->target_type]);
    json_put_string(json, "relation_aggr", relation_aggr_names[types->relation_aggr]);
    json_close_object(json);
    const enum error_code rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        put_text(texts, "graph", json->text);
    return rc;
}

/* Writes the decoder of a model of pairs. */
static void put_decoder(struct model_texts *texts, const struct model_config *config)
{
    if (config->decoder == DECODER_NONE)
        return;
    put_text(texts, "decoder", decoder_type_of(config->decoder)->name);
    put(texts, "decoder_outputs", "%" PRIu32,
        config->decoder_outputs ? config->decoder_outputs : 1);
    put(texts, "decoder_relations", "%" PRIu32,
        config->types.pair_relations ? config->types.pair_relations : 1);
}

/* Returns whether the last layer is `lin`: with jumping knowledge, and behind layers over
 * relations. */
static bool ends_in_matrix(const struct model *model)
{
    const struct model_config *c = &model->config;
    return c->jumping_knowledge != JUMP_NONE ||
           (model_is_typed(model) && c->layer[c->layer_count - 1].kind == LAYER_MLP);
}

/* Writes the norm and activation behind hidden layers, or inside the layer of a model of a single
 * layer. */
static void put_norm_and_activation(struct model_texts *texts, const struct model_layer *first,
                                    bool is_alone)
{
    const struct layer_config *own = &first->config;
    const bool is_inner = is_alone && own->kind == LAYER_GIN;
    put_text(texts, "norm", norm_names[is_inner ? own->inner_norm : own->norm]);
    put_text(texts, "activation",
             activation_names[is_inner ? own->inner_activation : own->activation]);
}

enum error_code model_texts_find(struct model_texts *out, const struct model *model,
                                 const char *run_id, int64_t version, enum model_flavor flavor,
                                 const char *card, struct error *err)
{
    const struct model_config *c = &model->config;
    const int count = c->layer_count - ends_in_matrix(model);
    const struct model_layer *first = &model->layer[0], *last = &model->layer[count - 1];
    *out = (struct model_texts){.count = 0};
    put_text(out, "model", last->type->pyg_name);
    put_text(out, "kind", layer_names[last->config.kind]);
    put(out, "num_layers", "%d", count);
    if (!model_is_typed(model))
        put(out, "in_channels", "%" PRIu32, c->input_dim);
    put(out, "hidden_channels", "%" PRIu32, first->config.output_dim);
    put(out, "out_channels", "%" PRIu32, model_output_dim(model));
    put(out, "dropout", "%.9g", (double)(float)first->config.dropout);
    put_options(out, last);
    if (last->edge_dim)
        put(out, "edge_dim", "%" PRIu32, last->edge_dim);
    put_norm_and_activation(out, first, c->layer_count == 1);
    put_text(out, "residual", flag(first->config.residual));
    put_text(out, "jumping_knowledge", jumping_knowledge_names[c->jumping_knowledge]);
    put_decoder(out, c);
    if (c->readout) {
        put_text(out, "readout", readout_names[c->readout]);
        put(out, "graph_outputs", "%" PRIu32, c->graph_outputs);
    }
    put(out, "weights_version", "%" PRId64, version);
    put_text(out, "run", run_id);
    put_text(out, "flavor", flavor == MODEL_FLAVOR_DGL ? "dgl" : "pyg");
    put_text(out, "format", "pt");
    if (card)
        put_text(out, "card", card);
    const enum error_code rc = put_layers(out, model, err);
    return rc == ERROR_NONE && model_is_typed(model) ? put_graph(out, &c->types, err) : rc;
}

void model_texts_release(struct model_texts *texts)
{
    json_writer_release(&texts->layers);
    json_writer_release(&texts->graph);
}
