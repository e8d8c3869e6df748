/*
 * graph_step - the part of a step behind the model, for a task of graphs: readout, outputs, loss,
 * and the gradient of the rows of the seeds. The seeds are all nodes of the graphs of the batch.
 */
#ifndef STAGES_TRAIN_STEP_GRAPH_STEP_H
#define STAGES_TRAIN_STEP_GRAPH_STEP_H

#include "common/nn/model.h"
#include "common/nn/tasks/tally.h"
#include "stages/plan/model/graph_targets.h"

struct graph_step {
    const struct model *model;
    const float *weights; /* [model->value_count] */
    const struct graph_targets *targets;
    const float *row; /* [seeds, model_output_dim()]: the output of the model */
    const struct model_workspace *workspace;
    const struct task *task;
    const struct loss_rule *rule;
    /* The arena holds the following arrays. */
    uint32_t *first; /* [graph_count + 1]: the first seed of each graph of the batch */
    uint32_t *graph; /* [graph_count]: numbers of the graphs */
    uint32_t graph_count;
    char *label;    /* [graph_count] label rows in the form of the task */
    uint32_t *from; /* [graph_count, dim]: the row each maximum came from; for READOUT_MAX */
    float *pooled;  /* [graph_count, dim] */
    float *output;  /* [graph_count, outputs] */
    float *output_gradient; /* [graph_count, outputs] */
};

/* Allocates the arrays for at most `graph_count` graphs. In an arena that counts it does nothing
 * else. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_step_reserve(struct graph_step *step, uint32_t graph_count,
                                              bool trains, struct error *err);
/* Finds the graphs that seed [seed_count] consists of, and their labels. `reserved` is the graph
 * count given to graph_step_reserve(). Fails: ERROR_CORRUPT unless the seeds are at most
 * `reserved` whole graphs. */
MUST_CHECK enum error_code graph_step_find(struct graph_step *step, const uint32_t *seed,
                                           uint32_t seed_count, uint32_t reserved,
                                           struct error *err);
/* Computes the outputs and their loss, and the gradient of the outputs if it was reserved. */
struct loss_result graph_step_forward(struct graph_step *step);
/* Sets row_gradient [seeds, dim]. Writes the gradient of the matrix behind the readout to
 * *head_gradient [model->trained_count], in the arena. The caller passes it to
 * model_take_head_gradient() after the backward pass of the model. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_step_backward(const struct graph_step *step, float *row_gradient,
                                               float **head_gradient, struct error *err);

#endif
