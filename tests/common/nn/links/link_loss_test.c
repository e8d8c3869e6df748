/* Compares losses with values computed by hand, and their gradients with central differences. */
#include "common/nn/links/link_loss.h"

#include "tests/support/test.h"

#include <math.h>

enum { POSITIVES = 4, NEGATIVES = 3, PAIRS = POSITIVES * (1 + NEGATIVES) };

static const float score[PAIRS] = {1.5F,  -0.25F, 0, 4,  2, -1,   0.5F, -3,
                                   0.75F, 0,      1, -1, 2, 0.5F, 4.5F, -2};

static double mean_of(const struct link_loss *loss, const float *of)
{
    const struct loss_result result = link_loss_compute(loss, of, POSITIVES, NEGATIVES, NULL);
    return result.sum / (double)result.label_count;
}

static void gradients_are_central_differences(void **state)
{
    (void)state;
    for (int kind = 0; kind < LINK_LOSS_COUNT; kind++) {
        const struct link_loss loss = {(enum link_loss_kind)kind, 0.9F};
        float gradient[PAIRS];
        (void)link_loss_compute(&loss, score, POSITIVES, NEGATIVES, gradient);
        for (int i = 0; i < PAIRS; i++) {
            float moved[PAIRS];
            for (int j = 0; j < PAIRS; j++)
                moved[j] = score[j];
            moved[i] = score[i] + 0x1p-7F;
            const double above = mean_of(&loss, moved);
            moved[i] = score[i] - 0x1p-7F;
            const double slope = (above - mean_of(&loss, moved)) / 0x1p-6;
            assert_true(fabs((double)gradient[i] - slope) < 2e-4);
        }
    }
}

static void losses_agree_with_the_hand(void **state)
{
    const float pair[] = {2, 0.5F, 3}; /* an edge and two negatives */
    struct link_loss loss = {LINK_LOSS_BCE, 1};
    (void)state;
    struct loss_result result = link_loss_compute(&loss, pair, 1, 2, NULL);
    assert_true(fabs(result.sum - (log1p(exp(-2)) + log1p(exp(0.5)) + log1p(exp(3)))) < 1e-6);
    assert_int_equal(result.label_count, 3);
    assert_int_equal(result.correct_count, 1);
    loss.kind = LINK_LOSS_MARGIN;
    result = link_loss_compute(&loss, pair, 1, 2, NULL);
    assert_true(fabs(result.sum - 2) < 1e-6); /* max(0, 1 - 2 + 0.5) + max(0, 1 - 2 + 3) */
    assert_int_equal(result.label_count, 2);
    assert_int_equal(result.correct_count, 1);
    loss.kind = LINK_LOSS_SOFTMAX;
    result = link_loss_compute(&loss, pair, 1, 2, NULL);
    assert_true(fabs(result.sum - (log(exp(2) + exp(0.5) + exp(3)) - 2)) < 1e-6);
    assert_int_equal(result.label_count, 1);
    assert_int_equal(result.correct_count, 0);
}

/* Large scores do not overflow, and NaN stays NaN. */
static void large_scores_are_fine(void **state)
{
    (void)state;
    for (int kind = 0; kind < LINK_LOSS_COUNT; kind++) {
        const struct link_loss loss = {(enum link_loss_kind)kind, 1};
        const float far[] = {-3000, 3000}, lost[] = {NAN, 1};
        float gradient[2];
        const struct loss_result result = link_loss_compute(&loss, far, 1, 1, gradient);
        assert_true(result.sum > 5000 && isfinite(result.sum));
        assert_true(isfinite(gradient[0]) && isfinite(gradient[1]));
        assert_true(isnan(link_loss_compute(&loss, lost, 1, 1, gradient).sum));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_central_differences),
        cmocka_unit_test(losses_agree_with_the_hand),
        cmocka_unit_test(large_scores_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
