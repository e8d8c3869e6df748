/*
 * optimizer - the update rules of torch.optim.
 *
 * Bits. Each parameter is updated by the same few float operations whatever its place, so neither
 * vector width nor threads can change a bit. The build does not fuse multiplications and additions
 * (-ffp-contract=off), and IEEE 754 makes root and division exact to the last bit. The code outside
 * the loops uses only + - * / and sqrt in double: pow() and cos() of a C library may choose their
 * code by the processor and then differ in the last bit.
 *
 * The norm for clipping is summed in double in eight lanes, value i in lane i % 8. A processor with
 * vectors adds the lanes at once, one without adds them in turn, with the same result.
 */
#include "common/nn/optimizer.h"

#include "common/base/error.h"
#include "common/numbers/cpu_kernel.h"

#include <math.h>

enum { LANE_COUNT = 8 };

bool optimizer_needs_second(enum optimizer_rule rule)
{
    return rule != RULE_SGD;
}

/* Returns base^exponent by repeated squaring; base in [0, 1]. */
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

CPU_KERNEL_OF(double, norm_of, (const float *gradient, size_t count), (gradient, count))
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

double optimizer_norm(const float *gradient, size_t count)
{
    return norm_of(gradient, count);
}

/* Returns the factor of torch.nn.utils.clip_grad_norm_: 1e-6 keeps the quotient finite for a zero
 * gradient. */
static float clip_factor_of(double norm, double limit)
{
    const double share = limit / (norm + 1e-6);
    return limit <= 0.0 || share >= 1.0 ? 1.0F : (float)share;
}

/* --- update rules --- */

CPU_INLINE void scale(float *value, size_t count, float factor)
{
    if (factor == 1.0F)
        return;
    for (size_t i = 0; i < count; i++)
        value[i] *= factor;
}

/* gradient += weight_decay * value: the gradient of an L2 term. */
CPU_INLINE void add_decay(float *restrict gradient, const float *restrict value, size_t count,
                          float decay)
{
    if (decay == 0.0F)
        return;
    for (size_t i = 0; i < count; i++)
        gradient[i] += decay * value[i];
}

/*   m = mu m + g        (m starts as 0)
 *   w = w - lr m                                                     */
CPU_INLINE void step_sgd(const struct optimizer_update *u, size_t count, float *restrict value,
                         const float *restrict gradient, float *restrict first)
{
    const float rate = u->minus_rate, mu = u->momentum;
    for (size_t i = 0; i < count; i++) {
        first[i] = mu * first[i] + gradient[i];
        value[i] += rate * first[i];
    }
}

/*   m = m + (1 - b1) (g - m)
 *   v = b2 v + (1 - b2) g g
 *   w = w - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)     */
CPU_INLINE void step_adam(const struct optimizer_update *u, size_t count, float *restrict value,
                          const float *restrict gradient, float *restrict first,
                          float *restrict second)
{
    const struct optimizer_update f = *u;
    for (size_t i = 0; i < count; i++) {
        const float g = gradient[i];
        first[i] += f.one_minus_beta1 * (g - first[i]);
        second[i] = f.beta2 * second[i] + f.one_minus_beta2 * g * g;
        const float root = sqrtf(second[i]) / f.root_correction + f.epsilon;
        value[i] += f.minus_step_size * first[i] / root;
    }
}

struct optimizer_update optimizer_update_of(const struct optimizer_config *config,
                                            double learning_rate, uint64_t step, double norm)
{
    must(step >= 1);
    const bool shrinks = config->rule == RULE_ADAMW; /* Loshchilov and Hutter, 2019 */
    const double correction1 = 1.0 - power(config->beta1, step);
    const double correction2 = 1.0 - power(config->beta2, step);
    return (struct optimizer_update){
        .rule = config->rule,
        .clip_factor = clip_factor_of(norm, config->clip_norm),
        .decay = shrinks ? 0.0F : (float)config->weight_decay,
        .shrink_factor = shrinks ? (float)(1.0 - learning_rate * config->weight_decay) : 1.0F,
        .minus_rate = (float)-learning_rate,
        .momentum = (float)config->momentum,
        .one_minus_beta1 = (float)(1.0 - config->beta1),
        .beta2 = (float)config->beta2,
        .one_minus_beta2 = (float)(1.0 - config->beta2),
        .minus_step_size = (float)(-learning_rate / correction1),
        .root_correction = (float)sqrt(correction2),
        .epsilon = (float)config->epsilon};
}

CPU_KERNEL(apply,
           (const struct optimizer_update *update, size_t count, float *value, float *gradient,
            float *first, float *second),
           (update, count, value, gradient, first, second))
{
    scale(gradient, count, update->clip_factor);
    scale(value, count, update->shrink_factor);
    add_decay(gradient, value, count, update->decay);
    if (update->rule == RULE_SGD)
        step_sgd(update, count, value, gradient, first);
    else
        step_adam(update, count, value, gradient, first, second);
}

void optimizer_update_apply(const struct optimizer_update *update, size_t count, float *value,
                            float *gradient, float *first, float *second)
{
    apply(update, count, value, gradient, first, second);
}

double optimizer_step(const struct optimizer_config *config, double learning_rate, uint64_t step,
                      size_t count, float *value, float *gradient, float *first, float *second)
{
    const double norm = optimizer_norm(gradient, count);
    const struct optimizer_update update = optimizer_update_of(config, learning_rate, step, norm);
    optimizer_update_apply(&update, count, value, gradient, first, second);
    return norm;
}

/* --- learning rate --- */

/* Returns cos(pi x) for x in [0, 1]: the series of cos up to the 22nd power on [0, pi / 2], where
 * the rest is below 2e-19. */
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
