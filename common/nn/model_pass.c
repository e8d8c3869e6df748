/* The forward pass of a whole model. The backward pass is in model_backward.c, and one layer alone
 * is in model_inference.c and layer_training.c. */
#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"
#include "common/nn/typed/relation_convs.h"
#include "common/nn/typed/relation_input.h"
#include "common/nn/typed/relation_rows.h"

#include <math.h>
#include <string.h>

static const char what[] = "rows of layers"; /* user of the memory, for messages */
_Static_assert((int)LAYER_COUNT_MAX *(int)RELATION_TYPE_COUNT_MAX <= 256,
               "the hop of a stream says layer and type");

static struct random_stream stream_of(const struct random_stream *stream, int layer, uint32_t type)
{
    struct random_stream own = *stream;
    const uint32_t hop = (uint32_t)layer + LAYER_COUNT_MAX * type;
    own.purpose_word = (own.purpose_word & ~0x00ff0000U) | hop << 16;
    return own;
}

/* --- what it computes on --- */

void model_trace_take_block(const struct message_block *block, struct one_relation *relation,
                            struct relation_block *out)
{
    *relation = (struct one_relation){
        .destination_count = block->destination_count,
        .source_count = block->source_count,
        .edges = {.block = *block, .source_degree = block->degree, .source_sum = block->value_sum}};
    *out = (struct relation_block){.destination_count = &relation->destination_count,
                                   .source_count = &relation->source_count,
                                   .edges = &relation->edges};
}

/* Copies the input and brings the blocks and rows of a single relation into the form for relations
 * and types. */
static enum error_code take_input(const struct model *model, const struct model_input *given,
                                  struct arena *arena, struct model_input **out, struct error *err)
{
    const size_t hops = (size_t)model->hop_count;
    struct model_input *own = NULL;
    struct relation_block *block = NULL;
    struct one_relation *relation = NULL;
    enum error_code rc = arena_new(arena, &own, 1, what, err);
    if (rc == ERROR_NONE)
        *own = *given;
    *out = own;
    if (rc != ERROR_NONE || given->relations || (!given->block && given->type_rows))
        return rc;
    own->type_rows = &own->rows;
    must(given->block || hops == 0);
    rc = arena_new(arena, &block, hops, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &relation, hops, what, err);
    for (size_t hop = 0; rc == ERROR_NONE && hop < hops; hop++)
        model_trace_take_block(&given->block[hop], &relation[hop], &block[hop]);
    own->relations = block;
    return rc;
}

/* Returns the number of rows of each type where a layer without edges lies. */
static const uint32_t *count_at(const struct model *model, int hop, const struct model_input *input)
{
    if (hop < model->hop_count)
        return input->relations[hop].source_count;
    return hop > 0 ? input->relations[hop - 1].destination_count : &input->seed_count;
}

/* --- forward --- */

static struct input_rows rows_at(const void *base, size_t dim, enum precision precision)
{
    return (struct input_rows){
        .base = base, .stride = precision_stride(precision, dim), .precision = precision};
}

static enum error_code new_below(struct model_step *step, uint32_t types, struct arena *arena,
                                 struct error *err)
{
    enum error_code rc =
        arena_new_bytes(arena, (void **)&step->above, types, sizeof(void *), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->parts, types, what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++) {
        step->above[t] = NULL;
        step->parts[t].count = 0;
    }
    return rc;
}

enum error_code model_trace_new(const struct model *model, const float *value,
                                const struct model_input *input,
                                const struct model_workspace *workspace, bool keeps,
                                struct model_trace **out, struct error *err)
{
    struct arena *arena = workspace->arena;
    struct model_trace *made = NULL;
    struct model_input *own = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc == ERROR_NONE)
        rc = take_input(model, input, arena, &own, err);
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct model_trace){
        .model = model, .value = value, .input = own, .workspace = workspace, .keeps = keeps};
    rc = arena_new(arena, &made->projection, model_type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->fold, model_type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->rows, model_type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(model); t++) {
        made->fold[t] = (struct projection_fold){0};
        made->rows[t] = own->type_rows[t];
    }
    return rc == ERROR_NONE ? new_below(&made->below, model_type_count(model), arena, err) : rc;
}

