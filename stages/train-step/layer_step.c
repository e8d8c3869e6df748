#include "stages/train-step/layer_step.h"

#include "common/nn/layer_training.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/train-step/step_loss.h"
#include "store/records/parameter_values.h"
#include "store/records/round/pass_gradient.h"
#include "store/records/round/pass_output.h"

#include <inttypes.h>
#include <string.h>

enum { VIEWS_MAX = 2 * LAYER_COUNT_MAX };

/* A pass that is being computed. */
struct pass {
    const struct layer_step *step;
    const struct model *model;
    const struct unit *unit;
    struct pipeline_pass at;
    struct step_batch batch;
    struct random_stream dropout;
    struct model_input input;
    struct model_workspace workspace;
    struct model_trace *trace;
    struct layer_output output[LAYER_COUNT_MAX];
    float *value;            /* [value_count]; only the values of the layer are written */
    struct loss_result loss; /* set by the last layer */
    struct record_view view[VIEWS_MAX]; /* [view_count]: records that the pass borrows from */
    int view_count;
};

static bool is_last_layer(const struct pass *pass)
{
    return pass->at.layer == pass->model->config.layer_count - 1;
}

static void end_pass(struct pass *pass)
{
    for (int i = 0; i < pass->view_count; i++)
        store_release_record(&pass->view[i]);
    pass->view_count = 0;
}

static void hold(struct pass *pass, const struct record_view *view)
{
    must(pass->view_count < VIEWS_MAX);
    pass->view[pass->view_count++] = *view;
}

/* Returns the number of rows of all types that a layer outputs. In a record the types lie one
 * after the other. */
static uint32_t rows_of(const struct pass *pass, int layer)
{
    uint32_t rows = 0;
    for (uint32_t t = 0; t < model_type_count(pass->model); t++)
        rows += layer_training_rows(pass->model, layer, &pass->input, t);
    return rows;
}

/* Returns the bytes of `rows` rows of a hidden layer's output. */
static size_t row_bytes(const struct model *model, int layer, uint32_t rows)
{
    const enum precision precision = model->config.precision;
    return rows * precision_stride(precision, model_layer_output_dim(model, layer)) *
           precision_bytes(precision);
}

/* --- the inputs of a pass --- */

static enum error_code check_version(const struct pass *pass, const struct record_view *view,
                                     uint64_t version, struct error *err)
{
    return parameter_version_check(view, version, pass->unit->round, err);
}

static enum error_code wrong_shape(const struct record_view *view, uint32_t rows, uint32_t columns,
                                   uint64_t expected_rows, uint64_t expected_columns,
                                   struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "record %s: %" PRIu32 " rows of %" PRIu32 " columns, expected %" PRIu64
                     " rows of %" PRIu64 " columns",
                     view->key, rows, columns, expected_rows, expected_columns);
}

/* Points the rows of each type into the record at `value`. They are only read. */
static void place_output(struct pass *pass, int layer, const void *value)
{
    const char *at = value;
    for (uint32_t t = 0; t < model_type_count(pass->model); t++) {
        memcpy(&pass->output[layer].row[t], &at, sizeof at);
        at +=
            row_bytes(pass->model, layer, layer_training_rows(pass->model, layer, &pass->input, t));
    }
}

static enum error_code read_output(struct pass *pass, int layer, struct error *err)
{
    const struct model *model = pass->model;
    const struct unit *unit = pass->unit;
    const char *run_id = pass->step->context->run_id;
    const struct key key = key_pass_output(run_id, unit->round, layer + 1, unit->slot);
    const uint32_t rows = rows_of(pass, layer), columns = model_layer_output_dim(model, layer);
    struct pass_output output = {0};
    enum error_code rc = pass_output_get(pass->step->context->store, run_id, &key, &output, err);
    if (rc != ERROR_NONE)
        return rc;
    hold(pass, &output.view);
    rc = check_version(pass, &output.view, output.weights_version, err);
    if (rc == ERROR_NONE && (output.row_count != rows || output.column_count != columns ||
                             output.precision != model->config.precision))
        rc = wrong_shape(&output.view, output.row_count, output.column_count, rows, columns, err);
    place_output(pass, layer, output.value);
    return rc;
}

