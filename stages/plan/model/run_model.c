#include "stages/plan/model/run_model.h"

#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/math/bf16_product.h"
#include "common/nn/layers/layer.h"
#include "stages/plan/model/embedding_shards.h"

#include <inttypes.h>
#include <string.h>

static bool has_tensors(enum layer_kind kind)
{
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX];
    if (layer_type_of(kind)->only_typed)
        return true;
    const struct model_layer layer = {
        .config = {.kind = kind, .output_dim = 1, .option = {.heads = 1}}, .input_dim = 1};
    return layer_type_of(kind)->parameters(&layer, own) > 0;
}

/* Returns item `number` of train-step.layers, with the defaults filled in. */
static struct layer_config config_of_item(const struct pipeline_settings *settings, int number,
                                          bool gives_logits)
{
    struct layer_config layer = settings->train_step.layers.item[number];
    const bool is_bare = gives_logits || !has_tensors(layer.kind);
    if (layer.output_dim == 0)
        layer.output_dim = settings->train_step.layer.output_dim;
    if (layer.activation == ACTIVATION_AUTO)
        layer.activation = is_bare ? ACTIVATION_NONE : ACTIVATION_RELU;
    /* The last layer has no activation after it. That does not concern the activation inside it. */
    layer_config_set_inner(&layer, layer.norm, gives_logits ? ACTIVATION_RELU : layer.activation);
    return layer;
}

/* Returns the layer that gives a column for each class: the last one with tensors. -1: the layer of
 * jumping knowledge gives them, or none does. */
static int giver_of_classes(const struct pipeline_settings *settings)
{
    int i = (int)settings->train_step.layers.count - 1;
    if (settings->train_step.jumping_knowledge != JUMP_NONE)
        return -1;
    while (i >= 0 && !has_tensors(settings->train_step.layers.item[i].kind))
        i--;
    return i;
}

static enum decoder_kind decoder_of(const struct pipeline_settings *settings)
{
    return task_has(settings->ingest.task, TASK_HAS_DECODER) ? settings->train_step.decoder
                                                             : DECODER_NONE;
}

/* Sets the part after the layers: the decoder of pairs, or the readout of graphs and its matrix. */
static void set_head(struct model_config *config, const struct pipeline_settings *settings,
                     uint32_t outputs)
{
    config->decoder = decoder_of(settings);
    config->decoder_outputs = outputs;
    if (!task_has(settings->ingest.task, TASK_HAS_READOUT))
        return;
    config->readout = settings->train_step.readout;
    config->graph_outputs = outputs;
}

struct widths {
    uint32_t output, edge; /* columns of the last layer, and of edge features */
    uint32_t scores;       /* scores of a pair, or outputs of a graph; 0: one */
};

/* Returns the columns that the first layer reads; if types differ in it, those of the first
 * type. */
static uint32_t first_width(const struct model_types *types)
{
    return types->projects[0] ? types->projected_dim : types->input_dim[0];
}

/* Makes a model of train-step.layers. A layer without tensors only moves rows, so it has the width
 * of the layer below. */
static enum error_code make_listed(struct model *out, const struct pipeline_settings *settings,
                                   const struct model_types *types, const struct widths *widths,
                                   struct error *err)
{
    const int count = (int)settings->train_step.layers.count;
    const enum jumping_knowledge jump = settings->train_step.jumping_knowledge;
    struct model_config config = {.input_dim = first_width(types),
                                  .types = *types,
                                  .layer_count = count,
                                  .edge_dim = widths->edge};
    const int giver = giver_of_classes(settings);
    const bool has_head = task_has(settings->ingest.task, TASK_HAS_DECODER | TASK_HAS_READOUT);
    /* then the last width is free */
    enum error_code rc = ERROR_NONE;
    set_head(&config, settings, widths->scores);
    for (int i = 0; i < count; i++) {
        const uint32_t hidden = settings->train_step.layers.item[i].output_dim;
        config.layer[i] = config_of_item(settings, i, i == giver);
        if (hidden && ((i == giver && !has_head) || !has_tensors(config.layer[i].kind)))
            return error_set(err, ERROR_INVALID,
                             "train-step.layers: hidden of layer %d (%s) is %" PRIu32
                             ", but it has %s: " ADVICE "leave it out",
                             i + 1, layer_names[config.layer[i].kind], hidden,
                             i == giver ? "a column for each class" : "as many as it reads");
        if (i == giver && !(has_head && hidden))
            config.layer[i].output_dim = widths->output;
        else if (!has_tensors(config.layer[i].kind))
            config.layer[i].output_dim = i ? config.layer[i - 1].output_dim : first_width(types);
    }
    if (jump != JUMP_NONE)
        rc = model_config_jump(&config, jump, widths->output, err);
    else if (giver < 0)
        rc = error_set(err, ERROR_INVALID,
                       "train-step.layers: no layer has tensors, so there is nothing to train");
    return rc == ERROR_NONE ? model_init(out, &config, err) : rc;
}

