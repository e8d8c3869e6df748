#include "stages/train-step/graph_step.h"

#include <string.h>

static size_t label_bytes(const struct graph_step *step)
{
    return step->task->label_width(step->model->config.graph_outputs) * sizeof(float);
}

enum error_code graph_step_reserve(struct graph_step *step, uint32_t graph_count, bool trains,
                                   struct error *err)
{
    struct arena *arena = step->workspace->arena;
    const size_t graphs = graph_count, dim = model_output_dim(step->model);
    const size_t outputs = graphs * step->model->config.graph_outputs;
    enum error_code rc = arena_new(arena, &step->first, graphs + 1, "the graphs of a batch", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->graph, graphs, "the graphs of a batch", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->label, graphs * label_bytes(step), "labels of graphs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->pooled, graphs * dim, "rows of graphs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step->output, outputs, "outputs of graphs", err);
    if (rc == ERROR_NONE && trains)
        rc = arena_new(arena, &step->output_gradient, outputs, "the gradient of outputs", err);
    if (rc == ERROR_NONE && trains && step->model->config.readout == READOUT_MAX)
        rc = arena_new(arena, &step->from, graphs * dim, "the greatest of graphs", err);
    return rc;
}

enum error_code graph_step_find(struct graph_step *step, const uint32_t *seed, uint32_t seed_count,
                                uint32_t reserved, struct error *err)
{
    const size_t bytes = label_bytes(step);
    const enum error_code rc = graph_index_split(&step->targets->index, seed, seed_count, reserved,
                                                 step->first, step->graph, &step->graph_count, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "seeds of the mini-batch");
    for (uint32_t g = 0; g < step->graph_count; g++)
        memcpy(step->label + g * bytes, graph_targets_label(step->targets, step->graph[g]), bytes);
    return ERROR_NONE;
}

static struct graph_rows rows_of(const struct graph_step *step)
{
    return (struct graph_rows){.first = step->first,
                               .graph_count = step->graph_count,
                               .dim = model_output_dim(step->model)};
}

struct loss_result graph_step_forward(struct graph_step *step)
{
    const struct graph_rows graphs = rows_of(step);
    const struct graph_classifier classifier = model_graph_classifier(step->model, step->weights);
    readout_forward(step->model->config.readout, &graphs, step->row, step->workspace->pool,
                    step->pooled, step->from);
    graph_classifier_forward(&classifier, step->pooled, step->graph_count, step->output);
    return step->task->loss(step->rule, step->output, step->label, step->graph_count,
                            classifier.outputs, step->output_gradient);
}

enum error_code graph_step_backward(const struct graph_step *step, float *row_gradient,
                                    float **head_gradient, struct error *err)
{
    struct arena *arena = step->workspace->arena;
    const struct model *model = step->model;
    const struct graph_rows graphs = rows_of(step);
    float *pooled = NULL, *weight = NULL, *bias = NULL;
    enum error_code rc = arena_new(arena, head_gradient, model->trained_count,
                                   "the gradient of the classifier", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &pooled, (size_t)graphs.graph_count * graphs.dim,
                       "the gradient of rows of graphs", err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    const struct graph_classifier classifier = model_graph_classifier(model, step->weights);
    model_graph_classifier_gradient(model, *head_gradient, &weight, &bias);
    graph_classifier_backward(&classifier, step->pooled, step->output_gradient, graphs.graph_count,
                              pooled, weight, bias);
    readout_backward(model->config.readout, &graphs, pooled, step->from, step->workspace->pool,
                     row_gradient);
    return ERROR_NONE;
}