static enum error_code read_outputs(struct pass *pass, struct error *err)
{
    const uint32_t reads = layer_training_reads(pass->model, pass->at.layer);
    enum error_code rc = ERROR_NONE;
    for (int layer = 0; layer < pass->at.layer && rc == ERROR_NONE; layer++)
        if (reads >> layer & 1)
            rc = read_output(pass, layer, err);
    return rc;
}

/* Reads the gradient record of a layer above. The caller releases the view, also after a
 * failure. */
static enum error_code read_gradient(struct pass *pass, int layer, struct pass_gradient *out,
                                     struct error *err)
{
    const struct unit *unit = pass->unit;
    const char *run_id = pass->step->context->run_id;
    const int number = 2 * pass->model->config.layer_count - 1 - layer;
    const struct key key = key_pass_gradient(run_id, unit->round, number, unit->slot);
    const enum error_code rc =
        pass_gradient_get(pass->step->context->store, run_id, &key, out, err);
    return rc == ERROR_NONE ? check_version(pass, &out->view, out->weights_version, err) : rc;
}

/* Takes the gradient that a layer above computed for this layer's output. Backward overwrites
 * the part of the layer directly above, so that part is copied. */
static enum error_code take_part(struct pass *pass, const struct record_view *view,
                                 const struct pass_gradient_part *part, struct error *err)
{
    const int layer = pass->at.layer;
    const uint32_t columns = model_layer_output_dim(pass->model, layer);
    const uint32_t rows = part->type < model_type_count(pass->model)
                              ? layer_training_rows(pass->model, layer, &pass->input, part->type)
                              : 0;
    const size_t count = (size_t)part->row_count * part->column_count;
    float *next = NULL;
    if (part->column_count != columns || part->row_count > rows ||
        (part->is_next && part->row_count != rows))
        return wrong_shape(view, part->row_count, part->column_count, rows, columns, err);
    if (!part->is_next) {
        const struct gradient_part given = {part->row, columns, part->row_count};
        return layer_training_give_part(pass->trace, layer, part->type, &given)
                   ? ERROR_NONE
                   : error_set(err, ERROR_CORRUPT, "record %s: more parts than layers", view->key);
    }
    const enum error_code rc =
        arena_new(pass->workspace.arena, &next, count, "the gradient of an output", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(next, part->row, count * sizeof *next);
    return layer_training_give_next(pass->trace, layer, part->type, next, err);
}

/* Takes the parts that the layer `above` left for this one. Some parts stay in the record, which
 * is then held. */
static enum error_code take_parts(struct pass *pass, int above, struct error *err)
{
    struct pass_gradient left = {0};
    bool is_borrowed = false;
    enum error_code rc = read_gradient(pass, above, &left, err);
    for (int i = 0; i < left.part_count && rc == ERROR_NONE; i++)
        if (left.part[i].layer == (uint32_t)pass->at.layer) {
            is_borrowed |= !left.part[i].is_next;
            rc = take_part(pass, &left.view, &left.part[i], err);
        }
    if (is_borrowed)
        hold(pass, &left.view);
    else
        store_release_record(&left.view);
    return rc;
}

/* Reads the gradients of all layers that read this one, highest first. The whole step adds them
 * up in the same order, so the bits are equal. */
static enum error_code read_gradients(struct pass *pass, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int above = pass->model->config.layer_count - 1;
         above > pass->at.layer && rc == ERROR_NONE; above--)
        if (layer_training_reads(pass->model, above) >> pass->at.layer & 1)
            rc = take_parts(pass, above, err);
    return rc;
}

/* Reads the mini-batch, the weights and the outputs of the layers below. */
static enum error_code begin_pass(struct pass *pass, const struct layer_step *step,
                                  const struct unit *unit, int32_t number, struct error *err)
{
    const struct stage_context *context = step->context;
    const struct schedule *s = context->schedule;
    int64_t source_round = 0;
    int32_t source_slot = 0;
    *pass =
        (struct pass){.step = step,
                      .model = &step->input->model,
                      .unit = unit,
                      .at = layer_pipeline_pass(s, number),
                      .dropout = random_stream_of(s->seed, RANDOM_DROPOUT, (uint32_t)unit->round, 0,
                                                  (uint32_t)unit->slot),
                      .workspace = {step->arena, context->pool}};
    schedule_batch_source(s, unit->round, unit->slot, &source_round, &source_slot);
    const struct key key = key_mini_batch(context->run_id, source_round, source_slot);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = step_input_weights(context, step->input, unit->round, err);
    if (rc == ERROR_NONE)
        rc = step_input_layer(context, step->input, &key, pass->at.layer, step->arena, &pass->batch,
                              err);
    if (rc != ERROR_NONE)
        return rc;
    pass->input = step_batch_input(&pass->batch, &pass->dropout);
    return read_outputs(pass, err);
}

