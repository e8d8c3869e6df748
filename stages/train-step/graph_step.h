/*
 * graph_step - what comes behind the model in a step of a task of graphs: readout, outputs, loss, and back to the rows of the
 * seeds, which are all nodes of the batch's graphs.
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
    const float *row; /* [seeds, model_output_dim()]: the model's output */
    const struct model_workspace *workspace;
    const struct task *task;
    const struct loss_rule *rule;
    /* What follows is in the arena. */
    uint32_t *first; /* [graph_count + 1]: the seeds of each graph of the batch */
    uint32_t *graph; /* [graph_count]: which they are */
    uint32_t graph_count;
    char *label;            /* [graph_count] rows of the task */
    uint32_t *from;         /* [graph_count, dim] of max */
    float *pooled;          /* [graph_count, dim] */
    float *output;          /* [graph_count, outputs] */
    float *output_gradient; /* likewise */
};

/* Room for `graph_count` graphs at most; in an arena that counts nothing else is done. */
MUST_CHECK enum error_code graph_step_reserve(struct graph_step *step, uint32_t graph_count,
                                              bool trains, struct error *err);
/* The graphs that seed [seed_count] makes, and their labels, into what is reserved. Fails: ERROR_CORRUPT unless they are whole
 * graphs, no more than reserved. */
MUST_CHECK enum error_code graph_step_find(struct graph_step *step, const uint32_t *seed,
                                           uint32_t seed_count, uint32_t reserved,
                                           struct error *err);
/* Outputs and their loss; with room for it also the gradient of the outputs. */
struct loss_result graph_step_forward(struct graph_step *step);
/* row_gradient [seeds, dim] is set; what the matrix behind the readout gets goes to *head_gradient [model->trained_count], in the
 * arena, for model_take_head_gradient(): the model's way back comes in between. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_step_backward(const struct graph_step *step, float *row_gradient,
                                               float **head_gradient, struct error *err);

#endif
