/* The backward pass of a whole model (model.h), layer by layer (model_trace.h). */
#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"
#include "common/nn/typed/relation_convs.h"

static const char what[] = "gradients of layers"; /* user of the memory, for messages */

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

/* Returns the columns of the rows that a layer gives, or of those that the first layer reads
 * (-1). */
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
    const struct layer_pass *row;   /* NULL, or the tail of the layer, whose activation is undone */
    const struct layer_pass *above; /* NULL: no gradient from there */
    const struct gradient_parts *parts; /* NULL: no parts to add */
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
    if (job->above && job->row)
        found = layer_pass_product_gradient(job->row, job->above, NULL, first, end, out);
    else if (job->above)
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

/* `row` as in struct gather_job. */
static enum error_code gather_gradient(const struct model_trace *trace, int layer, uint32_t type,
                                       const struct layer_pass *row, bool parts, float **out,
                                       struct error *err)
{
    const struct model_step *step = layer < 0 ? &trace->below : &trace->step[layer];
    const struct model_workspace *workspace = trace->workspace;
    struct gather_job job = {.row = row,
                             .above = step->above[type],
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

enum error_code model_trace_gradient(const struct model_trace *trace, int layer, uint32_t type,
                                     bool parts, float **out, struct error *err)
{
    return gather_gradient(trace, layer, type, NULL, parts, out, err);
}

/* The gradients are written through a struct. NOLINTBEGIN(readability-non-const-parameter) */

/* Sets, as an array, the gradient that the layer above left. */
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

/* Returns whether the gradient of the rows of a type that layer `number` reads is needed. */
static bool wants_gradient(const struct model_trace *trace, int number, uint32_t type)
{
    const bool *wants = trace->input->wants_gradient;
    return number > 0 || (wants && wants[type]) ||
           (trace->model->config.types.projects[type] && !trace->fold[type].columns);
}

/* Computes the gradient of the rows of a type in front of the tail of layer `number`. Without a
 * tail the layer may read it from the pass above: then *rows is NULL and step->above[type] is
 * set. */
static enum error_code type_back(struct model_trace *trace, int number, uint32_t type,
                                 float *gradient, float **rows, struct error *err)
{
    struct model_step *step = &trace->step[number];
    struct model_step *lower = number > 0 ? &trace->step[number - 1] : &trace->below;
    const struct type_rows *own = &step->row[type];
    const struct gradient_parts *parts = &step->parts[type];
    *rows = NULL;
    if (own->layer.has_tail) {
        struct tail_backward tail = {.tail = &own->tail,
                                     .pass = &own->pass,
                                     .above = step->above[type],
                                     .parts = parts,
                                     .is_first = !wants_gradient(trace, number, type),
                                     .gradient =
                                         gradient_of_tail(trace->model, &own->layer, gradient)};
        const enum error_code rc =
            layer_tail_backward(&tail, trace->workspace->arena, trace->workspace->pool, err);
        *rows = tail.layer_gradient;
        step->above[type] = NULL;
        add_part(&lower->parts[type], tail.below);
        return rc;
    }
    must(parts->count == 0 || (parts->count == 1 && !step->above[type] &&
                               parts->part[0].stride == own->pass.output_dim));
    if (parts->count)
        *rows = (float *)parts->part[0].row; /* it is only read */
    return ERROR_NONE;
}

/* Fills in missing arrays, because a layer that computes on all relations at once reads and writes
 * whole arrays. */
static enum error_code fill_arrays(struct model_trace *trace, int number, float **rows,
                                   struct error *err)
{
    struct model_step *step = &trace->step[number];
    struct arena *arena = trace->workspace->arena;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++) {
        const size_t count = rows_of(trace, number, t) * columns_of(trace, number, t);
        const struct layer_pass *row = &step->row[t].pass;
        if (!rows[t] && step->above[t])
            rc = gather_gradient(trace, number, t, row->active ? row : NULL, false, &rows[t], err);
        if (rc != ERROR_NONE || rows[t])
            continue;
        rc = arena_new(arena, &rows[t], count, what, err);
        if (rc == ERROR_NONE && !arena->counts)
            vector_zero(rows[t], count);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++)
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
    const uint32_t types = model_type_count(trace->model);
    bool *wants = NULL;
    enum error_code rc = arena_new(arena, &pass->input_gradient, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &pass->start_gradient, types, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&pass->reader, types, sizeof(void *), what, err);
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

/* Hands the gradient of joined maxima of a type to the layers that gave them; of equal values to
 * the first layer. */
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

/* Splits the gradient of the joined rows among the layers below. */
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

/* Hands the gradients that a layer left for its input rows to the layers that gave these rows. */
static enum error_code leave_gradients(struct model_trace *trace, int number, struct error *err)
{
    const struct typed_pass *pass = &trace->step[number].pass;
    struct model_step *lower = number > 0 ? &trace->step[number - 1] : &trace->below;
    const int second = pass->layer->second_input;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++) {
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

/* Computes the gradient of the input rows of a type, through its projection. */
static enum error_code projection_back(struct model_trace *trace, uint32_t type, float *gradient,
                                       struct error *err)
{
    const struct model *model = trace->model;
    const struct model_workspace *workspace = trace->workspace;
    struct type_rows *own = &trace->projection[type];
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
    const bool has_relu = own->pass.activation.relu; /* the product's gradient undoes ReLU */
    if (has_relu)
        rc = leave_array(trace, -1, type, rows, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(&own->pass, has_relu ? trace->below.above[type] : NULL,
                                 has_relu ? NULL : rows, is_first, &out, workspace->arena,
                                 workspace->pool, err);
    trace->input_gradient[type] = own->pass.input_gradient;
    return rc;
}

/* NOLINTEND(readability-non-const-parameter) */

/* Sets the places of the gradients of folded projections. */
static void place_projection_gradients(const struct model_trace *trace, float *gradient)
{
    const struct model *model = trace->model;
    for (uint32_t t = 0; t < model_type_count(model); t++) {
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
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(trace->model); t++)
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
    for (uint32_t t = 0; rc == ERROR_NONE && layer == 0 && t < model_type_count(trace->model); t++)
        rc = projection_back(trace, t, gradient, err);
    return rc;
}

/* Clears the gradients that layers write, because a relation without rows writes none. */
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
    model_trace_place_logits(trace, (float *)logits_gradient, rows); /* it is only read */
    for (uint32_t t = 0; t < model_type_count(model); t++)
        if (rows[t])
            add_part(&trace->step[last].parts[t],
                     (struct gradient_part){rows[t], model_output_dim(model),
                                            trace->step[last].pass.destination_count[t]});
    for (int layer = last; rc == ERROR_NONE && layer >= 0; layer--)
        rc = model_trace_backward(trace, layer, gradient, err);
    return rc;
}

const float *model_input_gradient(const struct model_trace *trace, uint32_t type)
{
    return trace->input_gradient[type];
}
