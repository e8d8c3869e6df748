#include "common/nn/optimizer.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

#include <math.h>

enum { COUNT = 1003, STEPS = 40 };

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance * (1.0 + fabs(expected))))
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* --- a slow reference: torch's documented formulas, in double, clear of any order or lane --- */

struct reference {
    double value[COUNT], first[COUNT], second[COUNT];
};

static double reference_norm(const double *g, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += g[i] * g[i];
    return sqrt(sum);
}

static void reference_step(const struct optimizer_config *c, double lr, int t, struct reference *r,
                           double *g)
{
    const double norm = reference_norm(g, COUNT);
    const double share = c->clip_norm > 0 ? fmin(1.0, c->clip_norm / (norm + 1e-6)) : 1.0;
    for (size_t i = 0; i < COUNT; i++) {
        g[i] *= share;
        if (c->rule == RULE_ADAMW)
            r->value[i] *= 1 - lr * c->weight_decay;
        else
            g[i] += c->weight_decay * r->value[i];
        if (c->rule == RULE_SGD) {
            r->first[i] = c->momentum * r->first[i] + g[i];
            r->value[i] -= lr * r->first[i];
            continue;
        }
        r->first[i] = c->beta1 * r->first[i] + (1 - c->beta1) * g[i];
        r->second[i] = c->beta2 * r->second[i] + (1 - c->beta2) * g[i] * g[i];
        const double m = r->first[i] / (1 - pow(c->beta1, t));
        const double root = sqrt(r->second[i]) / sqrt(1 - pow(c->beta2, t));
        r->value[i] -= lr * m / (root + c->epsilon);
    }
}

static void draw(float *out, size_t count, uint32_t round)
{
    const struct random_stream stream = random_stream_of(7, RANDOM_WEIGHT, round, 0, 0);
    for (size_t i = 0; i < count; i += 4) {
        float four[4];
        random_normal(&stream, i / 4, 0, four);
        for (size_t k = 0; k < 4 && i + k < count; k++)
            out[i + k] = four[k];
    }
}

static const struct optimizer_config settings[] = {
    {.rule = RULE_SGD},
    {.rule = RULE_SGD, .momentum = 0.9, .weight_decay = 0.01},
    {.rule = RULE_SGD, .momentum = 0.5, .clip_norm = 2.0},
    {.rule = RULE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
    {.rule = RULE_ADAM, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.05},
    {.rule = RULE_ADAM, .beta1 = 0.0, .beta2 = 0.9, .epsilon = 1e-3, .clip_norm = 0.5},
    {.rule = RULE_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.1},
};

static void every_rule_follows_the_slow_reference(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        static float value[COUNT], gradient[COUNT], first[COUNT], second[COUNT];
        static struct reference r;
        static double slow[COUNT];
        r = (struct reference){0};
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        draw(value, COUNT, 1000);
        for (size_t i = 0; i < COUNT; i++)
            r.value[i] = (double)value[i];
        for (int t = 1; t <= STEPS; t++) {
            draw(gradient, COUNT, (uint32_t)t);
            for (size_t i = 0; i < COUNT; i++)
                slow[i] = (double)gradient[i];
            const double norm = reference_norm(slow, COUNT);
            reference_step(&settings[s], 0.01, t, &r, slow);
            assert_near(optimizer_step(&settings[s], 0.01, (uint64_t)t, COUNT, value, gradient,
                                       first, second),
                        norm, 1e-12);
        }
        for (size_t i = 0; i < COUNT; i++) {
            assert_near((double)value[i], r.value[i], 2e-5);
            assert_near((double)first[i], r.first[i], 2e-5);
        }
    }
}

/* Runs one parameter through a few steps as torch.optim does; the expected values are computed by
 * the formula. */
static double one_parameter(const struct optimizer_config *config, double rate, float value,
                            const float *gradient, int steps)
{
    float first = 0, second = 0;
    for (int t = 1; t <= steps; t++) {
        float g = gradient[t - 1];
        (void)optimizer_step(config, rate, (uint64_t)t, 1, &value, &g, &first, &second);
    }
    return (double)value;
}