/* --- the computation of a pass --- */

/* Returns where the logits are: in the rows of the target type that the last layer outputs. */
static void **logits_of(struct pass *pass)
{
    const struct model *model = pass->model;
    return &pass->output[model->config.layer_count - 1].row[model->config.types.target_type];
}

static enum error_code run_forward(struct pass *pass, const float *weights, struct error *err)
{
    const size_t logits = (size_t)pass->input.seed_count * model_output_dim(pass->model);
    enum error_code rc = ERROR_NONE;
    if (is_last_layer(pass))
        rc = arena_new_bytes(pass->workspace.arena, logits_of(pass), logits, sizeof(float),
                             "logits", err);
    return rc == ERROR_NONE
               ? layer_training_forward(pass->model, weights, pass->at.layer, &pass->input,
                                        pass->output, &pass->workspace, &pass->trace, err)
               : rc;
}

static enum error_code go_forward(struct pass *pass, struct error *err)
{
    const struct layer_step *step = pass->step;
    stage_times_enter(step->context->times, TIME_COMPUTE);
    return run_forward(pass, step->input->weights.value, err);
}

/* Gives the last layer the gradient of the logits, which exists for the target type only. */
static void give_slope(struct pass *pass, const float *slope)
{
    const uint32_t classes = model_output_dim(pass->model);
    must(layer_training_give_part(pass->trace, pass->at.layer,
                                  pass->model->config.types.target_type,
                                  &(struct gradient_part){slope, classes, pass->input.seed_count}));
}

static enum error_code find_slope(struct pass *pass, struct error *err)
{
    const struct layer_step *step = pass->step;
    const struct stage_context *context = step->context;
    const uint32_t classes = model_output_dim(pass->model), seeds = pass->batch.seed_count;
    const void *labels = NULL;
    float *slope = NULL;
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc =
        step_input_labels(context, step->input, &pass->batch, step->arena, &labels, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE)
        rc = arena_new(step->arena, &slope, (size_t)seeds * classes, "the gradient of the logits",
                       err);
    if (rc == ERROR_NONE)
        rc = step_loss_of_seeds(context, &step->loss->rule, &pass->batch, *logits_of(pass), labels,
                                slope, &pass->loss, err);
    if (rc == ERROR_NONE)
        give_slope(pass, slope);
    return rc;
}

static enum error_code go_backward(struct pass *pass, float *value, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    pass->value = value;
    stage_times_enter(pass->step->context->times, TIME_READ);
    rc = is_last_layer(pass) ? find_slope(pass, err) : read_gradients(pass, err);
    stage_times_enter(pass->step->context->times, TIME_COMPUTE);
    return rc == ERROR_NONE ? layer_training_backward(pass->trace, pass->at.layer, value, err) : rc;
}

/* --- the records of a pass --- */

/* Clears the element after an odd number of bf16 columns. It is padding and may hold anything,
 * which would change the bytes of the record. */
static void clear_padding(struct pass_output *output, void *value)
{
    const size_t stride = precision_stride(output->precision, output->column_count);
    bf16 *element = value;
    if (stride == output->column_count)
        return;
    for (uint32_t row = 0; row < output->row_count; row++)
        element[row * stride + output->column_count] = 0;
}

/* Sets *out to the rows of all types in one piece. Rows of a single type are not copied. */
static enum error_code pack_output(const struct pass *pass, void **out, struct error *err)
{
    const int layer = pass->at.layer;
    const size_t bytes = row_bytes(pass->model, layer, rows_of(pass, layer));
    size_t at = 0;
    *out = pass->output[layer].row[0];
    if (model_type_count(pass->model) == 1)
        return ERROR_NONE;
    const enum error_code rc = arena_new_bytes(pass->workspace.arena, out, bytes, 1, "rows", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(pass->model); t++) {
        const size_t own =
            row_bytes(pass->model, layer, layer_training_rows(pass->model, layer, &pass->input, t));
        const void *rows = pass->output[layer].row[t];
        if (rows && own && !pass->workspace.arena->counts)
            memcpy((char *)*out + at, rows, own);
        at += own;
    }
    return rc;
}