static enum error_code make(struct model *out, const struct pipeline_settings *settings,
                            const struct model_types *types, const struct widths *widths,
                            struct error *err)
{
    if (settings->train_step.layers.count > 0)
        return make_listed(out, settings, types, widths, err);
    const struct model_outline outline = {
        .layer = settings->train_step.layer,
        .hop_count = settings->sample.fanouts.count,
        .input_dim = first_width(types),
        .output_dim = widths->output,
        .edge_dim = widths->edge,
        .types = *types,
        .jumping_knowledge = settings->train_step.jumping_knowledge,
    };
    struct model_config config;
    const enum error_code rc = model_config_of(&config, &outline, err);
    set_head(&config, settings, widths->scores);
    return rc == ERROR_NONE ? model_init(out, &config, err) : rc;
}

static enum error_code find_shape(struct model *out, const struct pipeline_settings *settings,
                                  struct error *err)
{
    static const char name[1][RELATION_NAME_SIZE] = {"node"};
    static const struct relation relation = {"relation", 0, 0};
    /* Layers that use blocks by relation divide the hidden width, so the shape needs the real
     * width. */
    const uint32_t width = settings->ingest.relations ? settings->train_step.layer.output_dim : 1;
    const struct model_types types = {
        .schema = settings->ingest.relations ? (struct relation_schema){1, 1, name, &relation}
                                             : model_plain_schema,
        .input_dim = {width}};
    const struct widths widths = {width, 0, 1};
    return make(out, settings, &types, &widths, err);
}

/* Refuses a model without tensors, except for pairs of nodes whose rows are learnt. */
static enum error_code check_tensors(const struct model *model,
                                     const struct pipeline_settings *settings, struct error *err)
{
    const bool learns_rows = settings->train_step.embedding > 0 && model->config.decoder;
    if (model->value_count > 0 || learns_rows)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "the model has no tensors to train: expected another kind of layer than %s, "
                     "or, for link prediction, learnable rows of nodes: train-step.embedding: 64",
                     layer_names[model->config.layer[0].kind]);
}

enum error_code run_model_shape(struct model **out, const struct pipeline_settings *settings,
                                struct error *err)
{
    enum error_code rc = memory_new(out, 1, "a model", err);
    if (rc == ERROR_NONE)
        rc = find_shape(*out, settings, err);
    if (rc == ERROR_NONE)
        rc = check_tensors(*out, settings, err);
    if (rc == ERROR_NONE)
        return rc;
    memory_free(*out);
    *out = NULL;
    return rc;
}

uint32_t run_model_type_dim(const struct pipeline_settings *settings,
                            const struct partition_book *book, uint32_t type)
{
    return settings->train_step.features ? partition_book_dim(book, type) : 0;
}

/* Refuses a type whose rows have no columns. */
static enum error_code check_rows(const struct partition_book *book, uint32_t type,
                                  uint32_t columns, struct error *err)
{
    if (columns > 0)
        return ERROR_NONE;
    if (!book->type_name)
        return error_set(err, ERROR_INPUT,
                         "partition %s has no features to train on; "
                         "train-step.embedding: 64 learns a row for each node",
                         book->id);
    return error_set(err, ERROR_INPUT,
                     "nodes of type %s have no features to train on: "
                     "train-step.embedding: 64 learns a row for each node of such types, "
                     "ingest.missing_features: degree+random makes some up",
                     book->type_name[type]);
}

/* Finds what the model reads of each type: features, followed by learnable rows. Types with names
 * have a matrix each, which gives them all one width. */
