/* Forward and backward of a whole model, and one layer of it alone in inference (model.h); in training: layer_training.c. */
#include "common/math/vector.h"
#include "common/nn/layers/gat_windows.h"
#include "common/nn/layers/gatv2_windows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"
#include "common/nn/typed/relation_convs.h"
#include "common/nn/typed/relation_input.h"
#include "common/nn/typed/relation_rows.h"

#include <math.h>
#include <string.h>

static const char what[] = "rows of layers"; /* wants memory */
_Static_assert((int)LAYER_COUNT_MAX *(int)RELATION_TYPE_COUNT_MAX <= 256,
               "the hop of a stream says layer and type");

static uint32_t type_count(const struct model *model)
{
    return model->config.types.schema.type_count;
}

static struct random_stream stream_of(const struct random_stream *stream, int layer, uint32_t type)
{
    struct random_stream own = *stream;
    const uint32_t hop = (uint32_t)layer + LAYER_COUNT_MAX * type;
    own.purpose_word = (own.purpose_word & ~0x00ff0000U) | hop << 16;
    return own;
}

/* --- what it computes on --- */

/* The block of a graph with one relation, as those of many relations are. */
struct one_relation {
    uint32_t destination_count, source_count;
    struct relation_edges edges;
};

static void take_block(const struct message_block *block, struct one_relation *relation,
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

/* Copies the input; blocks and rows of the one relation become those of relations and types. */
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
    rc = arena_new(arena, &block, hops, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &relation, hops, what, err);
    for (size_t hop = 0; rc == ERROR_NONE && hop < hops; hop++)
        take_block(&given->block[hop], &relation[hop], &block[hop]);
    own->relations = block;
    return rc;
}

/* Rows of each type at the place of a layer that uses no edges. */
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
    enum error_code rc = arena_new(arena, &step->above, types, what, err);
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
    rc = arena_new(arena, &made->projection, type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->fold, type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->rows, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        made->fold[t] = (struct projection_fold){0};
        made->rows[t] = own->type_rows[t];
    }
    return rc == ERROR_NONE ? new_below(&made->below, type_count(model), arena, err) : rc;
}

/* The rows of a type that come in become those of the first layer. */
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
    if (!types->projects[type] || count == 0 || trace->fold[type].columns)
        return ERROR_NONE;
    own->layer = (struct model_layer){.type = layer_type_of(LAYER_MLP),
                                      .input_dim = types->input_dim[type],
                                      .config.output_dim = types->projected_dim,
                                      .config.activation = types->projected_activation,
                                      .has_tail = types->projected_activation != ACTIVATION_NONE,
                                      .residual_parameter = -1,
                                      .norm_parameter = -1,
                                      .buffer_parameter = -1};
    own->tail = (struct layer_tail){0};
    enum error_code rc = layer_pass_init_matrix(
        &own->pass, &own->layer, trace->value + model->parameter[first].offset,
        trace->value + model->parameter[first + 1].offset, &every_row, rows, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, &own->pass.output, (size_t)count * types->projected_dim,
                             sizeof(float), what, err);
    if (rc == ERROR_NONE && own->layer.has_tail)
        rc =
            layer_tail_begin(&own->tail, model, trace->value, &own->pass, trace->keeps, arena, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(&own->pass, trace->keeps, arena, pool, err);
    if (rc == ERROR_NONE && own->layer.has_tail)
        rc = layer_tail_forward(&own->tail, &own->pass, arena, pool, err);
    *rows = rows_at(own->pass.output, types->projected_dim, PRECISION_FP32);
    return rc;
}