static enum error_code put_output(const struct pass *pass, struct error *err)
{
    const struct stage_context *context = pass->step->context;
    const struct unit *unit = pass->unit;
    const int layer = pass->at.layer;
    const struct key key = key_pass_output(context->run_id, unit->round, unit->layer, unit->slot);
    void *value = NULL;
    const enum error_code rc = pack_output(pass, &value, err);
    if (rc != ERROR_NONE)
        return rc;
    struct pass_output output = {.weights_version = (uint64_t)unit->round,
                                 .row_count = rows_of(pass, layer),
                                 .column_count = model_layer_output_dim(pass->model, layer),
                                 .precision = pass->model->config.precision,
                                 .value = value};
    clear_padding(&output, value);
    stage_times_enter(context->times, TIME_WRITE);
    return pass_output_put(context->store, context->run_id, &key, &output, err);
}

/* The parts that a layer leaves, before they are packed. stride[i] is the stride of the rows of
 * part i. */
struct left_parts {
    struct pass_gradient *out;
    size_t stride[PASS_GRADIENT_PARTS_MAX];
};

static void add_part(struct left_parts *left, int layer, uint32_t type, uint32_t columns,
                     const struct gradient_part *part)
{
    struct pass_gradient *out = left->out;
    must(out->part_count < PASS_GRADIENT_PARTS_MAX);
    left->stride[out->part_count] = part->stride;
    out->part[out->part_count++] = (struct pass_gradient_part){.layer = (uint32_t)layer,
                                                               .type = type,
                                                               .row_count = part->row_count,
                                                               .column_count = columns,
                                                               .row = part->row};
}

/* Finds the parts left for the rows of a type of layer `layer`, in the order in which they were
 * left. The part of the layer directly above comes last. */
static enum error_code find_parts(const struct pass *pass, int layer, uint32_t type,
                                  struct left_parts *left, struct error *err)
{
    const struct gradient_parts *parts = layer_training_parts(pass->trace, layer, type);
    const uint32_t columns = model_layer_output_dim(pass->model, layer);
    const uint32_t rows = layer_training_rows(pass->model, layer, &pass->input, type);
    float *next = NULL;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < parts->count; i++)
        add_part(left, layer, type, columns, &parts->part[i]);
    if (layer == pass->at.layer - 1)
        rc = layer_training_next(pass->trace, pass->at.layer, type, &next, err);
    if (rc != ERROR_NONE || !next)
        return rc;
    add_part(left, layer, type, columns, &(struct gradient_part){next, columns, rows});
    left->out->part[left->out->part_count - 1].is_next = true;
    return ERROR_NONE;
}

/* Copies the rows of the parts to one piece, part after part. */
static enum error_code join_parts(const struct pass *pass, struct left_parts *left,
                                  struct error *err)
{
    struct pass_gradient *out = left->out;
    size_t count = 0;
    float *row = NULL;
    for (int i = 0; i < out->part_count; i++)
        count += (size_t)out->part[i].row_count * out->part[i].column_count;
    const enum error_code rc = arena_new(pass->workspace.arena, &row, count, "gradients", err);
    if (rc != ERROR_NONE || pass->workspace.arena->counts)
        return rc;
    for (int i = 0; i < out->part_count; i++) {
        struct pass_gradient_part *part = &out->part[i];
        const float *from = part->row;
        part->row = row;
        for (uint32_t r = 0; r < part->row_count; r++, row += part->column_count)
            memcpy(row, from + r * left->stride[i], part->column_count * sizeof *row);
    }
    return ERROR_NONE;
}

static enum error_code pack_parts(const struct pass *pass, struct pass_gradient *out,
                                  struct error *err)
{
    struct left_parts left = {.out = out};
    enum error_code rc = ERROR_NONE;
    for (int layer = 0; layer < pass->at.layer; layer++)
        for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(pass->model); t++)
            rc = find_parts(pass, layer, t, &left, err);
    const bool is_whole = out->part_count == 1 && left.stride[0] == out->part[0].column_count;
    return rc == ERROR_NONE && !is_whole ? join_parts(pass, &left, err) : rc;
}

