/* Forward and backward of a whole model, and one layer of it alone in inference (model.h); in training: layer_training.c. */
#include "common/nn/layers/gat_windows.h"
#include "common/nn/layers/gatv2_windows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"
#include "common/nn/typed/typed_model.h"

#include <math.h>
#include <string.h>

static struct random_stream stream_of_layer(const struct random_stream *stream, int layer)
{
    struct random_stream own = *stream;
    own.purpose_word = (own.purpose_word & ~0x00ff0000U) | (uint32_t)layer << 16;
    return own;
}

/* The last layer's output is not dropped. */
static void set_dropout(struct layer_pass *pass, struct layer_tail *tail, bool is_last,
                        struct random_stream stream)
{
    const struct model_layer *layer = pass->layer;
    activation_set_dropout(&pass->slot_dropout, (float)layer->config.dropout, stream);
    if (layer->has_tail && !is_last)
        activation_set_dropout(&tail->dropout, (float)layer->config.dropout, stream);
    else if (layer->config.activation == ACTIVATION_RELU)
        activation_set_dropout(&pass->activation, (float)layer->config.dropout, stream);
}

/* The last layer's output is the caller's, in floats. The others' lie in the arena, as the next reads
 * them. */
static enum error_code place_output(struct layer_pass *pass, bool is_last, float *logits,
                                    struct arena *arena, struct error *err)
{
    pass->output = logits;
    if (is_last)
        return ERROR_NONE;
    pass->output_precision = pass->precision;
    return arena_new_bytes(arena, &pass->output,
                           pass->block.destination_count *
                               precision_stride(pass->precision, pass->output_dim),
                           precision_bytes(pass->precision), "activations", err);
}

