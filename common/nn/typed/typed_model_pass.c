/* Forward and backward of a whole typed model (typed_model.h). */
#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_tail.h"
#include "common/nn/typed/relation_input.h"
#include "common/nn/typed/relation_rows.h"
#include "common/nn/typed/typed_layer.h"
#include "common/nn/typed/typed_model.h"

#include <string.h>

static const char what[] = "rows of node types"; /* wants memory */

/* What is done to the rows of one type alone: behind a layer, or as their projection. */
struct type_rows {
    struct model_layer layer;
    struct layer_pass pass;
    struct layer_tail tail;
};

/* One layer at work. */
struct typed_step {
    struct typed_pass pass;
    struct type_rows *row;  /* [types]: with has_tail where something follows the layer */
    float **input_gradient; /* [types] */
    /* [types], once backward found any: gradients of the output [destinations, output_dim] beside
     * those of the next layer. */
    float **more_gradient;
    float **joined; /* [types]: rows of all layers below, of a layer that reads them */
};

struct typed_trace {
    const struct model *model;
    const float *value;
    const bool *wants_gradient;   /* [types], or NULL */
    struct type_rows *projection; /* [types]: of those that are not folded */
    struct projection_fold *fold; /* [types] */
    const struct relation_input *ahead;
    const float *input_gradient[RELATION_TYPE_COUNT_MAX]; /* of the rows that came in */
    struct typed_step step[LAYER_COUNT_MAX];
};
_Static_assert(sizeof(struct typed_trace) <= ARENA_REAL_BYTES &&
                   RELATION_TYPE_COUNT_MAX * sizeof(struct type_rows) <= ARENA_REAL_BYTES,
               "a trace is written by what counts");
_Static_assert((int)LAYER_COUNT_MAX *(int)RELATION_TYPE_COUNT_MAX <= 256,
               "the hop of a stream says layer and type");

static uint32_t type_count(const struct model *model)
{
    return model->config.types.schema.type_count;
}

/* Type 0 draws what a plain model does. */
static struct random_stream stream_of(const struct random_stream *stream, int layer, uint32_t type)
{
    struct random_stream own = *stream;
    const uint32_t hop = (uint32_t)layer + LAYER_COUNT_MAX * type;
    own.purpose_word = (own.purpose_word & ~0x00ff0000U) | hop << 16;
    return own;
}

/* --- forward --- */

static struct input_rows rows_at(const float *base, size_t dim)
{
    return (struct input_rows){.base = base, .stride = dim};
}