static uint64_t value_count_of(const struct model *model, int layer)
{
    struct value_range range[LAYER_VALUE_RANGES_MAX];
    uint64_t count = 0;
    for (int i = layer_training_values(model, layer, range) - 1; i >= 0; i--)
        count += range[i].count;
    return count;
}

/* Copies the values of a layer, range after range, from their places among all values. */
static void pack_values(const struct model *model, int layer, const float *all, float *own)
{
    struct value_range range[LAYER_VALUE_RANGES_MAX];
    const int count = layer_training_values(model, layer, range);
    for (int i = 0; i < count; own += range[i++].count)
        memcpy(own, all + range[i].first, range[i].count * sizeof *own);
}

static void unpack_values(const struct model *model, int layer, const float *own, float *all)
{
    struct value_range range[LAYER_VALUE_RANGES_MAX];
    const int count = layer_training_values(model, layer, range);
    for (int i = 0; i < count; own += range[i++].count)
        memcpy(all + range[i].first, own, range[i].count * sizeof *own);
}

static enum error_code put_gradient(const struct pass *pass, struct error *err)
{
    const struct stage_context *context = pass->step->context;
    const struct unit *unit = pass->unit;
    const struct key key = key_pass_gradient(context->run_id, unit->round, unit->layer, unit->slot);
    const struct loss_result loss = step_loss_of_slot(&pass->loss);
    struct pass_gradient gradient = {.weights_version = (uint64_t)unit->round,
                                     .value_count = value_count_of(pass->model, pass->at.layer),
                                     .has_loss = is_last_layer(pass),
                                     .seed_count = loss.label_count,
                                     .correct_count = loss.correct_count,
                                     .loss_sum = loss.sum};
    float *own = NULL;
    enum error_code rc = pack_parts(pass, &gradient, err);
    if (rc == ERROR_NONE)
        rc = arena_new(pass->workspace.arena, &own, (size_t)gradient.value_count, "gradients", err);
    if (rc != ERROR_NONE)
        return rc;
    pack_values(pass->model, pass->at.layer, pass->value, own);
    gradient.value = own;
    stage_times_enter(context->times, TIME_WRITE);
    return pass_gradient_put(context->store, context->run_id, &key, &gradient, err);
}

enum error_code layer_step_pass(const struct layer_step *step, const struct unit *unit,
                                struct error *err)
{
    struct pass pass;
    float *value = NULL;
    enum error_code rc = begin_pass(&pass, step, unit, unit->layer, err);
    if (rc == ERROR_NONE)
        rc = go_forward(&pass, err);
    if (rc == ERROR_NONE && !pass.at.is_backward)
        rc = put_output(&pass, err);
    if (rc == ERROR_NONE && pass.at.is_backward) {
        rc = arena_new(step->arena, &value, (size_t)pass.model->value_count, "the gradient", err);
        if (rc == ERROR_NONE)
            rc = go_backward(&pass, value, err);
        if (rc == ERROR_NONE)
            rc = put_gradient(&pass, err);
    }
    end_pass(&pass);
    return rc;
}

/* --- the last pass --- */

/* Adds the values and the loss that layer `layer` left in its record. */
static enum error_code gather_layer(struct pass *pass, int layer, struct gradient *out,
                                    struct error *err)
{
    const struct model *model = pass->model;
    const uint64_t expected = value_count_of(model, layer);
    const bool is_last = layer == model->config.layer_count - 1;
    struct pass_gradient found = {0};
    enum error_code rc = read_gradient(pass, layer, &found, err);
    if (rc == ERROR_NONE && (found.value_count != expected || found.has_loss != is_last))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: %" PRIu64 " values, expected the %" PRIu64
                       " of layer %d, and a loss of the last layer alone",
                       found.view.key, found.value_count, expected, layer + 1);
    if (rc == ERROR_NONE && expected > 0)
        unpack_values(model, layer, found.value, pass->value);
    out->seed_count += found.seed_count;
    out->correct_count += found.correct_count;
    out->loss_sum += found.loss_sum;
    store_release_record(&found.view);
    return rc;
}

