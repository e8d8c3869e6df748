#include "stages/engine/address_budget.h"

#include "tests/support/test.h"

static void without_a_limit_nothing_changes(void **state)
{
    int threads = 64;
    uint64_t memory = (uint64_t)1 << 40;
    struct error err = {0};
    (void)state;
    assert_ok(address_budget_fit(UINT64_MAX, true, &threads, &memory, &err), &err);
    assert_int_equal(threads, 64);
    assert_true(memory == (uint64_t)1 << 40);
}

static void threads_and_budget_fit_into_what_is_left(void **state)
{
    static const uint64_t left_mib[] = {200, 300, 600, 1000, 4000, 100000};
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof left_mib / sizeof *left_mib; i++) {
        int threads = 16;
        uint64_t memory = (uint64_t)1 << 40;
        assert_ok(address_budget_fit(left_mib[i] << 20, true, &threads, &memory, &err), &err);
        assert_true(threads >= 1 && threads <= 16);
        assert_true((uint64_t)threads * 128 + (memory >> 20) < left_mib[i]);
        assert_true(memory >> 20 >= 30);
    }
}

static void a_program_without_products_keeps_its_threads(void **state)
{
    int threads = 16;
    uint64_t memory = (uint64_t)10 << 20;
    struct error err = {0};
    (void)state;
    assert_ok(address_budget_fit((uint64_t)100 << 20, false, &threads, &memory, &err), &err);
    assert_int_equal(threads, 16);
    assert_int_equal(memory, 10 << 20);
}

static void less_than_one_product_needs_is_refused(void **state)
{
    int threads = 1;
    uint64_t memory = (uint64_t)10 << 20;
    struct error err = {0};
    (void)state;
    assert_fails(address_budget_fit((uint64_t)150 << 20, true, &threads, &memory, &err),
                 ERROR_NO_MEMORY, "150 MiB of addresses are left", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_nothing_changes),
        cmocka_unit_test(threads_and_budget_fit_into_what_is_left),
        cmocka_unit_test(a_program_without_products_keeps_its_threads),
        cmocka_unit_test(less_than_one_product_needs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