static enum error_code find_types(const struct pipeline_settings *settings,
                                  const struct partition_book *book, struct model_types *out,
                                  struct error *err)
{
    const uint32_t hidden = settings->train_step.layer.output_dim;
    const bool has_names = book->type_name != NULL;
    const enum type_projection projection =
        has_names ? settings->train_step.projection : TYPE_PROJECTION_NONE;
    *out = (struct model_types){
        .schema = has_names ? (struct relation_schema){book->type_count, book->relation_count,
                                                       book->type_name, book->relation}
                            : model_plain_schema,
        .projected_dim = hidden,
        .projected_activation =
            projection == TYPE_PROJECTION_RELU ? ACTIVATION_RELU : ACTIVATION_NONE,
        .target_type = book->target_type,
        .gives_all = has_names && task_has(book->task, TASK_HAS_DECODER),
        .relation_aggr = settings->train_step.relation_aggr,
        .pair_relations = book->pair_type_count};
    struct embedding_tensors embeddings;
    enum error_code rc = embedding_tensors_of(settings, book, &embeddings, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < out->schema.type_count; t++) {
        const uint32_t dim = run_model_type_dim(settings, book, t);
        const struct embedding_tensor *learnt = embedding_tensor_of(&embeddings, t);
        const uint32_t width = learnt ? learnt->width : 0;
        out->input_dim[t] = dim + width;
        /* A learnable row needs no matrix, unless its width differs from that of the projected
         * types. */
        out->projects[t] = projection != TYPE_PROJECTION_NONE && (dim || width != hidden);
        rc = check_rows(book, t, out->input_dim[t], err);
    }
    return rc;
}

enum error_code run_model_init(struct model *out, const struct pipeline_settings *settings,
                               const struct partition_book *book, struct error *err)
{
    struct model_types types;
    const enum error_code rc = find_types(settings, book, &types, err);
    *out = (struct model){0};
    if (rc != ERROR_NONE)
        return rc;
    if (book->class_count == 0)
        return error_set(err, ERROR_INPUT, "partition %s has no labels to train on", book->id);
    const bool reads_edges = settings->train_step.edge_features != EDGE_CHOICE_FALSE;
    const bool has_head = task_has(book->task, TASK_HAS_DECODER | TASK_HAS_READOUT);
    const struct widths widths = {.output = has_head ? settings->train_step.layer.output_dim
                                                     : book->class_count,
                                  .edge = reads_edges ? book->edge_width.of[EDGE_FEATURE] : 0,
                                  .scores = book->class_count};
    const enum error_code made = make(out, settings, &types, &widths, err);
    return made == ERROR_NONE ? check_tensors(out, settings, err) : made;
}

enum error_code run_model_check_precision(const struct pipeline_settings *settings,
                                          const char *hindrance, const char *processor,
                                          struct error *err)
{
    if (settings->train_step.precision != PRECISION_BF16 || !hindrance)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "train-step.precision is bf16, which is not possible on this machine (%s): %s; " ADVICE
        "set `precision: fp32`",
        processor, hindrance);
}

enum error_code run_model_check_machine(const struct pipeline_settings *settings, struct error *err)
{
    char processor[128];
    host_processor_name(processor, sizeof processor);
    return run_model_check_precision(settings, bf16_product_hindrance(), processor, err);
}

/* Returns the length of the line that starts at `line`. */
static size_t line_size(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((newline ? newline : end) - line);
}

static enum error_code differs_at(const char *wanted, const char *wanted_end, const char *found,
                                  const char *found_end, struct error *err)
{
    for (int number = 1;; number++) {
        const size_t wanted_size = line_size(wanted, wanted_end);
        const size_t found_size = line_size(found, found_end);
        if (wanted_size != found_size || memcmp(wanted, found, wanted_size) != 0 ||
            wanted + wanted_size == wanted_end || found + found_size == found_end)
            return error_set(err, ERROR_CORRUPT,
                             "line %d of the parameter table: expected '%.*s', found '%.*s'",
                             number, (int)(wanted_size < 80 ? wanted_size : 80), wanted,
                             (int)(found_size < 80 ? found_size : 80), found);
        wanted += wanted_size + 1;
        found += found_size + 1;
    }
}

enum error_code run_model_check_weights(const struct model *model, const struct weights *weights,
                                        struct error *err)
{
    char *table = NULL;
    enum error_code rc = memory_new(&table, RUN_MODEL_TABLE_SIZE, "the parameter table", err);
    if (rc == ERROR_NONE)
        rc = model_table_text(model, table, RUN_MODEL_TABLE_SIZE, err);
    const size_t size = rc == ERROR_NONE ? strlen(table) : 0;
    if (rc == ERROR_NONE &&
        (weights->table_size != size || memcmp(weights->table, table, size) != 0))
        rc = differs_at(table, table + size, weights->table, weights->table + weights->table_size,
                        err);
    if (rc == ERROR_NONE && weights->value_count != model->value_count)
        rc = error_set(err, ERROR_CORRUPT, "weights: expected %" PRIu64 " values, found %" PRIu64,
                       model->value_count, weights->value_count);
    memory_free(table);
    return rc;
}
