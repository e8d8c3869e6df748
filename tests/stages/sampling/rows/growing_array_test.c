#include "common/base/memory.h"
#include "stages/sampling/rows/growing_array.h"

#include "tests/support/test.h"

static void keeps_what_was_used_and_gives_back_what_it_took(void **state)
{
    (void)state;
    struct error err = {0};
    struct growing_array array = {0};
    struct array_budget budget = {0};
    const long live = memory_live_blocks();
    assert_ok(growing_array_reserve(&array, &budget, 10, 0, "a test", &err), &err);
    for (uint32_t i = 0; i < 10; i++)
        array.data[i] = i * i;
    const size_t capacity = array.capacity;
    assert_ok(growing_array_reserve(&array, &budget, capacity + 1, 10, "a test", &err), &err);
    assert_true(array.capacity > capacity);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(array.data[i], i * i);
    assert_int_equal(budget.used, array.capacity * 4);
    growing_array_release(&array, &budget);
    growing_array_release(&array, &budget);
    assert_int_equal(budget.used, 0);
    assert_int_equal(memory_live_blocks(), live);
}

static void does_not_allocate_when_there_is_room(void **state)
{
    (void)state;
    struct error err = {0};
    struct growing_array array = {0};
    struct array_budget budget = {0};
    assert_ok(growing_array_reserve(&array, &budget, 100000, 0, "a test", &err), &err);
    const long before = memory_allocation_count();
    assert_ok(growing_array_reserve(&array, &budget, 100000, 100000, "a test", &err), &err);
    assert_int_equal(memory_allocation_count(), before);
    growing_array_release(&array, &budget);
}

static void takes_the_plain_size_when_more_does_not_fit_the_budget(void **state)
{
    (void)state;
    struct error err = {0};
    struct growing_array array = {0};
    struct array_budget budget = {.limit = 4000};
    assert_ok(growing_array_reserve(&array, &budget, 1000, 0, "a test", &err), &err);
    assert_int_equal(array.capacity, 1000);
    growing_array_release(&array, &budget);
}

static void names_what_and_the_budget_when_it_is_used_up(void **state)
{
    (void)state;
    struct error err = {0};
    struct growing_array array = {0};
    struct array_budget budget = {.limit = 4000};
    assert_fails(growing_array_reserve(&array, &budget, 1001, 0, "the nodes", &err),
                 ERROR_NO_MEMORY,
                 "no memory for the nodes: 4004 bytes, and 0 of the budget of 4000", &err);
    assert_null(array.data);
    assert_int_equal(budget.used, 0);
}

static void survives_a_refused_allocation(void **state)
{
    (void)state;
    struct error err = {0};
    struct growing_array array = {0};
    struct array_budget budget = {0};
    assert_ok(growing_array_reserve(&array, &budget, 10, 0, "the nodes", &err), &err);
    array.data[9] = 77;
    memory_fail_after(0);
    const enum error_code rc =
        growing_array_reserve(&array, &budget, array.capacity + 1, 10, "the nodes", &err);
    memory_fail_after(-1);
    assert_int_equal(rc, ERROR_NO_MEMORY);
    assert_non_null(strstr(err.message, "the nodes"));
    assert_int_equal(array.data[9], 77);
    growing_array_release(&array, &budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_was_used_and_gives_back_what_it_took),
        cmocka_unit_test(does_not_allocate_when_there_is_room),
        cmocka_unit_test(takes_the_plain_size_when_more_does_not_fit_the_budget),
        cmocka_unit_test(names_what_and_the_budget_when_it_is_used_up),
        cmocka_unit_test(survives_a_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
