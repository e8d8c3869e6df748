/*
 * optimizer - the update rules of torch.optim, and nothing of their machinery.
 *
 * Bits. Each parameter is updated by the same few float operations whatever its place, so neither vector
 * width nor threads can change it; the build keeps multiplications and additions apart
 * (-ffp-contract=off), and root and division are exact to the last bit by IEEE 754. What stands outside
 * the loops is made of + - * / and sqrt in double only: pow() and cos() of a C library choose their code
 * by the processor, and may then differ in the last bit.
 *
 * The norm for clipping is summed in double in eight lanes, value i in lane i % 8, which a processor with
 * vectors does at once and one without does in turn, with the same result.
 */
#include "common/nn/optimizer.h"

#include "common/base/error.h"

#include <math.h>

enum { LANE_COUNT = 8 };

bool optimizer_needs_second(enum optimizer_rule rule)
{
    return rule != RULE_SGD;
}

/* base^exponent by repeated squaring; base in [0, 1]. */
static double power(double base, uint64_t exponent)
{
    double result = 1.0;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

/* --- clipping --- */

static double norm_of(const float *gradient, size_t count)
{
    double lane[LANE_COUNT] = {0};
    const size_t whole = count - count % LANE_COUNT;
    for (size_t i = 0; i < whole; i += LANE_COUNT)
        for (size_t k = 0; k < LANE_COUNT; k++)
            lane[k] += (double)gradient[i + k] * (double)gradient[i + k];
    for (size_t i = whole; i < count; i++)
        lane[i - whole] += (double)gradient[i] * (double)gradient[i];
    double sum = 0.0;
    for (size_t k = 0; k < LANE_COUNT; k++)
        sum += lane[k];
    return sqrt(sum);
}

/* torch.nn.utils.clip_grad_norm_: its 1e-6 keeps the quotient finite for a zero gradient. */
static void clip(float *gradient, size_t count, double norm, double limit)
{
    const double share = limit / (norm + 1e-6);
    if (limit <= 0.0 || share >= 1.0)
        return;
    const float factor = (float)share;
    for (size_t i = 0; i < count; i++)
        gradient[i] *= factor;
}

/* --- update rules --- */

/* gradient += weight_decay * value: the gradient of an L2 term. */
static void add_decay(float *restrict gradient, const float *restrict value, size_t count,
                      double weight_decay)
{
    const float decay = (float)weight_decay;
    if (decay == 0.0F)
        return;
    for (size_t i = 0; i < count; i++)
        gradient[i] += decay * value[i];
}

/*   m = mu m + g        (m starts as 0)
 *   w = w - lr m                                                     */
static void step_sgd(float *restrict value, const float *restrict gradient, float *restrict first,
                     size_t count, double learning_rate, double momentum)
{
    const float rate = (float)-learning_rate, mu = (float)momentum;
    for (size_t i = 0; i < count; i++) {
        first[i] = mu * first[i] + gradient[i];
        value[i] += rate * first[i];
    }
}

struct adam_factors {
    float one_minus_beta1, beta2, one_minus_beta2;
    float minus_step_size; /* -lr / (1 - beta1^t) */
    float root_correction; /* sqrt(1 - beta2^t) */
    float epsilon;
};

static struct adam_factors adam_factors_of(const struct optimizer_config *config,
                                           double learning_rate, uint64_t step)
{
    const double correction1 = 1.0 - power(config->beta1, step);
    const double correction2 = 1.0 - power(config->beta2, step);
    return (struct adam_factors){.one_minus_beta1 = (float)(1.0 - config->beta1),
                                 .beta2 = (float)config->beta2,
                                 .one_minus_beta2 = (float)(1.0 - config->beta2),
                                 .minus_step_size = (float)(-learning_rate / correction1),
                                 .root_correction = (float)sqrt(correction2),
                                 .epsilon = (float)config->epsilon};
}

/*   m = m + (1 - b1) (g - m)
 *   v = b2 v + (1 - b2) g g
 *   w = w - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)     */
static void step_adam(float *restrict value, const float *restrict gradient, float *restrict first,
                      float *restrict second, size_t count, const struct adam_factors *factors)
{
    const struct adam_factors f = *factors;
    for (size_t i = 0; i < count; i++) {
        const float g = gradient[i];
        first[i] += f.one_minus_beta1 * (g - first[i]);
        second[i] = f.beta2 * second[i] + f.one_minus_beta2 * g * g;
        const float root = sqrtf(second[i]) / f.root_correction + f.epsilon;
        value[i] += f.minus_step_size * first[i] / root;
    }
}

/* AdamW: w = w (1 - lr wd), apart from the gradient (Loshchilov and Hutter, 2019). */
static void shrink(float *value, size_t count, double learning_rate, double weight_decay)
{
    if (weight_decay == 0.0)
        return;
    const float factor = (float)(1.0 - learning_rate * weight_decay);
    for (size_t i = 0; i < count; i++)
        value[i] *= factor;
}

double optimizer_step(const struct optimizer_config *config, double learning_rate, uint64_t step,
                      size_t count, float *value, float *gradient, float *first, float *second)
{
    must(step >= 1);
    const double norm = norm_of(gradient, count);
    clip(gradient, count, norm, config->clip_norm);
    if (config->rule == RULE_ADAMW)
        shrink(value, count, learning_rate, config->weight_decay);
    else
        add_decay(gradient, value, count, config->weight_decay);
    if (config->rule == RULE_SGD) {
        step_sgd(value, gradient, first, count, learning_rate, config->momentum);
        return norm;
    }
    const struct adam_factors factors = adam_factors_of(config, learning_rate, step);
    step_adam(value, gradient, first, second, count, &factors);
    return norm;
}

/* --- learning rate --- */

/* cos(pi x) for x in [0, 1]: the series of cos up to the 22nd power, on [0, pi / 2], where its rest is
 * below 2e-19. */
static double cosine_of_half_turns(double x)
{
    const double angle = 3.14159265358979323846 * (x > 0.5 ? 1.0 - x : x);
    const double square = angle * angle;
    double sum = 1.0;
    for (int k = 22; k >= 2; k -= 2)
        sum = 1.0 - square / (k * (k - 1)) * sum;
    return x > 0.5 ? -sum : sum;
}

double learning_rate_of_epoch(const struct rate_config *config, int64_t epoch)
{
    if (config->rule == RATE_STEP)
        return config->base * power(config->step_factor, (uint64_t)(epoch / config->step_epochs));
    if (config->rule == RATE_CONSTANT)
        return config->base;
    const double last = config->base * config->final_share;
    const double done = epoch < config->epochs ? (double)epoch / (double)config->epochs : 1.0;
    return last + (config->base - last) * 0.5 * (1.0 + cosine_of_half_turns(done));
}
