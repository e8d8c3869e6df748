#include "common/base/memory.h"

#include "tests/support/test.h"

static void memory_comes_zeroed_and_counted(void **state)
{
    const long live = memory_live_blocks(), count = memory_allocation_count();
    (void)state;
    char *p = memory_alloc(1000, 3), *none = memory_alloc(0, 8), *map = memory_map(5 << 20);
    assert_non_null(p);
    assert_non_null(none);
    assert_non_null(map);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(p[i], 0);
    assert_int_equal(map[(5 << 20) - 1], 0);
    assert_int_equal((uintptr_t)map % 4096, 0);
    memset(p, 7, 3000);
    p = memory_resize(p, 100000, 1);
    assert_non_null(p);
    assert_int_equal(p[2999], 7);
    assert_int_equal(memory_live_blocks(), live + 3);
    assert_int_equal(memory_allocation_count(), count + 4);
    memory_free(p);
    memory_free(none);
    memory_free(NULL);
    memory_unmap(map, 5 << 20);
    memory_unmap(NULL, 0);
    assert_int_equal(memory_live_blocks(), live);
}

static void an_array_grows_in_steps_that_grow(void **state)
{
    struct error err = {0};
    int32_t *array = NULL;
    size_t capacity = 0;
    const long live = memory_live_blocks(), count = memory_allocation_count();
    (void)state;
    assert_ok(memory_grow(&array, &capacity, 0, "numbers", &err), &err);
    assert_null(array);
    for (int32_t i = 0; i < 100000; i++) {
        assert_ok(memory_grow(&array, &capacity, (size_t)i + 1, "numbers", &err), &err);
        array[i] = i;
    }
    for (int32_t i = 0; i < 100000; i++)
        assert_int_equal(array[i], i);
    assert_true(capacity >= 100000 && capacity < 200000);
    assert_true(memory_allocation_count() - count < 25);
    assert_ok(memory_grow(&array, &capacity, 1000000, "numbers", &err), &err);
    assert_int_equal(capacity, 1000000); /* in one step, if that is more than half */
    assert_fails(memory_grow(&array, &capacity, SIZE_MAX / 4, "numbers", &err), ERROR_NO_MEMORY,
                 "no memory for numbers", &err);
    assert_int_equal(capacity, 1000000);
    assert_int_equal(array[7], 7);
    memory_free(array);
    assert_int_equal(memory_live_blocks(), live);
}

static void products_that_overflow_are_refused(void **state)
{
    struct error err = {0};
    double *p = (double *)&err;
    (void)state;
    assert_null(memory_alloc(SIZE_MAX / 2, 3));
    assert_null(memory_resize(NULL, SIZE_MAX, 2));
    assert_fails(memory_new(&p, SIZE_MAX / 4, "rows", &err), ERROR_NO_MEMORY, "no memory for rows",
                 &err);
    assert_null(p);
}

static void the_nth_allocation_can_be_made_to_fail(void **state)
{
    void *p[4] = {0};
    (void)state;
    memory_fail_after(2);
    for (int i = 0; i < 4; i++)
        p[i] = memory_alloc(1, 8);
    assert_null(memory_map(4096));
    assert_null(memory_resize(p[0], 2, 8));
    memory_fail_after(-1);
    assert_true(p[0] && p[1] && !p[2] && !p[3]);
    memory_free(p[0]);
    memory_free(p[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_zeroed_and_counted),
        cmocka_unit_test(an_array_grows_in_steps_that_grow),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(the_nth_allocation_can_be_made_to_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