/* Projects the input rows of a type to the rows that the first layer reads. */
static enum error_code project_type(struct model_trace *trace, uint32_t type, uint32_t count,
                                    struct error *err)
{
    const struct model *model = trace->model;
    const struct model_types *types = &model->config.types;
    struct arena *arena = trace->workspace->arena;
    struct thread_pool *pool = trace->workspace->pool;
    struct input_rows *rows = &trace->rows[type];
    struct type_rows *own = &trace->projection[type];
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    const int first = model->projection_parameter[type];
    const enum precision precision = rows->precision;
    if (!types->projects[type] || count == 0 || trace->fold[type].columns)
        return ERROR_NONE;
    own->layer = (struct model_layer){.type = layer_type_of(LAYER_MLP),
                                      .input_dim = types->input_dim[type],
                                      .config.output_dim = types->projected_dim,
                                      .config.activation = types->projected_activation};
    enum error_code rc = layer_pass_init_matrix(
        &own->pass, &own->layer, trace->value + model->parameter[first].offset,
        trace->value + model->parameter[first + 1].offset, &every_row, rows, arena, err);
    own->pass.output_precision = precision;
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, &own->pass.output,
                             count * precision_stride(precision, types->projected_dim),
                             precision_bytes(precision), what, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(&own->pass, trace->keeps, arena, pool, err);
    *rows = rows_at(own->pass.output, types->projected_dim, precision);
    return rc;
}

enum error_code model_trace_begin_on(struct model_trace *trace, int number,
                                     const struct relation_block *block, const uint32_t *count,
                                     struct error *err)
{
    const struct model *model = trace->model;
    const struct relation_input *ahead = number == 0 ? trace->input->aggregated_relations : NULL;
    struct arena *arena = trace->workspace->arena;
    struct model_step *step = &trace->step[number];
    const uint32_t types = model_type_count(model);
    *step =
        (struct model_step){.pass = {.model = model,
                                     .layer = &model->layer[number],
                                     .schema = &model->config.types.schema,
                                     .value = trace->value,
                                     .fold = number == 0 ? trace->fold : NULL,
                                     .ahead = ahead,
                                     .aggregated = number == 0 ? trace->input->aggregated : NULL,
                                     .aggregated_count = trace->input->aggregated_count,
                                     .edges = ahead   ? ahead->edges
                                              : block ? block->edges
                                                      : NULL,
                                     .destination_count = block ? block->destination_count : count,
                                     .source_count = block ? block->source_count : count}};
    enum error_code rc = arena_new(arena, &step->row, types, what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++)
        step->row[t] = (struct type_rows){0};
    step->pass.row = step->row;
    if (rc == ERROR_NONE && block && model->layer[number].typed && !ahead)
        rc = relation_rows_find(step->pass.schema, block, arena, &step->pass.edges, err);
    return rc == ERROR_NONE ? new_below(step, types, arena, err) : rc;
}

enum error_code model_trace_begin(struct model_trace *trace, int layer, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_layer *own = &model->layer[layer];
    return model_trace_begin_on(
        trace, layer, own->type->uses_edges ? &trace->input->relations[own->hop] : NULL,
        own->type->uses_edges ? NULL : count_at(model, own->hop, trace->input), err);
}

static struct model_layer layer_of_type(const struct model_layer *layer, uint32_t type,
                                        uint32_t count)
{
    struct model_layer own = *layer;
    own.input_dim = layer->type_input_dim[type];
    own.residual_parameter = layer->type_tail[type].residual;
    own.norm_parameter = layer->type_tail[type].norm;
    own.buffer_parameter = layer->type_tail[type].buffer;
    own.has_tail = layer->has_tail && count > 0;
    return own;
}

/* The output of the last layer is not dropped. */
static void set_dropout(const struct model_trace *trace, int number, uint32_t type,
                        struct type_rows *own)
{
    const struct layer_config *config = &own->layer.config;
    struct activation *dropped = NULL;
    if (own->layer.has_tail && number < trace->model->config.layer_count - 1)
        dropped = &own->tail.dropout;
    else if (config->activation == ACTIVATION_RELU)
        dropped = &own->pass.activation;
    if (dropped && trace->input->dropout)
        activation_set_dropout(dropped, (float)config->dropout,
                               stream_of(trace->input->dropout, number, type));
}

/* Layers write the output. NOLINTBEGIN(readability-non-const-parameter) */

/* Prepares the tail of layer `number` for a type and the place of its rows; rows of the last layer
 * are floats. */