static void gives_the_values_of_torch_worked_by_hand(void **state)
{
    (void)state;
    const float half[2] = {0.5F, 0.5F}, turn[2] = {0.5F, -1.0F};
    struct optimizer_config c = {.rule = RULE_SGD, .momentum = 0.9};
    /* m = 0.5, w = 1 - 0.1 * 0.5 = 0.95; m = 0.9 * 0.5 + 0.5 = 0.95, w = 0.95 - 0.095 */
    assert_near(one_parameter(&c, 0.1, 1, half, 2), 0.855, 1e-7);
    /* g = 0.5 + 0.1 * 1 = 0.6, w = 0.94; g = 0.5 + 0.094, m = 0.54 + 0.594 = 1.134 */
    c.weight_decay = 0.1;
    assert_near(one_parameter(&c, 0.1, 1, half, 2), 0.94 - 0.1134, 1e-7);

    c = (struct optimizer_config){.rule = RULE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    /* m / (1 - 0.9) = 0.5, sqrt(v / (1 - 0.999)) = 0.5: the first step is the learning rate */
    assert_near(one_parameter(&c, 0.1, 1, half, 1), 1 - 0.1 * 0.5 / (0.5 + 1e-8), 1e-7);
    /* m = 0.9 * 0.05 - 0.1 = -0.055, v = 0.999 * 0.00025 + 0.001 = 0.00124975 */
    const double second_step = 0.1 * (-0.055 / 0.19) / (sqrt(0.00124975 / 0.001999) + 1e-8);
    assert_near(one_parameter(&c, 0.1, 1, turn, 2), 0.9 - second_step, 1e-6);
    /* epsilon stands outside the root: 0.5 / (0.5 + 0.5) */
    c.epsilon = 0.5;
    assert_near(one_parameter(&c, 0.1, 1, half, 1), 1 - 0.1 * 0.5, 1e-7);
    /* L2: g = 0.5 - 0.5 * 1 = 0, nothing moves */
    c.epsilon = 1e-8;
    c.weight_decay = 0.5;
    const float against[1] = {-0.5F};
    assert_near(one_parameter(&c, 0.1, 1, against, 1), 1.0, 0);
    /* decoupled: w = 1 * (1 - 0.1 * 0.5) = 0.95, then the step of Adam, + 0.1 */
    c.rule = RULE_ADAMW;
    assert_near(one_parameter(&c, 0.1, 1, against, 1), 1.05, 1e-7);
}

static void clips_by_the_norm_of_all_parameters(void **state)
{
    (void)state;
    struct optimizer_config c = {.rule = RULE_SGD, .clip_norm = 1.0};
    float value[2] = {0, 0}, first[2] = {0, 0}, gradient[2] = {3, 4};
    assert_near(optimizer_step(&c, 1, 1, 2, value, gradient, first, NULL), 5, 0);
    assert_near((double)value[0], -3 / (5 + 1e-6), 1e-7);
    assert_near((double)value[1], -4 / (5 + 1e-6), 1e-7);

    float small[2] = {0.3F, 0.4F}, origin[2] = {0, 0}, still[2] = {0, 0};
    (void)optimizer_step(&c, 1, 1, 2, origin, small, still, NULL);
    assert_true(origin[0] == -0.3F && origin[1] == -0.4F); /* below the limit: unchanged */

    float zero[2] = {0, 0};
    assert_near(optimizer_step(&c, 1, 1, 2, origin, zero, still, NULL), 0, 0);
    assert_true(isfinite(origin[0]));
}

static void the_norm_is_the_sum_of_all_squares_for_any_length(void **state)
{
    (void)state;
    static float gradient[COUNT], copy[COUNT], value[COUNT], first[COUNT];
    const struct optimizer_config c = {.rule = RULE_SGD};
    draw(gradient, COUNT, 3);
    for (size_t count = 0; count < 40; count++) {
        double sum = 0;
        memcpy(copy, gradient, sizeof copy);
        for (size_t i = 0; i < count; i++)
            sum += (double)gradient[i] * (double)gradient[i];
        assert_near(optimizer_step(&c, 0.1, 1, count, value, copy, first, NULL), sqrt(sum), 1e-14);
    }
}

static void the_bits_of_a_parameter_do_not_depend_on_its_place(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        struct optimizer_config c = settings[s];
        static float value[COUNT], gradient[COUNT], first[COUNT], second[COUNT];
        static float alone[COUNT], alone_first[COUNT], alone_second[COUNT];
        c.clip_norm = 0;
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        memset(alone_first, 0, sizeof first);
        memset(alone_second, 0, sizeof second);
        draw(value, COUNT, 1);
        memcpy(alone, value, sizeof value);
        for (uint64_t t = 1; t <= 3; t++) {
            static float same[COUNT];
            draw(gradient, COUNT, (uint32_t)t + 10);
            memcpy(same, gradient, sizeof gradient);
            (void)optimizer_step(&c, 0.01, t, COUNT, value, gradient, first, second);
            for (size_t i = 0; i < COUNT; i++)
                (void)optimizer_step(&c, 0.01, t, 1, &alone[i], &same[i], &alone_first[i],
                                     &alone_second[i]);
        }
        assert_memory_equal(value, alone, sizeof value);
        assert_memory_equal(first, alone_first, sizeof first);
        assert_memory_equal(second, alone_second, sizeof second);
    }
}