/* A layer on `block`, or if it uses no edges on count[t] rows of each type. */
static enum error_code begin_step(struct model_trace *trace, int number,
                                  const struct relation_block *block, const uint32_t *count,
                                  struct error *err)
{
    const struct model *model = trace->model;
    const struct relation_input *ahead = number == 0 ? trace->input->aggregated_relations : NULL;
    struct arena *arena = trace->workspace->arena;
    struct model_step *step = &trace->step[number];
    const uint32_t types = type_count(model);
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
    return begin_step(trace, layer,
                      own->type->uses_edges ? &trace->input->relations[own->hop] : NULL,
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

/* The last layer's output is not dropped. */
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

/* What follows layer `number` for a type, and where its rows go: those of the last layer are
 * floats. */
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

/* Finds the rows that a layer reads beside those of the layer below. */
static enum error_code find_start(struct model_trace *trace, int number, struct error *err)
{
    struct typed_pass *pass = &trace->step[number].pass;
    const int second = pass->layer->second_input;
    const float **start = NULL;
    if (second < 0)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(trace->workspace->arena, &start, type_count(trace->model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
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

/* Joins the rows that all layers below the last give of the types of the logits. */
static enum error_code join_layers(struct model_trace *trace, int number, struct input_rows *rows,
                                   struct error *err)
{
    const struct model *model = trace->model;
    struct arena *arena = trace->workspace->arena;
    struct model_step *step = &trace->step[number];
    const size_t width = step->pass.layer->input_dim;
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    enum error_code rc = arena_new(arena, &step->joined, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
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

/* A layer that is begun, and what follows it, from rows [types]. */
static enum error_code run_step(struct model_trace *trace, int number, struct input_rows *rows,
                                float *const *output, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_workspace *workspace = trace->workspace;
    struct model_step *step = &trace->step[number];
    struct typed_pass *pass = &step->pass;
    float **place = NULL;
    enum error_code rc = arena_new(workspace->arena, &place, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
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
    rc = (pass->layer->typed ? pass->layer->typed->forward
                             : relation_convs_forward)(pass, trace->keeps, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        struct type_rows *own = &step->row[t];
        if (own->layer.has_tail)
            rc = layer_tail_forward(&own->tail, &own->pass, workspace->arena, workspace->pool, err);
    }
    return rc;
}

/* rows [types] that come in become those of the first layer. */
static enum error_code project(struct model_trace *trace, const uint32_t *count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
        rc = project_type(trace, t, count[t], err);
    return rc;
}

/* What layer `number` reads. */
static enum error_code find_rows(struct model_trace *trace, int number, struct input_rows *rows,
                                 struct error *err)
{
    const struct model *model = trace->model;
    if (model->layer[number].reads_all)
        return join_layers(trace, number, rows, err);
    for (uint32_t t = 0; t < type_count(model); t++)
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
    enum error_code rc = arena_new(trace->workspace->arena, &rows, type_count(model), what, err);
    if (rc == ERROR_NONE && layer == 0 && model->layer[0].typed)
        projection_fold_find(model, trace->value, &trace->input->relations[0], trace->fold);
    if (rc == ERROR_NONE && layer == 0)
        rc = project(trace, trace->step[0].pass.source_count, err);
    if (rc == ERROR_NONE)
        rc = find_rows(trace, layer, rows, err);
    if (rc == ERROR_NONE)
        rc = find_start(trace, layer, err);
    return rc == ERROR_NONE ? run_step(trace, layer, rows, output, err) : rc;
}

/* Where in logits, or in their gradient, the rows of each type are; NULL: it gives none. */
static void place_logits(const struct model_trace *trace, float *logits,
                         float *out[RELATION_TYPE_COUNT_MAX])
{
    const struct model *model = trace->model;
    const int last = model->config.layer_count - 1;
    size_t row = 0;
    for (uint32_t t = 0; t < type_count(model); t++) {
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
        place_logits(made, logits, place);
    for (int i = 0; rc == ERROR_NONE && i < layers; i++)
        rc = model_trace_forward(made, i, i == layers - 1 ? place : nowhere, err);
    if (rc == ERROR_NONE && trace)
        *trace = made;
    return rc;
}
/* NOLINTEND(readability-non-const-parameter) */

/* --- backward --- */

static struct layer_tail_gradient gradient_of_tail(const struct model *model,
                                                   const struct model_layer *layer, float *gradient)
{
    const struct parameter *parameter = model->parameter;
    struct layer_tail_gradient out = {0};
    if (layer->residual_parameter >= 0)
        out.residual = gradient + parameter[layer->residual_parameter].offset;
    if (layer->norm_parameter >= 0) {
        out.weight = gradient + parameter[layer->norm_parameter].offset;
        out.bias = gradient + parameter[layer->norm_parameter + 1].offset;
    }
    if (layer->buffer_parameter >= 0) {
        const struct parameter *buffer = &parameter[layer->buffer_parameter];
        out.batch_mean = gradient + buffer[0].offset;
        out.batch_variance = gradient + buffer[1].offset;
        out.batch_count = gradient + buffer[2].offset;
    }
    return out;
}

static void add_part(struct gradient_parts *parts, struct gradient_part part)
{
    must(parts->count < (int)(sizeof parts->part / sizeof *parts->part));
    if (part.row_count)
        parts->part[parts->count++] = part;
}

/* Columns of the rows that a layer gives, or of those that the first one reads (-1). */
static size_t columns_of(const struct model_trace *trace, int layer, uint32_t type)
{
    return layer < 0 ? typed_pass_columns(&trace->step[0].pass, type)
                     : trace->model->layer[layer].config.output_dim;
}

static uint32_t rows_of(const struct model_trace *trace, int layer, uint32_t type)
{
    return layer < 0 ? trace->step[0].pass.source_count[type]
                     : trace->step[layer].pass.destination_count[type];
}

struct gather_job {
    const struct layer_pass *above;     /* NULL: nothing is from there */
    const struct gradient_parts *parts; /* NULL: nothing is added */
    uint32_t rows;
    size_t dim;
    float *out; /* [rows, dim] */
};

static void gather_tile(void *context, int64_t tile, int thread)
{
    const struct gather_job *job = context;
    const size_t dim = job->dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->rows);
    float *out = job->out + first * dim;
    const float *found = NULL;
    (void)thread;
    if (job->above)
        found = layer_pass_input_gradient(job->above, dim, first, end, out);
    else
        vector_zero(out, (end - first) * dim);
    if (found && found != out)
        vector_copy(out, found, (end - first) * dim);
    for (int p = 0; job->parts && p < job->parts->count; p++) {
        const struct gradient_part *part = &job->parts->part[p];
        for (uint32_t row = first; row < end && row < part->row_count; row++)
            for (size_t c = 0; c < dim; c++)
                out[(row - first) * dim + c] += part->row[row * part->stride + c];
    }
}

enum error_code model_trace_gradient(const struct model_trace *trace, int layer, uint32_t type,
                                     bool parts, float **out, struct error *err)
{
    const struct model_step *step = layer < 0 ? &trace->below : &trace->step[layer];
    const struct model_workspace *workspace = trace->workspace;
    struct gather_job job = {.above = step->above[type],
                             .parts = parts ? &step->parts[type] : NULL,
                             .rows = rows_of(trace, layer, type),
                             .dim = columns_of(trace, layer, type)};
    *out = NULL;
    if (job.rows == 0 || (!job.above && (!parts || step->parts[type].count == 0)))
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(workspace->arena, &job.out, job.rows * job.dim, "gradients of rows", err);
    *out = job.out;
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(job.rows), gather_tile, &job);
    return rc;
}

/* Sets what the layer above left as an array. */
static enum error_code leave_array(struct model_trace *trace, int layer, uint32_t type,
                                   float *gradient, struct error *err)
{
    struct model_step *step = layer < 0 ? &trace->below : &trace->step[layer];
    struct layer_pass *pass = NULL;
    step->above[type] = NULL;
    if (!gradient)
        return ERROR_NONE;
    const enum error_code rc = arena_new(trace->workspace->arena, &pass, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *pass = (struct layer_pass){.input_gradient = gradient};
    step->above[type] = pass;
    return ERROR_NONE;
}

/* From the gradient of what came out behind a tail that of what went in, *rows [destinations, output_dim]. */
static enum error_code tail_back(const struct model_trace *trace, const struct type_rows *own,
                                 const struct layer_pass *above, const struct gradient_parts *parts,
                                 bool is_first, float *gradient, float **rows,
                                 struct gradient_part *below, struct error *err)
{
    struct tail_backward tail = {.tail = &own->tail,
                                 .pass = &own->pass,
                                 .above = above,
                                 .parts = parts,
                                 .is_first = is_first,
                                 .gradient = gradient_of_tail(trace->model, &own->layer, gradient)};
    const enum error_code rc =
        layer_tail_backward(&tail, trace->workspace->arena, trace->workspace->pool, err);
    *rows = tail.layer_gradient;
    *below = tail.below;
    return rc;
}

/* Whether somebody wants the gradient of the rows of a type that layer `number` reads. */
static bool wants_gradient(const struct model_trace *trace, int number, uint32_t type)
{
    const bool *wants = trace->input->wants_gradient;
    return number > 0 || (wants && wants[type]) ||
           (trace->model->config.types.projects[type] && !trace->fold[type].columns);
}

/* The gradient of the rows of a type in front of what follows layer `number`. Without a tail it may
 * be left to the layer: *rows is NULL then, and step->above[type] says it. */
static enum error_code type_back(struct model_trace *trace, int number, uint32_t type,
                                 float *gradient, float **rows, struct error *err)
{
    struct model_step *step = &trace->step[number];
    struct model_step *lower = number > 0 ? &trace->step[number - 1] : &trace->below;
    const struct type_rows *own = &step->row[type];
    const struct gradient_parts *parts = &step->parts[type];
    struct gradient_part below = {0};
    *rows = NULL;
    if (own->layer.has_tail) {
        const bool is_first = !wants_gradient(trace, number, type);
        const enum error_code rc =
            tail_back(trace, own, step->above[type], parts, is_first, gradient, rows, &below, err);
        step->above[type] = NULL;
        add_part(&lower->parts[type], below);
        return rc;
    }
    must(parts->count == 0 || (parts->count == 1 && !step->above[type] &&
                               parts->part[0].stride == own->pass.output_dim));
    if (parts->count)
        *rows = (float *)parts->part[0].row; /* it is read alone */
    return ERROR_NONE;
}

/* A layer that computes on all relations at once reads and writes whole arrays. */
static enum error_code fill_arrays(struct model_trace *trace, int number, float **rows,
                                   struct error *err)
{
    struct model_step *step = &trace->step[number];
    struct arena *arena = trace->workspace->arena;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++) {
        const size_t count = rows_of(trace, number, t) * columns_of(trace, number, t);
        if (!rows[t] && step->above[t])
            rc = model_trace_gradient(trace, number, t, false, &rows[t], err);
        if (rc != ERROR_NONE || rows[t])
            continue;
        rc = arena_new(arena, &rows[t], count, what, err);
        if (rc == ERROR_NONE && !arena->counts)
            vector_zero(rows[t], count);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
        if (wants_gradient(trace, number, t) && step->pass.source_count[t])
            rc = arena_new(arena, &step->pass.input_gradient[t],
                           (size_t)step->pass.source_count[t] * typed_pass_columns(&step->pass, t),
                           what, err);
    return rc;
}

static enum error_code new_gradients(struct model_trace *trace, int number, struct error *err)
{
    struct typed_pass *pass = &trace->step[number].pass;
    struct arena *arena = trace->workspace->arena;
    const uint32_t types = type_count(trace->model);
    bool *wants = NULL;
    enum error_code rc = arena_new(arena, &pass->input_gradient, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &pass->start_gradient, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &pass->reader, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &wants, types, what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++) {
        pass->input_gradient[t] = pass->start_gradient[t] = NULL;
        pass->reader[t] = NULL;
        wants[t] = wants_gradient(trace, number, t);
    }
    pass->wants_gradient = wants;
    pass->above = trace->step[number].above;
    return rc;
}

/* The gradient of the joined rows of a type goes to the layers that they are of: of the largest
 * value, to the first that has it. */
static void route_largest(const struct model_trace *trace, int number, uint32_t type,
                          const float *gradient, float *const *out)
{
    const struct model_step *step = &trace->step[number];
    const size_t count = (size_t)step->pass.destination_count[type] * step->pass.layer->input_dim;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (int l = 0; l < number; l++) {
            const float *x = trace->step[l].row[type].pass.output;
            const bool is_it = !found && !(x[i] < step->joined[type][i]);
            out[l][i] = is_it ? gradient[i] : 0;
            found |= is_it;
        }
    }
}

/* Shares the gradient of the joined rows out among the layers below. */
static enum error_code part_layers(struct model_trace *trace, int number, uint32_t type,
                                   struct error *err)
{
    const struct model *model = trace->model;
    struct arena *arena = trace->workspace->arena;
    const struct typed_pass *pass = &trace->step[number].pass;
    const uint32_t rows = pass->destination_count[type];
    const size_t width = pass->layer->input_dim;
    const bool largest = model->config.jumping_knowledge == JUMP_MAX;
    struct gather_job job = {.above = pass->reader[type], .rows = rows, .dim = width};
    float *part[LAYER_COUNT_MAX] = {NULL};
    size_t at = 0;
    if (!job.above || rows == 0 || !model_gives(model, type))
        return ERROR_NONE;
    enum error_code rc =
        arena_new(arena, &job.out, rows * width, "gradients of joined layers", err);
    for (int l = 0; rc == ERROR_NONE && largest && l < number; l++)
        rc = arena_new(arena, &part[l], rows * width, "gradients of joined layers", err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts)
        thread_pool_run(trace->workspace->pool, layer_pass_tiles(rows), gather_tile, &job);
    for (int l = 0; l < number; l++) {
        add_part(&trace->step[l].parts[type],
                 (struct gradient_part){largest ? part[l] : job.out + at, width, rows});
        at += model->layer[l].config.output_dim;
    }
    if (largest && !arena->counts)
        route_largest(trace, number, type, job.out, part);
    return ERROR_NONE;
}

/* What a layer has left for the rows that it read goes to those that gave them. */
static enum error_code leave_gradients(struct model_trace *trace, int number, struct error *err)
{
    const struct typed_pass *pass = &trace->step[number].pass;
    struct model_step *lower = number > 0 ? &trace->step[number - 1] : &trace->below;
    const int second = pass->layer->second_input;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++) {
        if (pass->layer->reads_all)
            rc = part_layers(trace, number, t, err);
        else if (pass->reader[t])
            lower->above[t] = pass->wants_gradient[t] ? pass->reader[t] : NULL;
        else
            rc = leave_array(trace, number - 1, t, pass->input_gradient[t], err);
        if (second >= 0 && pass->start_gradient[t])
            add_part(&trace->step[second].parts[t],
                     (struct gradient_part){pass->start_gradient[t], pass->layer->config.output_dim,
                                            pass->destination_count[t]});
    }
    return rc;
}

/* The gradient of the rows of a type that came in. */
static enum error_code projection_back(struct model_trace *trace, uint32_t type, float *gradient,
                                       struct error *err)
{
    const struct model *model = trace->model;
    const struct model_workspace *workspace = trace->workspace;
    struct type_rows *own = &trace->projection[type];
    struct gradient_part below;
    float *rows = NULL;
    enum error_code rc = ERROR_NONE;
    if (wants_gradient(trace, 0, type))
        rc = model_trace_gradient(trace, -1, type, true, &rows, err);
    trace->input_gradient[type] = rows;
    if (rc != ERROR_NONE || !model->config.types.projects[type] || !rows ||
        trace->fold[type].columns)
        return rc;
    const bool is_first = !trace->input->wants_gradient || !trace->input->wants_gradient[type];
    const struct parameter *parameter = &model->parameter[model->projection_parameter[type]];
    const struct layer_gradient out = {.matrix = {gradient + parameter[0].offset},
                                       .bias = gradient + parameter[1].offset};
    const struct gradient_parts parts = {
        1, {{rows, own->pass.output_dim, own->pass.block.destination_count}}};
    if (own->layer.has_tail)
        rc = tail_back(trace, own, NULL, &parts, true, gradient, &rows, &below, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(&own->pass, NULL, rows, is_first, &out, workspace->arena,
                                 workspace->pool, err);
    trace->input_gradient[type] = own->pass.input_gradient;
    return rc;
}

/* Where the gradients of folded projections go. */
static void place_projection_gradients(const struct model_trace *trace, float *gradient)
{
    const struct model *model = trace->model;
    for (uint32_t t = 0; t < type_count(model); t++) {
        if (!trace->fold[t].columns)
            continue;
        const struct parameter *parameter = &model->parameter[model->projection_parameter[t]];
        trace->fold[t].matrix_gradient = gradient + parameter[0].offset;
        trace->fold[t].bias_gradient = gradient + parameter[1].offset;
    }
}

enum error_code model_trace_backward(struct model_trace *trace, int layer, float *gradient,
                                     struct error *err)
{
    struct typed_pass *pass = &trace->step[layer].pass;
    const struct typed_kind *typed = pass->layer->typed;
    float *rows[RELATION_TYPE_COUNT_MAX] = {NULL};
    enum error_code rc = new_gradients(trace, layer, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
        rc = type_back(trace, layer, t, gradient, &rows[t], err);
    if (rc == ERROR_NONE && typed)
        rc = fill_arrays(trace, layer, rows, err);
    if (layer == 0)
        place_projection_gradients(trace, gradient);
    if (rc == ERROR_NONE)
        rc = (typed ? typed->backward : relation_convs_backward)(pass, rows, trace->workspace,
                                                                 gradient, err);
    if (rc == ERROR_NONE)
        rc = leave_gradients(trace, layer, err);
    for (uint32_t t = 0; rc == ERROR_NONE && layer == 0 && t < type_count(trace->model); t++)
        rc = projection_back(trace, t, gradient, err);
    return rc;
}

/* What the layers write is zero at first, since a relation without rows writes nothing. */
static void clear_gradient(const struct model *model, float *gradient)
{
    const uint64_t head = model->head_parameter < model->parameter_count
                              ? model->parameter[model->head_parameter].offset
                              : model->trained_count;
    vector_zero(gradient, head);
    vector_zero(gradient + model->trained_count, model->value_count - model->trained_count);
}

enum error_code model_backward(const struct model *model, const float *value,
                               struct model_trace *trace, const float *logits_gradient,
                               const struct model_workspace *workspace, float *gradient,
                               struct error *err)
{
    const int last = model->config.layer_count - 1;
    float *rows[RELATION_TYPE_COUNT_MAX] = {NULL};
    enum error_code rc = ERROR_NONE;
    must(value == trace->value && trace->keeps);
    trace->workspace = workspace;
    if (!workspace->arena->counts)
        clear_gradient(model, gradient);
    place_logits(trace, (float *)logits_gradient, rows); /* it is read alone */
    for (uint32_t t = 0; t < type_count(model); t++)
        if (rows[t])
            add_part(&trace->step[last].parts[t],
                     (struct gradient_part){rows[t], model_output_dim(model),
                                            trace->step[last].pass.destination_count[t]});
    for (int layer = last; rc == ERROR_NONE && layer >= 0; layer--)
        rc = model_trace_backward(trace, layer, gradient, err);
    return rc;
}

enum error_code model_backward_to_input(const struct model *model, const float *value,
                                        struct model_trace *trace, const float *logits_gradient,
                                        const struct model_workspace *workspace, float *gradient,
                                        float **input_gradient, struct error *err)
{
    static const bool all[RELATION_TYPE_COUNT_MAX] = {true};
    must(workspace->arena->counts || !trace->rows[0].mostly_zero);
    trace->input->wants_gradient = all;
    const enum error_code rc =
        model_backward(model, value, trace, logits_gradient, workspace, gradient, err);
    *input_gradient = trace->input_gradient[0];
    return rc;
}

const float *model_input_gradient(const struct model_trace *trace, uint32_t type)
{
    return trace->input_gradient[type];
}

/* --- inference --- */

/* NOLINTBEGIN(readability-non-const-parameter) */
enum error_code model_infer_types(const struct model *model, const float *value, int layer,
                                  const struct typed_layer_input *input, uint32_t type,
                                  const struct model_workspace *workspace, float *output,
                                  struct error *err)
{
    const bool uses_edges = model->layer[layer].type->uses_edges;
    const struct model_input whole = {.type_rows = input->rows};
    float *place[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct model_trace *made = NULL;
    must(!input->block == !uses_edges);
    place[type] = output;
    enum error_code rc = model_trace_new(model, value, &whole, workspace, false, &made, err);
    if (rc == ERROR_NONE)
        rc = begin_step(made, layer, input->block, input->count, err);
    if (rc == ERROR_NONE && layer == 0)
        rc = project(made, made->step[0].pass.source_count, err);
    if (rc != ERROR_NONE)
        return rc;
    made->step[layer].pass.sum = input->sum;
    made->step[layer].pass.start = input->start;
    made->step[layer].pass.is_inferred = true;
    return run_step(made, layer, made->rows, place, err);
}
/* NOLINTEND(readability-non-const-parameter) */

/* `sum` NULL: the sources are there. */
static enum error_code infer_layer(const struct model *model, const float *value, int layer,
                                   const struct layer_input *input, const float *sum,
                                   const struct model_workspace *workspace, float *output,
                                   struct error *err)
{
    struct one_relation relation;
    struct relation_block block;
    must(!input->second == (model->layer[layer].second_input < 0));
    take_block(&input->block, &relation, &block);
    const struct typed_layer_input whole = {.block = model->layer[layer].type->uses_edges ? &block
                                                                                          : NULL,
                                            .count = &relation.destination_count,
                                            .rows = &input->rows,
                                            .sum = sum ? &sum : NULL,
                                            .start = input->second ? &input->second : NULL};
    return model_infer_types(model, value, layer, &whole, 0, workspace, output, err);
}

enum error_code model_infer_layer(const struct model *model, const float *value, int layer,
                                  const struct layer_input *input,
                                  const struct model_workspace *workspace, float *output,
                                  struct error *err)
{
    return infer_layer(model, value, layer, input, NULL, workspace, output, err);
}

bool model_sums_sources(const struct model *model, int layer)
{
    return layer_sums_sources(&model->layer[layer]);
}

enum error_code model_weigh_block(const struct model *model, int layer,
                                  const struct message_block *block, struct arena *arena,
                                  struct aggregation *out, struct error *err)
{
    return model->layer[layer].type->weigh(&model->layer[layer], block, arena, out, err);
}

enum error_code model_infer_sums(const struct model *model, const float *value, int layer,
                                 const struct layer_input *input, const float *sum,
                                 const struct model_workspace *workspace, float *output,
                                 struct error *err)
{
    must(layer_sums_sources(&model->layer[layer]) ||
         gat_windows_are_possible(&model->layer[layer]) ||
         gatv2_windows_are_possible(&model->layer[layer]));
    return infer_layer(model, value, layer, input, sum, workspace, output, err);
}