/* The rows of a type that come in become those of the first layer. */
static enum error_code project_type(struct typed_trace *trace, uint32_t type, uint32_t count,
                                    bool keep, const struct model_workspace *workspace,
                                    struct input_rows *rows, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_types *types = &model->config.types;
    struct arena *arena = workspace->arena;
    struct type_rows *own = &trace->projection[type];
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    const int first = model->projection_parameter[type];
    must(rows->precision == PRECISION_FP32);
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
        rc = layer_tail_begin(&own->tail, model, trace->value, &own->pass, keep, arena, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(&own->pass, keep, arena, workspace->pool, err);
    if (rc == ERROR_NONE && own->layer.has_tail)
        rc = layer_tail_forward(&own->tail, &own->pass, arena, workspace->pool, err);
    *rows = rows_at(own->pass.output, types->projected_dim);
    return rc;
}

/* What a pass over the layers is for. */
struct run_wish {
    const struct random_stream *dropout; /* NULL: none is drawn */
    bool keep;                           /* there will be a backward */
    /* Where the rows that layer `layer` gives of a type go; those of types without such a place, and all others, lie in
     * the arena. */
    int layer;
    float *output[RELATION_TYPE_COUNT_MAX];
};

static struct model_layer layer_of_type(const struct model_layer *layer, uint32_t type,
                                        uint32_t count, bool is_last)
{
    struct model_layer own = *layer;
    own.input_dim = layer->type_input_dim[type];
    own.residual_parameter = layer->type_tail[type].residual;
    own.norm_parameter = layer->type_tail[type].norm;
    own.buffer_parameter = layer->type_tail[type].buffer;
    own.has_tail = count && (layer->config.residual || layer->config.norm != NORM_NONE ||
                             layer->config.activation != ACTIVATION_NONE ||
                             (!is_last && layer->config.dropout > 0));
    return own;
}

/* What follows layer `number` for a type, and where its rows go. */
static enum error_code begin_type(struct typed_trace *trace, int number, uint32_t type,
                                  const struct input_rows *rows, const struct run_wish *wish,
                                  struct arena *arena, struct error *err)
{
    const struct model *model = trace->model;
    const struct model_layer *layer = &model->layer[number];
    const bool is_last = number == model->config.layer_count - 1;
    const struct typed_step *step = &trace->step[number];
    const uint32_t count = step->pass.destination_count[type];
    struct type_rows *own = &step->row[type];
    enum error_code rc = ERROR_NONE;
    own->layer = layer_of_type(layer, type, count, is_last);
    own->tail = (struct layer_tail){0};
    own->pass = (struct layer_pass){
        .layer = &own->layer,
        .block = {.destination_count = count, .source_count = step->pass.source_count[type]},
        .input = *rows,
        .input_dim = own->layer.input_dim,
        .output_dim = layer->config.output_dim,
        .output = number == wish->layer ? wish->output[type] : NULL};
    if (wish->dropout && !is_last)
        activation_set_dropout(&own->tail.dropout, (float)layer->config.dropout,
                               stream_of(wish->dropout, number, type));
    if (count && !own->pass.output)
        rc = arena_new_bytes(arena, &own->pass.output, (size_t)count * layer->config.output_dim,
                             sizeof(float), what, err);
    if (rc == ERROR_NONE && own->layer.has_tail)
        rc = layer_tail_begin(&own->tail, model, trace->value, &own->pass, wish->keep, arena, err);
    return rc;
}

/* Rows of each type at the place of a layer that uses no edges: it has as many sources as destinations. */
static const uint32_t *count_at(const struct model *model, int hop, const struct model_input *input)
{
    return hop < model->hop_count ? input->relations[hop].source_count
                                  : input->relations[hop - 1].destination_count;
}

/* On `block`, or where the layer uses no edges on rows of each type: `count` [types]. */
static enum error_code begin_step(struct typed_trace *trace, int number,
                                  const struct relation_block *block, const uint32_t *count,
                                  struct arena *arena, struct error *err)
{
    const struct model *model = trace->model;
    struct typed_step *step = &trace->step[number];
    *step = (struct typed_step){
        .pass = {.model = model,
                 .layer = &model->layer[number],
                 .schema = &model->config.types.schema,
                 .value = trace->value,
                 .fold = number == 0 ? trace->fold : NULL,
                 .ahead = number == 0 ? trace->ahead : NULL,
                 .edges = number == 0 && trace->ahead ? trace->ahead->edges : NULL,
                 .destination_count = block ? block->destination_count : count,
                 .source_count = block ? block->source_count : count}};
    enum error_code rc = arena_new(arena, &step->row, type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->input_gradient, type_count(model), what, err);
    if (rc == ERROR_NONE && block && !step->pass.edges)
        rc = relation_rows_find(step->pass.schema, block, arena, &step->pass.edges, err);
    return rc;
}

/* Finds the rows that a layer reads beside those of the layer below. */
static enum error_code find_start(struct typed_trace *trace, int number, struct arena *arena,
                                  struct error *err)
{
    struct typed_step *step = &trace->step[number];
    const float **start = NULL;
    const enum error_code rc = arena_new(arena, &start, type_count(trace->model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
        start[t] = trace->step[step->pass.layer->second_input].row[t].pass.output;
    step->pass.start = start;
    return rc;
}

/* Whether the model gives rows of the type. */
static bool gives(const struct model *model, uint32_t type)
{
    return model->config.types.gives_all || type == model->config.types.target_type;
}

/* Joins the rows that all layers below the last give of the types of the logits. */
static enum error_code join_layers(struct typed_trace *trace, int number, struct input_rows *rows,
                                   struct arena *arena, struct error *err)
{
    const struct model *model = trace->model;
    struct typed_step *step = &trace->step[number];
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    enum error_code rc = arena_new(arena, &step->joined, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        const size_t width = step->pass.layer->type_input_dim[t];
        const uint32_t count = gives(model, t) ? step->pass.destination_count[t] : 0;
        step->joined[t] = NULL;
        for (int l = 0; l < number; l++) {
            lower[l] = trace->step[l].row[t].pass.output;
            stride[l] = model->layer[l].config.output_dim;
        }
        rc = arena_new(arena, &step->joined[t], count * width, what, err);
        if (rc == ERROR_NONE && !arena->counts)
            model_join_rows(model, lower, stride, count, step->joined[t]);
        rows[t] = rows_at(step->joined[t], width);
    }
    return rc;
}

/* Layer `number` and what follows it: from rows [types], which become those of the next. */
static enum error_code run_step(struct typed_trace *trace, int number, struct input_rows *rows,
                                const struct run_wish *wish,
                                const struct model_workspace *workspace, struct error *err)
{
    const struct model *model = trace->model;
    struct typed_step *step = &trace->step[number];
    struct arena *arena = workspace->arena;
    struct input_rows *input = NULL;
    float **output = NULL;
    enum error_code rc = arena_new(arena, &input, type_count(model), what, err);
    if (rc == ERROR_NONE && step->pass.layer->reads_all && !step->pass.is_inferred)
        rc = join_layers(trace, number, rows, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &output, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        input[t] = rows[t];
        rc = begin_type(trace, number, t, &rows[t], wish, arena, err);
        output[t] = step->row[t].pass.output;
    }
    step->pass.input = input;
    step->pass.output = output;
    if (rc == ERROR_NONE && step->pass.layer->second_input >= 0 && !step->pass.is_inferred)
        rc = find_start(trace, number, arena, err);
    if (rc != ERROR_NONE)
        return rc;
    if (wish->dropout)
        activation_set_dropout(&step->pass.slot_dropout, (float)step->pass.layer->config.dropout,
                               stream_of(wish->dropout, number, 0));
    rc = step->pass.layer->type->typed->forward(&step->pass, wish->keep, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        struct type_rows *own = &step->row[t];
        if (own->layer.has_tail)
            rc = layer_tail_forward(&own->tail, &own->pass, arena, workspace->pool, err);
        rows[t] = rows_at(own->pass.output, own->pass.output_dim);
    }
    return rc;
}

static enum error_code new_trace(const struct model *model, const float *value, struct arena *arena,
                                 struct typed_trace **out, struct error *err)
{
    struct typed_trace *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct typed_trace){.model = model, .value = value};
    rc = arena_new(arena, &made->projection, type_count(model), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->fold, type_count(model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++)
        made->fold[t] = (struct projection_fold){0};
    return rc;
}

/* rows [types] that come in, count[t] of type t, become those of the first layer. */
static enum error_code project(struct typed_trace *trace, const uint32_t *count, bool keep,
                               const struct model_workspace *workspace, struct input_rows *rows,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++)
        rc = project_type(trace, t, count[t], keep, workspace, &rows[t], err);
    return rc;
}

/* Where in logits, or in their gradient, the rows of each type are; NULL: it gives none. */
static void place_logits(const struct typed_trace *trace, float *logits,
                         float *out[RELATION_TYPE_COUNT_MAX])
{
    const struct model_types *types = &trace->model->config.types;
    const int last = trace->model->config.layer_count - 1;
    const size_t dim = trace->model->layer[last].config.output_dim;
    size_t row = 0;
    for (uint32_t t = 0; t < types->schema.type_count; t++) {
        const bool gives = types->gives_all || t == types->target_type;
        out[t] = gives ? logits + row * dim : NULL;
        row += gives ? trace->step[last].pass.destination_count[t] : 0;
    }
}

/* Layers write the logits. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code typed_model_forward(const struct model *model, const float *value,
                                    const struct model_input *input,
                                    const struct model_workspace *workspace, float *logits,
                                    struct typed_trace **trace, struct error *err)
{
    const int layers = model->config.layer_count;
    struct run_wish wish = {.dropout = input->dropout, .keep = trace != NULL, .layer = layers - 1};
    struct input_rows rows[RELATION_TYPE_COUNT_MAX] = {{0}};
    struct typed_trace *made = NULL;
    enum error_code rc = new_trace(model, value, workspace->arena, &made, err);
    if (rc != ERROR_NONE)
        return rc;
    made->wants_gradient = input->wants_gradient;
    made->ahead = input->aggregated_relations;
    memcpy(rows, input->type_rows, type_count(model) * sizeof *rows);
    projection_fold_find(model, value, &input->relations[0], made->fold);
    rc = project(made, input->relations[0].source_count, wish.keep, workspace, rows, err);
    for (int i = 0; rc == ERROR_NONE && i < layers; i++) {
        const bool uses_edges = model->layer[i].type->uses_edges;
        const int hop = model->layer[i].hop;
        rc = begin_step(made, i, uses_edges ? &input->relations[hop] : NULL,
                        uses_edges ? NULL : count_at(model, hop, input), workspace->arena, err);
    }
    if (rc == ERROR_NONE)
        place_logits(made, logits, wish.output);
    for (int i = 0; rc == ERROR_NONE && i < layers; i++)
        rc = run_step(made, i, rows, &wish, workspace, err);
    if (rc == ERROR_NONE && trace)
        *trace = made;
    return rc;
}

enum error_code typed_model_infer_layer(const struct model *model, const float *value, int layer,
                                        const struct typed_layer_input *input, uint32_t type,
                                        const struct model_workspace *workspace, float *output,
                                        struct error *err)
{
    struct run_wish wish = {.layer = layer};
    const bool uses_edges = model->layer[layer].type->uses_edges;
    struct input_rows rows[RELATION_TYPE_COUNT_MAX] = {{0}};
    struct typed_trace *made = NULL;
    must(!input->block == !uses_edges);
    wish.output[type] = output;
    enum error_code rc = new_trace(model, value, workspace->arena, &made, err);
    memcpy(rows, input->rows, type_count(model) * sizeof *rows);
    if (rc == ERROR_NONE && layer == 0)
        rc = project(made, uses_edges ? input->block->source_count : input->count, false, workspace,
                     rows, err);
    if (rc == ERROR_NONE)
        rc = begin_step(made, layer, input->block, input->count, workspace->arena, err);
    made->step[layer].pass.sum = input->sum;
    made->step[layer].pass.start = input->start;
    made->step[layer].pass.is_inferred = true;
    return rc == ERROR_NONE ? run_step(made, layer, rows, &wish, workspace, err) : rc;
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

/* From the gradient of what came out behind a tail, *rows [destinations, output_dim], that of what went in. */
static enum error_code tail_back(const struct typed_trace *trace, const struct type_rows *own,
                                 bool is_first, float **rows, struct gradient_part *below,
                                 const struct model_workspace *workspace, float *gradient,
                                 struct error *err)
{
    const struct gradient_parts parts = {
        1, {{*rows, own->pass.output_dim, own->pass.block.destination_count}}};
    *below = (struct gradient_part){0};
    if (!own->layer.has_tail)
        return ERROR_NONE;
    struct tail_backward tail = {.tail = &own->tail,
                                 .pass = &own->pass,
                                 .parts = &parts,
                                 .is_first = is_first,
                                 .gradient = gradient_of_tail(trace->model, &own->layer, gradient)};
    const enum error_code rc = layer_tail_backward(&tail, workspace->arena, workspace->pool, err);
    *rows = tail.layer_gradient;
    *below = tail.below;
    return rc;
}

/* Room for the gradient of what layer `number` read, of the types of which somebody wants it. */
static enum error_code find_input_gradients(struct typed_trace *trace, int number,
                                            struct arena *arena, struct error *err)
{
    const struct model *model = trace->model;
    struct typed_step *step = &trace->step[number];
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        const bool is_projected = model->config.types.projects[t] && !trace->fold[t].columns;
        const bool is_wanted =
            number > 0 || is_projected || (trace->wants_gradient && trace->wants_gradient[t]);
        step->input_gradient[t] = NULL;
        if (is_wanted && step->pass.source_count[t])
            rc = arena_new(arena, &step->input_gradient[t],
                           (size_t)step->pass.source_count[t] * typed_pass_columns(&step->pass, t),
                           what, err);
    }
    step->pass.input_gradient = step->input_gradient;
    return rc;
}

/* The own part of a residual. */
static void add_below(const struct gradient_part *below, size_t dim, float *gradient)
{
    for (size_t i = 0; i < below->row_count; i++)
        for (size_t c = 0; c < dim; c++)
            gradient[i * dim + c] += below->row[i * below->stride + c];
}

/* Where the gradients of folded projections go. */
static void place_projection_gradients(const struct typed_trace *trace, float *gradient)
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

/* Room for gradients of what a layer gave that others than the next layer find. They are zero at
 * first. */
static enum error_code find_more_gradients(struct typed_trace *trace, int number,
                                           struct arena *arena, struct error *err)
{
    struct typed_step *step = &trace->step[number];
    enum error_code rc = ERROR_NONE;
    if (step->more_gradient)
        return ERROR_NONE;
    rc = arena_new(arena, &step->more_gradient, type_count(trace->model), what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++) {
        const size_t count =
            (size_t)step->pass.destination_count[t] * step->pass.layer->config.output_dim;
        rc = arena_new(arena, &step->more_gradient[t], count, what, err);
        for (size_t i = 0; rc == ERROR_NONE && !arena->counts && i < count; i++)
            step->more_gradient[t][i] = 0;
    }
    return rc;
}

/* The gradient of the joined rows of a type goes to the layers below that they are of: of the
 * largest value, to the first that has it. */
static void part_rows(struct typed_trace *trace, int number, uint32_t type, const float *gradient)
{
    const struct model *model = trace->model;
    const struct typed_step *step = &trace->step[number];
    const bool is_max = model->config.jumping_knowledge == JUMP_MAX;
    const size_t width = step->pass.layer->type_input_dim[type];
    for (size_t i = 0; i < step->pass.destination_count[type]; i++)
        for (size_t c = 0; c < width; c++) {
            size_t at = 0;
            for (int l = 0; l < number; l++) {
                const size_t dim = model->layer[l].config.output_dim;
                const float *x = trace->step[l].row[type].pass.output;
                const size_t column = c - at;
                const bool is_it = is_max ? !(x[i * dim + c] < step->joined[type][i * width + c])
                                          : c >= at && column < dim;
                if (is_it) {
                    trace->step[l].more_gradient[type][i * dim + column] += gradient[i * width + c];
                    break;
                }
                at += is_max ? 0 : dim;
            }
        }
}

/* rows [types]: of the joined rows; they become those of what the layer below gave. */
static enum error_code part_layers(struct typed_trace *trace, int number, float **rows,
                                   struct arena *arena, struct error *err)
{
    struct typed_step *below = &trace->step[number - 1];
    enum error_code rc = ERROR_NONE;
    for (int l = 0; rc == ERROR_NONE && l < number; l++)
        rc = find_more_gradients(trace, l, arena, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(trace->model); t++) {
        if (!arena->counts && rows[t] && gives(trace->model, t))
            part_rows(trace, number, t, rows[t]);
        rows[t] = below->more_gradient[t];
    }
    below->more_gradient = NULL;
    return rc;
}

/* Adds them to what the next layer found, rows [types]. */
static void add_more_gradients(const struct typed_trace *trace, int number, float *const *rows)
{
    const struct typed_step *step = &trace->step[number];
    for (uint32_t t = 0; step->more_gradient && t < type_count(trace->model); t++) {
        const struct gradient_part part = {step->more_gradient[t],
                                           step->pass.layer->config.output_dim,
                                           step->pass.destination_count[t]};
        if (rows[t])
            add_below(&part, step->pass.layer->config.output_dim, rows[t]);
    }
}

/* rows [types]: of what layer `number` gave; they become those of what it read. */
static enum error_code step_back(struct typed_trace *trace, int number, float **rows,
                                 const struct model_workspace *workspace, float *gradient,
                                 struct error *err)
{
    struct typed_step *step = &trace->step[number];
    const uint32_t types = type_count(trace->model);
    struct gradient_part below[RELATION_TYPE_COUNT_MAX];
    const int start = step->pass.layer->second_input;
    enum error_code rc = find_input_gradients(trace, number, workspace->arena, err);
    if (rc == ERROR_NONE && start >= 0) {
        rc = find_more_gradients(trace, start, workspace->arena, err);
        step->pass.start_gradient = trace->step[start].more_gradient;
    }
    if (!workspace->arena->counts)
        add_more_gradients(trace, number, rows);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++)
        rc = tail_back(trace, &step->row[t], !step->input_gradient[t], &rows[t], &below[t],
                       workspace, gradient, err);
    if (rc == ERROR_NONE)
        rc = step->pass.layer->type->typed->backward(&step->pass, rows, workspace, gradient, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++) {
        rows[t] = step->input_gradient[t];
        if (!workspace->arena->counts && rows[t])
            add_below(&below[t], typed_pass_columns(&step->pass, t), rows[t]);
    }
    return rc == ERROR_NONE && step->joined
               ? part_layers(trace, number, rows, workspace->arena, err)
               : rc;
}

