#include "common/base/text.h"
#include "stages/plan/run/core_type.h"

#include "tests/support/test.h"

#include <stdlib.h>

static const char *rule_for(const char *vendor, uint32_t family, bool has_avx512)
{
    struct processor processor = {.family = family, .level = has_avx512 ? CPU_AVX512 : CPU_AVX2};
    const char *why = NULL;
    assert_true(text_copy(processor.vendor, sizeof processor.vendor, vendor));
    const char *core = core_type_rule(&processor, &why);
    assert_non_null(why);
    return core ? core : "";
}

static void zen4_takes_the_avx2_kernels(void **state)
{
    (void)state;
    assert_string_equal(rule_for("AuthenticAMD", 0x19, true), "Haswell");
}

static void zen5_keeps_what_openblas_picks(void **state)
{
    const struct processor zen5 = {.vendor = "AuthenticAMD", .family = 0x1A, .level = CPU_BF16};
    const char *why = NULL;
    (void)state;
    assert_null(core_type_rule(&zen5, &why));
    assert_non_null(strstr(why, "Zen 5"));
}

static void what_was_not_measured_is_left_to_openblas(void **state)
{
    const struct processor none = {0};
    const char *why = NULL;
    (void)state;
    assert_string_equal(rule_for("AuthenticAMD", 0x19, false), ""); /* Zen 3 */
    assert_string_equal(rule_for("AuthenticAMD", 0x1B, true), "");
    assert_string_equal(rule_for("GenuineIntel", 6, true), "");
    assert_null(core_type_rule(&none, &why));
}

static void what_is_settled_stays(void **state)
{
    char *argv[] = {NULL};
    (void)state;
    /* If one of these calls did anything, it would start this program again, without end. */
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Nehalem", 1), 0);
    core_type_settle(argv);
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "", 1), 0);
    core_type_settle(argv);
    assert_int_equal(setenv("OPENBLAS_CORETYPE", core_type_portable, 1), 0);
    core_type_settle_portable(argv);
    assert_string_equal(getenv("OPENBLAS_CORETYPE"), core_type_portable);
}

static void the_host_is_known(void **state)
{
    const struct processor processor = processor_of_host();
    (void)state;
#if defined(__x86_64__)
    assert_int_equal(strlen(processor.vendor), 12);
    assert_true(processor.family > 0);
    assert_int_equal(processor.level, cpu_level_of_host());
#else
    assert_string_equal(processor.vendor, "");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zen4_takes_the_avx2_kernels),
        cmocka_unit_test(zen5_keeps_what_openblas_picks),
        cmocka_unit_test(what_was_not_measured_is_left_to_openblas),
        cmocka_unit_test(what_is_settled_stays),
        cmocka_unit_test(the_host_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
