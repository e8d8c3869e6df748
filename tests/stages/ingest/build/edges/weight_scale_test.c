#include "common/base/memory.h"
#include "stages/ingest/build/edges/weight_scale.h"

#include "tests/support/test.h"

#include <math.h>

static const float weights[] = {5, -2, 5, 0, 1e6F, 1e-3F, 5, 7};
enum { COUNT = sizeof weights / sizeof *weights };

static struct weight_scale scale_of(enum weight_scale_kind kind)
{
    struct weight_scale scale = {.kind = kind};
    struct error err = {0};
    for (int i = 0; i < COUNT; i++)
        assert_ok(weight_scale_note(&scale, weights[i], &err), &err);
    weight_scale_finish(&scale);
    return scale;
}

static void weights_as_given_stay(void **state)
{
    struct weight_scale scale = scale_of(WEIGHTS_AS_GIVEN);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        assert_true(weight_scale_of(&scale, weights[i]) == weights[i]);
    weight_scale_release(&scale);
}

static void a_logarithm_keeps_sign_order_and_zero(void **state)
{
    struct weight_scale scale = scale_of(WEIGHTS_LOG);
    (void)state;
    assert_true(weight_scale_of(&scale, 0) == 0);
    for (int i = 0; i < COUNT; i++) {
        const double expected = copysign(log1p(fabs((double)weights[i])), (double)weights[i]);
        assert_true(fabs((double)weight_scale_of(&scale, weights[i]) - expected) < 1e-6);
        for (int j = 0; j < COUNT; j++)
            assert_int_equal(weight_scale_of(&scale, weights[i]) <
                                 weight_scale_of(&scale, weights[j]),
                             weights[i] < weights[j]);
    }
    assert_null(scale.weight); /* this scale needs no memory */
    weight_scale_release(&scale);
}

static void a_rank_is_the_share_of_weights_that_are_no_larger(void **state)
{
    static const float expected[COUNT] = {0.75F, 0.125F, 0.75F, 0.25F, 1, 0.375F, 0.75F, 0.875F};
    struct weight_scale scale = scale_of(WEIGHTS_RANK);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        assert_true(weight_scale_of(&scale, weights[i]) == expected[i]);
    weight_scale_release(&scale);
    assert_int_equal(memory_live_blocks(), 0);
}

static void ranks_beyond_their_memory_are_refused(void **state)
{
    struct weight_scale scale = {.kind = WEIGHTS_RANK, .memory_bytes = 3 * sizeof(float)};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_ok(weight_scale_note(&scale, 1, &err), &err);
    assert_fails(weight_scale_note(&scale, 1, &err), ERROR_NO_MEMORY, "weight_scale: log", &err);
    weight_scale_release(&scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_as_given_stay),
        cmocka_unit_test(a_logarithm_keeps_sign_order_and_zero),
        cmocka_unit_test(a_rank_is_the_share_of_weights_that_are_no_larger),
        cmocka_unit_test(ranks_beyond_their_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
