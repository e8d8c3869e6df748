/*
 * optimizer - SGD with momentum, Adam, AdamW; clipping and learning-rate schedules.
 *
 * Update rules as in torch.optim, in single precision element by element, so that any machine and any
 * thread count gives the same bits.
 */
#ifndef COMMON_NN_OPTIMIZER_H
#define COMMON_NN_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum optimizer_rule { RULE_ADAM, RULE_ADAMW, RULE_SGD };  /* the order of enum optimizer_kind */
enum rate_rule { RATE_CONSTANT, RATE_COSINE, RATE_STEP }; /* the order of enum rate_schedule */

struct optimizer_config {
    enum optimizer_rule rule;
    double momentum, beta1, beta2, epsilon, weight_decay;
    double clip_norm; /* 0: off */
};

/* One step. `step` counts from 1. first [count], second [count] (NULL for SGD) are updated in place;
 * `gradient` is changed by clipping and weight decay. Returns the gradient's norm before clipping. */
double optimizer_step(const struct optimizer_config *config, double learning_rate, uint64_t step,
                      size_t count, float *value, float *gradient, float *first, float *second);
bool optimizer_needs_second(enum optimizer_rule rule);

struct rate_config {
    enum rate_rule rule;
    double base;
    int64_t epochs, step_epochs;
    double step_factor, final_share;
};

/* The learning rate of an epoch (from 0). */
double learning_rate_of_epoch(const struct rate_config *config, int64_t epoch);

#endif