static enum error_code projection_back(struct typed_trace *trace, uint32_t type, float *rows,
                                       const struct model_workspace *workspace, float *gradient,
                                       struct error *err)
{
    const struct model *model = trace->model;
    struct type_rows *own = &trace->projection[type];
    struct gradient_part below;
    trace->input_gradient[type] = rows;
    if (!model->config.types.projects[type] || !rows || trace->fold[type].columns)
        return ERROR_NONE;
    const bool is_first = !trace->wants_gradient || !trace->wants_gradient[type];
    const struct parameter *parameter = &model->parameter[model->projection_parameter[type]];
    const struct layer_gradient out = {.matrix = {gradient + parameter[0].offset},
                                       .bias = gradient + parameter[1].offset};
    enum error_code rc = tail_back(trace, own, true, &rows, &below, workspace, gradient, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(&own->pass, NULL, rows, is_first, &out, workspace->arena,
                                 workspace->pool, err);
    trace->input_gradient[type] = own->pass.input_gradient;
    return rc;
}

/* Of the rows of the last layer: those of types that give no logits have none. */
static enum error_code begin_gradients(const struct typed_trace *trace,
                                       const float *logits_gradient, struct arena *arena,
                                       float **rows, struct error *err)
{
    const struct model *model = trace->model;
    const int last = model->config.layer_count - 1;
    enum error_code rc = ERROR_NONE;
    place_logits(trace, (float *)logits_gradient, rows); /* it is read alone */
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++) {
        const size_t count = (size_t)trace->step[last].pass.destination_count[t] *
                             model->layer[last].config.output_dim;
        if (rows[t])
            continue;
        rc = arena_new(arena, &rows[t], count, what, err);
        for (size_t i = 0; rc == ERROR_NONE && !arena->counts && i < count; i++)
            rows[t][i] = 0;
    }
    return rc;
}

enum error_code typed_model_backward(struct typed_trace *trace, const float *logits_gradient,
                                     const struct model_workspace *workspace, float *gradient,
                                     struct error *err)
{
    const struct model *model = trace->model;
    float *rows[RELATION_TYPE_COUNT_MAX] = {NULL};
    enum error_code rc = begin_gradients(trace, logits_gradient, workspace->arena, rows, err);
    for (uint64_t i = 0; !workspace->arena->counts && i < model->value_count; i++)
        gradient[i] = 0;
    place_projection_gradients(trace, gradient);
    for (int i = model->config.layer_count - 1; rc == ERROR_NONE && i >= 0; i--)
        rc = step_back(trace, i, rows, workspace, gradient, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count(model); t++)
        rc = projection_back(trace, t, rows[t], workspace, gradient, err);
    return rc;
}

const float *typed_model_input_gradient(const struct typed_trace *trace, uint32_t type)
{
    return trace->input_gradient[type];
}
