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

enum optimizer_rule { RULE_ADAM, RULE_ADAMW, RULE_SGD };
enum rate_rule { RATE_CONSTANT, RATE_COSINE, RATE_STEP };

struct optimizer_config {
    enum optimizer_rule rule;
    double momentum, beta1, beta2, epsilon, weight_decay;
    double clip_norm; /* 0: off */
};

/* What a step does to each value, and to it alone: so a step may be applied piece by piece. */
struct optimizer_update {
    enum optimizer_rule rule;
    float clip_factor; /* 1: not clipped */
    float decay;       /* of the gradient; AdamW instead shrinks the value */
    float shrink_factor;
    float minus_rate, momentum;
    float one_minus_beta1, beta2, one_minus_beta2;
    float minus_step_size; /* -lr / (1 - beta1^t) */
    float root_correction; /* sqrt(1 - beta2^t) */
    float epsilon;
};

/* Of the whole gradient; finite exactly when all its values are. */
double optimizer_norm(const float *gradient, size_t count);
/* `norm` is the whole gradient's; `step` counts from 1. */
struct optimizer_update optimizer_update_of(const struct optimizer_config *config,
                                            double learning_rate, uint64_t step, double norm);
/* first [count], second [count] (NULL for SGD) are updated in place; `gradient` is changed by clipping and
 * weight decay. */
void optimizer_update_apply(const struct optimizer_update *update, size_t count, float *value,
                            float *gradient, float *first, float *second);

/* One step, all of the above. Returns the gradient's norm before clipping. */
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
