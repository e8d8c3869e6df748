/*
 * pair_step - what comes behind the model in a step of a task of pairs: scores, loss, and back to the rows of the seeds.
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
    const float *row; /* [seeds, model_output_dim()]: the model's output */
    const struct model_workspace *workspace;
    struct link_loss loss;
    /* Of labelled edges, in place of the link's loss; else NULL: */
    const struct task *task;
    const struct loss_rule *rule;
    void *labels;          /* [pairs] rows of the task, once computed; in the arena */
    float *score;          /* [seed_pairs_count(), outputs], once computed; in the arena */
    float *score_gradient; /* likewise */
};

struct link_loss pair_step_loss(const struct pipeline_settings *settings);
/* Scores and their loss; `trains`: the gradient of the scores, too. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for a label that is none
 * of the task's. */
MUST_CHECK enum error_code pair_step_forward(struct pair_step *step, bool trains,
                                             struct loss_result *loss, struct error *err);
/* row_gradient [seed_count, output dim] is that of the rows. What the
 * parameters of the decoder get goes to *decoder_gradient [model->trained_count], in the arena, for model_take_head_gradient(): the
 * model's way back comes in between. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_step_backward(const struct pair_step *step, uint32_t seed_count,
                                              float *row_gradient, float **decoder_gradient,
                                              struct error *err);
/* Adds scores, loss and, of links, ranks among the negatives. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_step_count(const struct pair_step *step,
                                           const struct loss_result *loss, struct tally *tally,
                                           struct error *err);

#endif
