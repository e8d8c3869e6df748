#include "common/nn/tasks/softmax_terms.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <math.h>

enum { COUNT = 50 };

static void fill(float logit[COUNT])
{
    for (int c = 0; c < COUNT; c++)
        logit[c] = 9 * sinf((float)(c * c));
}

static float largest(const float *logit, size_t count)
{
    float most = logit[0];
    for (size_t c = 1; c < count; c++)
        most = fmaxf(most, logit[c]);
    return most;
}

static void terms_are_exponentials_and_their_sum(void **state)
{
    (void)state;
    float logit[COUNT], term[COUNT + 1];
    fill(logit);
    for (size_t count = 1; count <= COUNT; count++) {
        const float most = largest(logit, count);
        double expected = 0;
        term[count] = 7;
        const double sum = softmax_terms(logit, count, most, term);
        for (size_t c = 0; c < count; c++) {
            const float below = logit[c] - most;
            const double exact = exp((double)below);
            assert_true(fabs((double)term[c] - exact) <= 1e-6 * exact);
            expected += (double)term[c];
        }
        assert_true(term[count] > 6.5F); /* the element after the row is unchanged */
        assert_true(fabs(sum - expected) <= 1e-14 * expected);
        assert_true(sum >= 1);
    }
}

static void bits_are_the_same_at_each_level_and_without_terms(void **state)
{
    (void)state;
    float logit[COUNT], first[COUNT], term[COUNT];
    fill(logit);
    for (size_t count = 1; count <= COUNT; count++) {
        const float most = largest(logit, count);
        cpu_level_limit(CPU_PLAIN);
        const double expected = softmax_terms(logit, count, most, first);
        for (int level = CPU_PLAIN; level < CPU_LEVEL_COUNT; level++) {
            cpu_level_limit((enum cpu_level)level);
            const double sum = softmax_terms(logit, count, most, term);
            const double alone = softmax_terms(logit, count, most, NULL);
            assert_memory_equal(&sum, &expected, sizeof sum);
            assert_memory_equal(&alone, &expected, sizeof alone);
            assert_memory_equal(term, first, count * sizeof *term);
        }
    }
}

static void what_is_no_number_leaves_no_sum(void **state)
{
    (void)state;
    float logit[COUNT];
    for (int c = 0; c < COUNT; c++) {
        fill(logit);
        logit[c] = NAN;
        assert_true(isnan(softmax_terms(logit, COUNT, 9, NULL)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_exponentials_and_their_sum),
        cmocka_unit_test(bits_are_the_same_at_each_level_and_without_terms),
        cmocka_unit_test(what_is_no_number_leaves_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