static enum error_code gather(struct pass *pass, struct gradient *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int layer = 1; layer < pass->model->config.layer_count && rc == ERROR_NONE; layer++)
        rc = gather_layer(pass, layer, out, err);
    return rc;
}

enum error_code layer_step_last(const struct layer_step *step, const struct unit *unit,
                                float *value, struct gradient *out, struct error *err)
{
    struct pass pass;
    enum error_code rc =
        begin_pass(&pass, step, unit, layer_pipeline_window(step->context->schedule), err);
    *out = (struct gradient){.weights_version = (uint64_t)unit->round,
                             .value_count = pass.model->value_count,
                             .value = value};
    if (rc == ERROR_NONE)
        rc = go_forward(&pass, err);
    if (rc == ERROR_NONE)
        rc = go_backward(&pass, value, err);
    if (rc == ERROR_NONE)
        rc = gather(&pass, out, err);
    if (rc == ERROR_NONE)
        rc = step_check_finite(value, pass.model->value_count, "gradient", err);
    end_pass(&pass);
    return rc;
}

/* --- the memory of a pass --- */

/* Returns the bytes of the outputs of lower layers, which stay in their records during the pass. */
static size_t bytes_around(const struct pass *pass)
{
    const uint32_t reads = layer_training_reads(pass->model, pass->at.layer);
    size_t bytes = 0;
    for (int layer = 0; layer < pass->at.layer; layer++)
        if (reads >> layer & 1)
            bytes += row_bytes(pass->model, layer, rows_of(pass, layer));
    return bytes;
}

/* Counts what lies in the arena before the backward pass: labels and gradient of the logits, or
 * the gradients left for the output. */
static enum error_code count_given(struct pass *pass, struct error *err)
{
    const int layer = pass->at.layer;
    struct arena *arena = pass->workspace.arena;
    const size_t dim = model_layer_output_dim(pass->model, layer);
    float *given = NULL;
    enum error_code rc = ERROR_NONE;
    if (is_last_layer(pass)) {
        rc = arena_new(arena, &given, pass->input.seed_count * dim, "labels", err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &given, pass->input.seed_count * dim, "gradients", err);
        give_slope(pass, given);
        return rc;
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(pass->model); t++) {
        const uint32_t rows = layer_training_rows(pass->model, layer, &pass->input, t);
        rc = arena_new(arena, &given, rows * dim, "gradients", err);
        if (rc == ERROR_NONE && rows)
            rc = layer_training_give_next(pass->trace, layer, t, given, err);
    }
    return rc;
}

/* Counts the forward pass, its record, and the backward pass. */
static enum error_code count_ways(struct pass *pass, float *value, struct pass_gradient *left)
{
    void *packed = NULL;
    enum error_code rc = run_forward(pass, value, NULL);
    if (rc == ERROR_NONE && !is_last_layer(pass))
        rc = pack_output(pass, &packed, NULL);
    if (rc == ERROR_NONE)
        rc = count_given(pass, NULL);
    if (rc == ERROR_NONE)
        rc = layer_training_backward(pass->trace, pass->at.layer, value, NULL);
    return rc == ERROR_NONE ? pack_parts(pass, left, NULL) : rc;
}

enum error_code layer_step_count(const struct model *model, int layer,
                                 const struct model_input *input,
                                 const struct model_workspace *workspace, size_t *around)
{
    struct pass pass = {
        .model = model, .at = {layer, true, true}, .input = *input, .workspace = *workspace};
    struct pass_gradient left = {0};
    float *value = NULL, *own = NULL;
    must(workspace->arena->counts);
    *around = bytes_around(&pass);
    enum error_code rc =
        arena_new(workspace->arena, &value, (size_t)model->value_count, "the gradient", NULL);
    for (int k = 0; k < layer; k++)
        for (uint32_t t = 0; t < model_type_count(model); t++)
            pass.output[k].row[t] = value; /* any pointer but NULL */
    if (rc == ERROR_NONE)
        rc = count_ways(&pass, value, &left);
    return rc == ERROR_NONE ? arena_new(workspace->arena, &own,
                                        (size_t)value_count_of(model, layer), "gradients", NULL)
                            : rc;
}
