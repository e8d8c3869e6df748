#include "common/base/cpu_level.h"

#include "tests/support/test.h"

static void the_limit_holds_and_can_be_lifted(void **state)
{
    (void)state;
    const enum cpu_level own = cpu_level();
    cpu_level_limit(CPU_PLAIN);
    assert_int_equal(cpu_level(), CPU_PLAIN);
    cpu_level_limit(CPU_AVX2);
    assert_int_equal(cpu_level(), own < CPU_AVX2 ? own : CPU_AVX2);
    cpu_level_limit(CPU_AVX512);
    assert_int_equal(cpu_level(), own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_limit_holds_and_can_be_lifted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
