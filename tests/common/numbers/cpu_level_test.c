#include "common/numbers/cpu_kernel.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <stdbool.h>
#include <stdlib.h>

static void the_limit_holds_and_can_be_lifted(void **state)
{
    (void)state;
    const enum cpu_level host = cpu_level_of_host();
    for (int level = CPU_PLAIN; level < CPU_LEVEL_COUNT; level++) {
        cpu_level_limit((enum cpu_level)level);
        assert_int_equal(cpu_level(), level < (int)host ? level : (int)host);
    }
    assert_int_equal(cpu_level(), host);
}

/* Chooses the level like a process that starts with this value of the variable. */
static enum cpu_level level_with(const char *name)
{
    assert_int_equal(setenv(CPU_LEVEL_VARIABLE, name, 1), 0);
    return cpu_level_choose();
}

static void the_environment_chooses_a_level(void **state)
{
    struct error err = {0};
    const enum cpu_level host = cpu_level_of_host();
    (void)state;
    for (int level = CPU_PLAIN; level <= (int)host; level++) {
        assert_int_equal(level_with(cpu_level_name((enum cpu_level)level)), level);
        assert_ok(cpu_level_check(&err), &err);
    }
    assert_int_equal(level_with(""), host);
    assert_ok(cpu_level_check(&err), &err);
}

static void a_level_that_is_not_here_is_refused(void **state)
{
    struct error err = {0};
    const enum cpu_level host = cpu_level_of_host();
    (void)state;
    assert_int_equal(level_with("sse9"), host);
    assert_fails(cpu_level_check(&err), ERROR_USAGE, "GRAPHMILL_CPU_LEVEL=sse9", &err);
    for (int level = (int)host + 1; level < CPU_LEVEL_COUNT; level++) {
        assert_int_equal(level_with(cpu_level_name((enum cpu_level)level)), host);
        assert_fails(cpu_level_check(&err), ERROR_USAGE, cpu_level_name(host), &err);
    }
    assert_int_equal(unsetenv(CPU_LEVEL_VARIABLE), 0);
}

#if CPU_LEVEL_X86
/* Returns an address inside the form that is called. */
CPU_KERNEL_OF(uintptr_t, address_of_form, (void), ())
{
    uintptr_t here = 0;
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
    return here;
}

static void a_call_takes_the_form_of_its_level(void **state)
{
    const enum cpu_level host = cpu_level_of_host();
    uintptr_t form[CPU_LEVEL_COUNT] = {0};
    (void)state;
    for (int level = CPU_PLAIN; level < CPU_LEVEL_COUNT; level++) {
        cpu_level_limit((enum cpu_level)level);
        form[level] = address_of_form();
    }
    for (int level = CPU_AVX2; level < CPU_LEVEL_COUNT; level++) {
        const bool is_new = level <= (int)host && level <= CPU_AVX512;
        assert_int_equal(form[level] != form[level - 1], is_new);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_holds_and_can_be_lifted),
        cmocka_unit_test(the_environment_chooses_a_level),
        cmocka_unit_test(a_level_that_is_not_here_is_refused),
#if CPU_LEVEL_X86
        cmocka_unit_test(a_call_takes_the_form_of_its_level),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