struct message_block model_trace_block(const struct model *model, int layer,
                                       const struct model_input *input)
{
    const struct model_layer *own = &model->layer[layer];
    if (own->type->uses_edges)
        return input->block[own->hop];
    uint32_t rows = input->seed_count;
    if (own->hop < model->hop_count)
        rows = input->block[own->hop].source_count;
    else if (own->hop > 0)
        rows = input->block[own->hop - 1].destination_count;
    return (struct message_block){.destination_count = rows, .source_count = rows};
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

/* What the last layer reads, when it reads all. */
static enum error_code join_layers(const struct model *model, struct model_trace *trace,
                                   uint32_t row_count, struct input_rows *rows, struct arena *arena,
                                   struct error *err)
{
    const int count = model->config.layer_count - 1;
    const size_t width = model->layer[count].input_dim;
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    const enum error_code rc =
        arena_new(arena, &trace->joined, row_count * width, "joined layers", err);
    for (int l = 0; l < count; l++) {
        lower[l] = trace->layer[l].output;
        stride[l] = model->layer[l].config.output_dim;
    }
    if (rc == ERROR_NONE && !arena->counts)
        model_join_rows(model, lower, stride, row_count, trace->joined);
    *rows = (struct input_rows){.base = trace->joined, .stride = width};
    return rc;
}

/* A layer and what follows it, into pass->output. */
static enum error_code run_layer(const struct model *model, const float *value,
                                 struct layer_pass *pass, struct layer_tail *tail, bool keep,
                                 const struct model_workspace *workspace, struct error *err)
{
    struct arena *arena = workspace->arena;
    enum error_code rc = ERROR_NONE;
    if (pass->layer->has_tail)
        rc = layer_tail_begin(tail, model, value, pass, keep, arena, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(pass, keep, arena, workspace->pool, err);
    if (rc == ERROR_NONE && pass->layer->has_tail)
        rc = layer_tail_forward(tail, pass, arena, workspace->pool, err);
    return rc;
}

/* What the layer below it gives, or the model reads. */
static struct input_rows rows_below(const struct way_forth *forth, int layer)
{
    const struct model *model = forth->model;
    if (layer == 0)
        return forth->input->rows;
    return (struct input_rows){
        .base = forth->trace->layer[layer - 1].output,
        .stride =
            precision_stride(model->config.precision, model->layer[layer - 1].config.output_dim),
        .precision = model->config.precision};
}

/* Fills in its pass and its tail, but for where its output goes. */
static enum error_code prepare_layer(const struct way_forth *forth, int layer, struct error *err)
{
    const struct model *model = forth->model;
    const struct model_layer *own = &model->layer[layer];
    const struct model_input *input = forth->input;
    struct model_trace *trace = forth->trace;
    struct layer_pass *pass = &trace->layer[layer];
    struct layer_tail *tail = &trace->tail[layer];
    struct arena *arena = forth->workspace->arena;
    const struct message_block block = model_trace_block(model, layer, input);
    struct input_rows rows = rows_below(forth, layer);
    enum error_code rc = ERROR_NONE;
    *tail = (struct layer_tail){0};
    if (own->reads_all)
        rc = join_layers(model, trace, block.destination_count, &rows, arena, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_init(pass, model, trace->value, layer, &block, &rows, arena, err);
    if (rc != ERROR_NONE)
        return rc;
    if (input->dropout)
        set_dropout(pass, tail, layer == model->config.layer_count - 1,
                    stream_of_layer(input->dropout, layer));
    if (own->second_input >= 0)
        pass->second_input = trace->layer[own->second_input].output;
    if (layer == 0) {
        pass->aggregated = input->aggregated;
        pass->aggregated_count = input->aggregated_count;
    }
    return ERROR_NONE;
}

enum error_code model_trace_forward(const struct way_forth *forth, int layer, float *logits,
                                    struct error *err)
{
    const struct model *model = forth->model;
    struct layer_pass *pass = &forth->trace->layer[layer];
    const bool is_last = layer == model->config.layer_count - 1;
    enum error_code rc = prepare_layer(forth, layer, err);
    if (rc == ERROR_NONE)
        rc = place_output(pass, is_last, logits, forth->workspace->arena, err);
    return rc == ERROR_NONE
               ? run_layer(model, forth->trace->value, pass, &forth->trace->tail[layer],
                           forth->keeps, forth->workspace, err)
               : rc;
}

enum error_code model_trace_new(const struct model *model, const float *value, struct arena *arena,
                                struct model_trace **out, struct error *err)
{
    const enum error_code rc = arena_new(arena, out, 1, "the trace of a model", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->value = value;
    (*out)->typed = NULL;
    (*out)->joined = NULL;
    (*out)->layer_count = model->config.layer_count;
    return ERROR_NONE;
}

enum error_code model_forward(const struct model *model, const float *value,
                              const struct model_input *input,
                              const struct model_workspace *workspace, float *logits,
                              struct model_trace **trace, struct error *err)
{
    struct model_trace *made = NULL;
    if (trace)
        *trace = NULL;
    enum error_code rc = model_trace_new(model, value, workspace->arena, &made, err);
    if (rc != ERROR_NONE)
        return rc;
    if (model_is_typed(model)) {
        rc = typed_model_forward(model, value, input, workspace, logits,
                                 trace ? &made->typed : NULL, err);
        made->layer_count = 0;
    }
    const struct way_forth forth = {.model = model,
                                    .input = input,
                                    .workspace = workspace,
                                    .trace = made,
                                    .keeps = trace != NULL};
    for (int layer = 0; rc == ERROR_NONE && layer < made->layer_count; layer++)
        rc = model_trace_forward(&forth, layer, logits, err);
    if (rc == ERROR_NONE && trace)
        *trace = made;
    return rc;
}

static struct layer_gradient gradient_of_layer(const struct model *model, int layer,
                                               float *gradient)
{
    const struct model_layer *own = &model->layer[layer];
    struct layer_gradient out =
        layer_pass_gradient(own, &model->parameter[own->first_parameter], gradient);
    for (int i = 0; own->config.inner_norm == NORM_BATCH && i < 3; i++)
        out.statistics[i] = gradient + model->parameter[own->inner_buffer_parameter + i].offset;
    return out;
}

static struct layer_tail_gradient gradient_of_tail(const struct model *model, int layer,
                                                   float *gradient)
{
    const struct model_layer *own = &model->layer[layer];
    struct layer_tail_gradient out = {0};
    if (own->residual_parameter >= 0)
        out.residual = gradient + model->parameter[own->residual_parameter].offset;
    if (own->norm_parameter >= 0) {
        out.weight = gradient + model->parameter[own->norm_parameter].offset;
        out.bias = gradient + model->parameter[own->norm_parameter + 1].offset;
    }
    if (own->buffer_parameter >= 0) {
        const struct parameter *buffer = &model->parameter[own->buffer_parameter];
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

/* The gradient of the joined rows goes to the layers that they are of: of the largest value, to the first that has it. */
static void route_largest(const struct model *model, const struct model_trace *trace,
                          const float *gradient, float *const *out)
{
    const int count = model->config.layer_count - 1;
    const size_t dim = model->layer[count].input_dim;
    const size_t rows = trace->layer[count].block.destination_count;
    for (size_t i = 0; i < rows * dim; i++) {
        bool found = false;
        for (int l = 0; l < count; l++) {
            const float *x = trace->layer[l].output;
            const bool is_it = !found && !(x[i] < trace->joined[i]);
            out[l][i] = is_it ? gradient[i] : 0;
            found |= is_it;
        }
    }
}

static enum error_code part_layers(const struct model *model, const struct model_trace *trace,
                                   struct gradient_parts *parts, struct arena *arena,
                                   struct error *err)
{
    const int count = model->config.layer_count - 1;
    const struct layer_pass *last = &trace->layer[count];
    const uint32_t rows = last->block.destination_count;
    const size_t width = last->input_dim;
    const bool largest = model->config.jumping_knowledge == JUMP_MAX;
    float *room = NULL, *part[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = arena_new(arena, &room, rows * width, "gradients of joined layers", err);
    for (int l = 0; rc == ERROR_NONE && largest && l < count; l++)
        rc = arena_new(arena, &part[l], rows * width, "gradients of joined layers", err);
    if (rc != ERROR_NONE)
        return rc;
    const float *gradient =
        arena->counts ? room : layer_pass_input_gradient(last, width, 0, rows, room);
    size_t at = 0;
    for (int l = 0; l < count; l++) {
        add_part(&parts[l], (struct gradient_part){largest ? part[l] : gradient + at, width, rows});
        at += model->layer[l].config.output_dim;
    }
    if (largest && !arena->counts)
        route_largest(model, trace, gradient, part);
    return ERROR_NONE;
}

enum error_code model_trace_backward(struct way_back *back, int layer, const float *logits_gradient,
                                     struct error *err)
{
    const struct model *model = back->model;
    struct model_trace *trace = back->trace;
    struct gradient_parts *parts = back->parts;
    const struct model_workspace *workspace = back->workspace;
    struct layer_pass *pass = &trace->layer[layer];
    const bool is_read_by_next = layer < trace->layer_count - 1 && !pass[1].layer->reads_all;
    const struct layer_pass *above = is_read_by_next ? pass + 1 : NULL;
    const bool is_first = layer == 0 && !back->input;
    const int second = pass->layer->second_input;
    const struct layer_gradient out = gradient_of_layer(model, layer, back->gradient);
    enum error_code rc = ERROR_NONE;
    if (second >= 0)
        rc = arena_new(workspace->arena, &pass->second_gradient,
                       pass->block.destination_count * (size_t)pass->input_dim, "gradients", err);
    if (rc == ERROR_NONE && pass->layer->has_tail) {
        struct tail_backward tail = {.tail = &trace->tail[layer],
                                     .pass = pass,
                                     .above = above,
                                     .parts = &parts[layer],
                                     .is_first = is_first,
                                     .gradient = gradient_of_tail(model, layer, back->gradient)};
        rc = layer_tail_backward(&tail, workspace->arena, workspace->pool, err);
        if (!is_first)
            add_part(layer > 0 ? &parts[layer - 1] : back->input, tail.below);
        logits_gradient = tail.layer_gradient;
        above = NULL;
    }
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(pass, above, logits_gradient, is_first, &out, workspace->arena,
                                 workspace->pool, err);
    if (rc == ERROR_NONE && pass->layer->reads_all)
        rc = part_layers(model, trace, parts, workspace->arena, err);
    if (second >= 0)
        add_part(&parts[second], (struct gradient_part){pass->second_gradient, pass->input_dim,
                                                        pass->block.destination_count});
    return rc;
}

static enum error_code go_back(const struct model *model, const float *value,
                               struct model_trace *trace, const float *logits_gradient,
                               struct gradient_parts *input,
                               const struct model_workspace *workspace, float *gradient,
                               struct error *err)
{
    const int last = trace->layer_count - 1;
    struct way_back back = {.model = model,
                            .trace = trace,
                            .input = input,
                            .workspace = workspace,
                            .gradient = gradient};
    enum error_code rc = ERROR_NONE;
    must(value == trace->value);
    if (trace->typed)
        return typed_model_backward(trace->typed, logits_gradient, workspace, gradient, err);
    add_part(&back.parts[last],
             (struct gradient_part){logits_gradient, trace->layer[last].output_dim,
                                    trace->layer[last].block.destination_count});
    for (int layer = last; rc == ERROR_NONE && layer >= 0; layer--)
        rc = model_trace_backward(&back, layer, logits_gradient, err);
    return rc;
}

enum error_code model_backward(const struct model *model, const float *value,
                               struct model_trace *trace, const float *logits_gradient,
                               const struct model_workspace *workspace, float *gradient,
                               struct error *err)
{
    return go_back(model, value, trace, logits_gradient, NULL, workspace, gradient, err);
}

struct input_job {
    const struct layer_pass *pass;
    const struct gradient_parts *parts; /* to be added; NULL: none */
    float *out;
};

static void input_tile(void *context, int64_t tile, int thread)
{
    const struct input_job *job = context;
    const struct layer_pass *pass = job->pass;
    const size_t dim = pass->input_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->block.source_count);
    float *out = job->out + first * dim;
    const float *found = layer_pass_input_gradient(pass, dim, first, end, out);
    (void)thread;
    if (found != out)
        memcpy(out, found, (end - first) * dim * sizeof *out);
    for (int p = 0; job->parts && p < job->parts->count; p++) {
        const struct gradient_part *part = &job->parts->part[p];
        for (uint32_t row = first; row < end && row < part->row_count; row++)
            for (size_t c = 0; c < dim; c++)
                out[(row - first) * dim + c] += part->row[row * part->stride + c];
    }
}

enum error_code model_trace_input_gradient(const struct layer_pass *pass,
                                           const struct gradient_parts *parts,
                                           const struct model_workspace *workspace, float **out,
                                           struct error *err)
{
    const uint32_t rows = pass->block.source_count;
    const enum error_code rc = arena_new(workspace->arena, out, rows * (size_t)pass->input_dim,
                                         "the gradient of the input", err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(rows), input_tile,
                        &(struct input_job){pass, parts, *out});
    return rc;
}

enum error_code model_backward_to_input(const struct model *model, const float *value,
                                        struct model_trace *trace, const float *logits_gradient,
                                        const struct model_workspace *workspace, float *gradient,
                                        float **input_gradient, struct error *err)
{
    struct gradient_parts parts = {0};
    const struct layer_pass *first = &trace->layer[0];
    must(workspace->arena->counts || !first->input.mostly_zero);
    const enum error_code rc =
        go_back(model, value, trace, logits_gradient, &parts, workspace, gradient, err);
    return rc == ERROR_NONE
               ? model_trace_input_gradient(first, &parts, workspace, input_gradient, err)
               : rc;
}

const float *model_input_gradient(const struct model_trace *trace, uint32_t type)
{
    return typed_model_input_gradient(trace->typed, type);
}

/* `sum` NULL: the sources are there. */
static enum error_code infer_layer(const struct model *model, const float *value, int layer,
                                   const struct layer_input *input, const float *sum,
                                   const struct model_workspace *workspace, float *output,
                                   struct error *err)
{
    struct layer_pass pass;
    struct layer_tail tail = {0};
    must(!model_is_typed(model));
    const enum error_code rc = layer_pass_init(&pass, model, value, layer, &input->block,
                                               &input->rows, workspace->arena, err);
    must(!input->second == (model->layer[layer].second_input < 0));
    pass.second_input = input->second;
    pass.sum = pass.aggregation.sum = sum;
    pass.output = output;
    pass.projects_first = false; /* sources are of many tiles, destinations of one */
    return rc == ERROR_NONE ? run_layer(model, value, &pass, &tail, false, workspace, err) : rc;
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
