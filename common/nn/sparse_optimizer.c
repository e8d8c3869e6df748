#include "common/nn/sparse_optimizer.h"

#include "common/nn/optimizer.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/random.h"

#include <math.h>

/* DGL's defaults. */
static const double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
static const float adagrad_epsilon = 1e-10F;

int sparse_rule_moments(enum sparse_rule rule)
{
    return rule == SPARSE_ADAM ? 2 : rule == SPARSE_ADAGRAD ? 1 : 0;
}

bool sparse_rule_counts_updates(enum sparse_rule rule)
{
    return rule == SPARSE_ADAM;
}

void sparse_first_values(uint64_t seed, uint32_t type, uint32_t node, size_t width, float *out)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_EMBEDDING, 0, 0, type);
    const float bound = (float)(1.0 / sqrt((double)width));
    for (size_t at = 0; at < width; at += 4) {
        uint32_t word[4];
        random_block(&stream, node, (uint32_t)(at / 4), word);
        for (size_t i = 0; i < 4 && at + i < width; i++)
            out[at + i] = (2.0F * random_unit(word[i]) - 1.0F) * bound;
    }
}

CPU_KERNEL(update_sgd,
           (float minus_rate, size_t width, float *restrict value, const float *restrict gradient),
           (minus_rate, width, value, gradient))
{
    for (size_t i = 0; i < width; i++)
        value[i] += minus_rate * gradient[i];
}

CPU_KERNEL(update_adagrad,
           (float minus_rate, size_t width, float *restrict value, const float *restrict gradient,
            float *restrict sum),
           (minus_rate, width, value, gradient, sum))
{
    for (size_t i = 0; i < width; i++) {
        sum[i] += gradient[i] * gradient[i];
        value[i] += minus_rate * gradient[i] / (sqrtf(sum[i]) + adagrad_epsilon);
    }
}

static void update_adam(double rate, uint32_t update, size_t width, float *value, float *gradient,
                        float *first, float *second)
{
    const struct optimizer_config config = {
        .rule = RULE_ADAM, .beta1 = adam_beta1, .beta2 = adam_beta2, .epsilon = adam_epsilon};
    const struct optimizer_update of_row = optimizer_update_of(&config, rate, update, 0.0);
    optimizer_update_apply(&of_row, width, value, gradient, first, second);
}

void sparse_update_row(enum sparse_rule rule, double rate, uint32_t update, size_t width,
                       float *value, float *gradient, float *first, float *second)
{
    if (rule == SPARSE_ADAM)
        update_adam(rate, update, width, value, gradient, first, second);
    else if (rule == SPARSE_ADAGRAD)
        update_adagrad((float)-rate, width, value, gradient, first);
    else
        update_sgd((float)-rate, width, value, gradient);
}
