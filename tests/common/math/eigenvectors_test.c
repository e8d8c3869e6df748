#include "common/base/memory.h"
#include "common/math/eigenvectors.h"

#include "tests/support/test.h"

#include <math.h>

enum { NODES = 120, COUNT = 6 };

/* Multiplies with the adjacency matrix of a path, whose eigenvalues are 2 cos(i pi / (n + 1)), i =
 * 1 .. n. */
static void path_product(void *context, const double *x, double *y)
{
    const int32_t n = *(const int32_t *)context;
    for (int32_t i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] : 0.0) + (i + 1 < n ? x[i + 1] : 0.0);
}

static enum error_code of_path(int32_t nodes, int count, double *vector, double *value, int *found,
                               struct error *err)
{
    const struct symmetric_matrix matrix = {
        .size = nodes, .product = path_product, .context = &nodes};
    return eigenvectors_largest(&matrix, count, 1e-10, 3, vector, value, found, err);
}

static void those_of_a_path_are_known(void **state)
{
    (void)state;
    static double vector[COUNT * NODES], again[COUNT * NODES], product[NODES];
    const double pi = acos(-1.0);
    double value[COUNT];
    struct error err = {0};
    int found = 0;
    assert_ok(of_path(NODES, COUNT, vector, value, &found, &err), &err);
    assert_int_equal(found, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const double *v = &vector[(size_t)i * NODES];
        int32_t nodes = NODES;
        double squares = 0.0, farthest = 0.0;
        assert_true(fabs(value[i] - 2 * cos((i + 1) * pi / (NODES + 1))) < 1e-8);
        path_product(&nodes, v, product);
        for (int n = 0; n < NODES; n++) {
            assert_true(fabs(product[n] - value[i] * v[n]) < 1e-6);
            squares += v[n] * v[n];
            farthest = fabs(v[n]) > fabs(farthest) ? v[n] : farthest;
        }
        assert_true(fabs(squares - 1.0) < 1e-9);
        assert_true(farthest > 0.0);
    }
    assert_ok(of_path(NODES, COUNT, again, value, &found, &err), &err);
    assert_memory_equal(vector, again, sizeof vector);
}

static void small_matrices_have_them_too(void **state)
{
    (void)state;
    double vector[3 * 8], value[3];
    struct error err = {0};
    int found = 0;
    for (int32_t nodes = 4; nodes <= 8; nodes++)
        for (int count = 1; count < nodes - 1 && count <= 3; count++) {
            assert_ok(of_path(nodes, count, vector, value, &found, &err), &err);
            assert_int_equal(found, count);
            assert_true(fabs(value[0] - 2 * cos(acos(-1.0) / (nodes + 1))) < 1e-8);
        }
}

static void memory_that_is_not_there_is_said(void **state)
{
    (void)state;
    static double vector[COUNT * NODES];
    double value[COUNT];
    struct error err = {0};
    int found = 0;
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        assert_true(n < 20);
        memory_fail_after(n);
        rc = of_path(NODES, COUNT, vector, value, &found, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_a_path_are_known),
        cmocka_unit_test(small_matrices_have_them_too),
        cmocka_unit_test(memory_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