static enum error_code begin_type(struct model_trace *trace, int number, uint32_t type,
                                  const struct input_rows *rows, float *output, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_layer *layer = &model->layer[number];
    struct arena *arena = trace->workspace->arena;
    const struct model_step *step = &trace->step[number];
    const uint32_t count = step->pass.destination_count[type];
    const uint32_t dim = layer->config.output_dim;
    const bool is_last = number == model->config.layer_count - 1;
    const enum precision precision = is_last ? PRECISION_FP32 : model->config.precision;
    struct type_rows *own = &step->row[type];
    enum error_code rc = ERROR_NONE;
    own->layer = layer_of_type(layer, type, count);
    own->pass = (struct layer_pass){
        .layer = &own->layer,
        .block = {.destination_count = count, .source_count = step->pass.source_count[type]},
        .input = *rows,
        .input_dim = own->layer.input_dim,
        .output_dim = dim,
        .precision = model->config.precision,
        .output_precision = output ? PRECISION_FP32 : precision,
        .activation = {.relu = layer->config.activation == ACTIVATION_RELU && !layer->has_tail,
                       .scale = 1},
        .output = output};
    set_dropout(trace, number, type, own);
    if (count && !output)
        rc = arena_new_bytes(arena, &own->pass.output, count * precision_stride(precision, dim),
                             precision_bytes(precision), "activations", err);
    if (rc == ERROR_NONE && own->layer.has_tail)
        rc =
            layer_tail_begin(&own->tail, model, trace->value, &own->pass, trace->keeps, arena, err);
    return rc;
}

/* NOLINTEND(readability-non-const-parameter) */

/* Finds the rows of the second input of a layer. */
static enum error_code find_start(struct model_trace *trace, int number, struct error *err)
{
    struct typed_pass *pass = &trace->step[number].pass;
    const int second = pass->layer->second_input;
    const float **start = NULL;
    if (second < 0)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(trace->workspace->arena, &start, model_type_count(trace->model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++)
        start[t] = trace->step[second].row[t].pass.output;
    pass->start = start;
    return rc;
}

void model_join_rows(const struct model *model, const float *const *lower, const size_t *stride,
                     size_t row_count, float *out)
{
    const int count = model->config.layer_count - 1;
    const size_t width = model->layer[count].input_dim;
    const bool side_by_side = model->config.jumping_knowledge == JUMP_CAT;
    for (size_t row = 0; row < row_count; row++, out += width) {
        size_t at = 0;
        for (int l = 0; l < count; l++) {
            const size_t dim = model->layer[l].config.output_dim;
            const float *x = lower[l] + row * stride[l];
            for (size_t c = 0; c < dim; c++)
                if (side_by_side || l == 0 || out[c] < x[c] || isnan(x[c]))
                    out[at + c] = x[c];
            at += side_by_side ? dim : 0;
        }
    }
}

/* Joins, for the types that get logits, the rows of all layers below the last. */
static enum error_code join_layers(struct model_trace *trace, int number, struct input_rows *rows,
                                   struct error *err)
{
    const struct model *model = trace->model;
    struct arena *arena = trace->workspace->arena;
    struct model_step *step = &trace->step[number];
    const size_t width = step->pass.layer->input_dim;
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    must(number == model->config.layer_count - 1);
    enum error_code rc = arena_new(arena, &step->joined, model_type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(model); t++) {
        const uint32_t count = model_gives(model, t) ? step->pass.destination_count[t] : 0;
        step->joined[t] = NULL;
        for (int l = 0; l < number; l++) {
            lower[l] = trace->step[l].row[t].pass.output;
            stride[l] = model->layer[l].config.output_dim;
        }
        rc = arena_new(arena, &step->joined[t], count * width, "joined layers", err);
        if (rc == ERROR_NONE && !arena->counts)
            model_join_rows(model, lower, stride, count, step->joined[t]);
        rows[t] = rows_at(step->joined[t], width, PRECISION_FP32);
    }
    return rc;
}

enum error_code model_trace_run(struct model_trace *trace, int number, struct input_rows *rows,
                                float *const *output, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_workspace *workspace = trace->workspace;
    struct model_step *step = &trace->step[number];
    struct typed_pass *pass = &step->pass;
    float **place = NULL;
    enum error_code rc = arena_new(workspace->arena, &place, model_type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(model); t++) {
        rc = begin_type(trace, number, t, &rows[t], output[t], err);
        place[t] = step->row[t].pass.output;
    }
    pass->input = rows;
    pass->output = place;
    if (rc != ERROR_NONE)
        return rc;
    if (trace->input->dropout)
        activation_set_dropout(&pass->slot_dropout, (float)pass->layer->config.dropout,
                               stream_of(trace->input->dropout, number, 0));
    for (uint32_t t = 0; pass->layer->typed && trace->keeps && t < model_type_count(model); t++)
        if (rc == ERROR_NONE && step->row[t].pass.activation.relu)
            rc = layer_pass_keep_active(&step->row[t].pass, workspace->arena, err);
    if (rc == ERROR_NONE)
        rc = (pass->layer->typed ? pass->layer->typed->forward
                                 : relation_convs_forward)(pass, trace->keeps, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(model); t++) {
        struct type_rows *own = &step->row[t];
        if (own->layer.has_tail)
            rc = layer_tail_forward(&own->tail, &own->pass, workspace->arena, workspace->pool, err);
    }
    return rc;
}

enum error_code model_trace_project(struct model_trace *trace, const uint32_t *count,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++)
        rc = project_type(trace, t, count[t], err);
    return rc;
}

