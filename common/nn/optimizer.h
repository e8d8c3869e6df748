/*
 * optimizer - SGD with momentum, Adam, AdamW; clipping and learning-rate schedules.
 *
 * Update rules are those of torch.optim, in single precision element by element, so that every
 * machine and every thread count gives the same bits.
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

/* The change that a step makes to each value. It depends on no other value, so a step may be
 * applied piece by piece. */
struct optimizer_update {
    enum optimizer_rule rule;
    float clip_factor; /* 1: not clipped */
    float decay;       /* added to the gradient; AdamW instead shrinks the value */
    float shrink_factor;
    float minus_rate, momentum;
    float one_minus_beta1, beta2, one_minus_beta2;
    float minus_step_size; /* -lr / (1 - beta1^t) */
    float root_correction; /* sqrt(1 - beta2^t) */
    float epsilon;
};

/* Returns the norm of the whole gradient. It is finite exactly when all values of the gradient
 * are. */
double optimizer_norm(const float *gradient, size_t count);
/* Returns the update of step `step`, counted from 1. `norm` is the norm of the whole gradient. */
struct optimizer_update optimizer_update_of(const struct optimizer_config *config,
                                            double learning_rate, uint64_t step, double norm);
/* Updates first [count] and second [count] (NULL for SGD) in place. Clipping and weight decay
 * change `gradient`. */
void optimizer_update_apply(const struct optimizer_update *update, size_t count, float *value,
                            float *gradient, float *first, float *second);

/* Runs one whole step. Returns the gradient's norm before clipping. */
double optimizer_step(const struct optimizer_config *config, double learning_rate, uint64_t step,
                      size_t count, float *value, float *gradient, float *first, float *second);
/* Returns whether the rule keeps a second moment. */
bool optimizer_needs_second(enum optimizer_rule rule);

struct rate_config {
    enum rate_rule rule;
    double base;
    int64_t epochs, step_epochs;
    double step_factor, final_share;
};

/* Returns the learning rate of an epoch (from 0). */
double learning_rate_of_epoch(const struct rate_config *config, int64_t epoch);

#endif
