/* Finds the largest magnitudes of an array, compared with sorting it. */
#include "common/math/largest_values.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

enum { COUNT = 1200 };

struct ranked {
    float value;
    int index;
};

/* Compares: larger magnitudes first, of equal ones the first. */
static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const float p = fabsf(x->value), q = fabsf(y->value);
    return p != q ? (p < q ? 1 : -1) : (x->index > y->index) - (x->index < y->index);
}

static void check(const float *value, size_t count, size_t kept)
{
    struct ranked rank[COUNT];
    float left[COUNT], rest[COUNT], expected[COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        rank[i] = (struct ranked){value[i], (int)i};
    qsort(rank, count, sizeof *rank, compare);
    for (size_t i = 0; i < kept; i++)
        expected[rank[i].index] = rank[i].value;
    memcpy(left, value, count * sizeof *left);
    largest_values_split(left, count, kept, rest);
    for (size_t i = 0; i < count; i++) {
        assert_true(left[i] == expected[i]);
        assert_true(rest[i] == (expected[i] == 0.0F ? value[i] : 0.0F));
    }
}

static void the_largest_are_kept_and_the_rest_is_the_rest(void **state)
{
    float value[COUNT];
    (void)state;
    for (int form = 0; form < 4; form++) {
        for (int i = 0; i < COUNT; i++) {
            const float wave = sinf((float)(i * (form + 1)) * 1.7F);
            value[i] = form == 0   ? wave
                       : form == 1 ? wave * expf((float)(i % 60) - 30.0F)
                       : form == 2 ? (float)(i % 7 - 3) /* many ties, and zeros */
                                   : (i % 2 ? 1e-41F : 3e38F) * wave;
        }
        for (size_t kept = 0; kept <= COUNT; kept += kept < 40 ? 1 : 113)
            check(value, COUNT, kept);
        check(value, COUNT, COUNT);
        check(value, 1, 1);
    }
}

static void of_equal_ones_the_first_are_kept(void **state)
{
    float value[5] = {2, -3, 3, -3, 3}, rest[5];
    static const float kept[5] = {0, -3, 3, 0, 0}, left[5] = {2, 0, 0, -3, 3};
    (void)state;
    largest_values_split(value, 5, 2, rest);
    assert_memory_equal(value, kept, sizeof kept);
    assert_memory_equal(rest, left, sizeof left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept_and_the_rest_is_the_rest),
        cmocka_unit_test(of_equal_ones_the_first_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