/* Finds the rows that layer `number` reads. */
static enum error_code find_rows(struct model_trace *trace, int number, struct input_rows *rows,
                                 struct error *err)
{
    const struct model *model = trace->model;
    if (model->layer[number].reads_all)
        return join_layers(trace, number, rows, err);
    for (uint32_t t = 0; t < model_type_count(model); t++)
        rows[t] = number == 0 ? trace->rows[t]
                              : rows_at(trace->step[number - 1].row[t].pass.output,
                                        model->layer[number - 1].config.output_dim,
                                        model->config.precision);
    return ERROR_NONE;
}

enum error_code model_trace_forward(struct model_trace *trace, int layer, float *const *output,
                                    struct error *err)
{
    const struct model *model = trace->model;
    struct input_rows *rows = NULL;
    enum error_code rc =
        arena_new(trace->workspace->arena, &rows, model_type_count(model), what, err);
    if (rc == ERROR_NONE && layer == 0 && model->layer[0].typed)
        projection_fold_find(model, trace->value, &trace->input->relations[0], trace->fold);
    if (rc == ERROR_NONE && layer == 0)
        rc = model_trace_project(trace, trace->step[0].pass.source_count, err);
    if (rc == ERROR_NONE)
        rc = find_rows(trace, layer, rows, err);
    if (rc == ERROR_NONE)
        rc = find_start(trace, layer, err);
    return rc == ERROR_NONE ? model_trace_run(trace, layer, rows, output, err) : rc;
}

void model_trace_place_logits(const struct model_trace *trace, float *logits,
                              float *out[RELATION_TYPE_COUNT_MAX])
{
    const struct model *model = trace->model;
    const int last = model->config.layer_count - 1;
    size_t row = 0;
    for (uint32_t t = 0; t < model_type_count(model); t++) {
        out[t] = model_gives(model, t) ? logits + row * model_output_dim(model) : NULL;
        row += model_gives(model, t) ? trace->step[last].pass.destination_count[t] : 0;
    }
}

/* Layers write the logits. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code model_forward(const struct model *model, const float *value,
                              const struct model_input *input,
                              const struct model_workspace *workspace, float *logits,
                              struct model_trace **trace, struct error *err)
{
    const int layers = model->config.layer_count;
    float *nowhere[RELATION_TYPE_COUNT_MAX] = {NULL}, *place[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct model_trace *made = NULL;
    if (trace)
        *trace = NULL;
    enum error_code rc = model_trace_new(model, value, input, workspace, trace != NULL, &made, err);
    for (int i = 0; rc == ERROR_NONE && i < layers; i++)
        rc = model_trace_begin(made, i, err);
    if (rc == ERROR_NONE)
        model_trace_place_logits(made, logits, place);
    for (int i = 0; rc == ERROR_NONE && i < layers; i++)
        rc = model_trace_forward(made, i, i == layers - 1 ? place : nowhere, err);
    if (rc == ERROR_NONE && trace)
        *trace = made;
    return rc;
}
/* NOLINTEND(readability-non-const-parameter) */