static void only_adam_keeps_a_second_moment(void **state)
{
    (void)state;
    assert_true(optimizer_needs_second(RULE_ADAM));
    assert_true(optimizer_needs_second(RULE_ADAMW));
    assert_false(optimizer_needs_second(RULE_SGD));
}

static void a_late_step_needs_no_correction(void **state)
{
    (void)state;
    const struct optimizer_config c = {
        .rule = RULE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    float value = 1, gradient = 0.5F, first = 0.5F, second = 0.25F;
    (void)optimizer_step(&c, 0.1, UINT32_MAX, 1, &value, &gradient, &first, &second);
    assert_near((double)value, 0.9, 1e-7);
}

static void the_learning_rate_follows_its_schedule(void **state)
{
    (void)state;
    const struct rate_config constant = {.rule = RATE_CONSTANT, .base = 0.5, .epochs = 10};
    assert_true(learning_rate_of_epoch(&constant, 0) == 0.5);
    assert_true(learning_rate_of_epoch(&constant, 1000000) == 0.5);

    const struct rate_config steps = {
        .rule = RATE_STEP, .base = 1, .epochs = 100, .step_epochs = 30, .step_factor = 0.1};
    assert_true(learning_rate_of_epoch(&steps, 0) == 1.0);
    assert_true(learning_rate_of_epoch(&steps, 29) == 1.0);
    assert_near(learning_rate_of_epoch(&steps, 30), 0.1, 1e-15);
    assert_near(learning_rate_of_epoch(&steps, 59), 0.1, 1e-15);
    assert_near(learning_rate_of_epoch(&steps, 90), 0.001, 1e-15);
    assert_true(learning_rate_of_epoch(&steps, 1000000000) == 0.0);

    const struct rate_config cosine = {
        .rule = RATE_COSINE, .base = 2, .epochs = 100, .final_share = 0.1};
    assert_true(learning_rate_of_epoch(&cosine, 0) == 2.0);
    assert_near(learning_rate_of_epoch(&cosine, 50), 1.1, 1e-15);
    assert_near(learning_rate_of_epoch(&cosine, 100), 0.2, 1e-15);
    assert_near(learning_rate_of_epoch(&cosine, 101), 0.2, 1e-15);
    for (int epoch = 0; epoch <= 100; epoch++)
        assert_near(learning_rate_of_epoch(&cosine, epoch),
                    0.2 + 1.8 * (1 + cos(acos(-1.0) * epoch / 100)) / 2, 1e-15);
    const struct rate_config one_epoch = {.rule = RATE_COSINE, .base = 2, .epochs = 1};
    assert_true(learning_rate_of_epoch(&one_epoch, 0) == 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_follows_the_slow_reference),
        cmocka_unit_test(gives_the_values_of_torch_worked_by_hand),
        cmocka_unit_test(clips_by_the_norm_of_all_parameters),
        cmocka_unit_test(the_norm_is_the_sum_of_all_squares_for_any_length),
        cmocka_unit_test(the_bits_of_a_parameter_do_not_depend_on_its_place),
        cmocka_unit_test(only_adam_keeps_a_second_moment),
        cmocka_unit_test(a_late_step_needs_no_correction),
        cmocka_unit_test(the_learning_rate_follows_its_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
