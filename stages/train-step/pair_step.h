/*
 * pair_step - the part of a step behind the model, for a task of pairs: scores, loss, and the
 * gradient of the rows of the seeds.
 */
#ifndef STAGES_TRAIN_STEP_PAIR_STEP_H
#define STAGES_TRAIN_STEP_PAIR_STEP_H

#include "common/nn/model.h"
#include "common/nn/tasks/tally.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/batch/seed_pairs.h"

struct pair_step {
    const struct model *model;
    const float *weights; /* [model->value_count] */
    const struct seed_pairs *pairs;
    const float *row; /* [seeds, model_output_dim()]: the output of the model */
    const struct model_workspace *workspace;
    struct link_loss loss;
    /* For labelled edges, the task and the rule of its loss, which replaces the link loss;
     * otherwise NULL. */
    const struct task *task;
    const struct loss_rule *rule;
    void *labels; /* [pairs] label rows in the form of the task, once computed; in the arena */
    float *score; /* [seed_pairs_count(), outputs], once computed; in the arena */
    float *score_gradient; /* [seed_pairs_count(), outputs], once computed; in the arena */
};

struct link_loss pair_step_loss(const struct pipeline_settings *settings);
/* Computes the scores and their loss and, if `trains`, the gradient of the scores. Fails:
 * ERROR_NO_MEMORY; ERROR_CORRUPT for a label that the task does not have. */
MUST_CHECK enum error_code pair_step_forward(struct pair_step *step, bool trains,
                                             struct loss_result *loss, struct error *err);
/* Sets row_gradient [seed_count, output dim]. Writes the gradient of the parameters of the
 * decoder to *decoder_gradient [model->trained_count], in the arena. The caller passes it to
 * model_take_head_gradient() after the backward pass of the model. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_step_backward(const struct pair_step *step, uint32_t seed_count,
                                              float *row_gradient, float **decoder_gradient,
                                              struct error *err);
/* Adds scores, loss and, for links, the ranks among the negatives to the tally. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_step_count(const struct pair_step *step,
                                           const struct loss_result *loss, struct tally *tally,
                                           struct error *err);

#endif
