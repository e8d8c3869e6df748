#include "stages/plan/run/environment.h"

#include "tests/support/test.h"

#include <string.h>

static void a_process_names_what_its_bits_depend_on(void **state)
{
    (void)state;
    static const char *const facts[] = {("graphmill " GRAPHMILL_VERSION "\n"),
                                        "kernels 2 ",
                                        "sums 64 16 64 512\n",
                                        "OpenBLAS ",
                                        " Zen\n",
                                        "glibc ",
                                        "gcc "};
    char text[ENVIRONMENT_TEXT_SIZE], portable[ENVIRONMENT_TEXT_SIZE];
    environment_text(false, "Zen", text);
#if defined(__clang__)
    const size_t count = 6;
#else
    const size_t count = 7;
#endif
    for (size_t i = 0; i < count; i++)
        if (!strstr(text, facts[i]))
            fail_msg("'%s' is not in '%s'", facts[i], text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    environment_text(true, "Zen", portable);
    assert_non_null(strstr(portable, "kernels 2\n")); /* the same on every processor */
}

static void what_differs_is_told(void **state)
{
    (void)state;
    static const char theirs[] = "graphmill 0.1.0\nOpenBLAS 0.3.21 Zen\nlibxsmm 1.17\ngcc 12\n";
    char text[ENVIRONMENT_DIFFERENCE_SIZE];
    assert_false(environment_difference(theirs, theirs, text));
    assert_true(environment_difference(
        theirs, "graphmill 0.2.0\nOpenBLAS 0.3.21 Zen\nlibxsmm 1.17\ngcc 12\n", text));
    assert_string_equal(text, "graphmill 0.1.0, here graphmill 0.2.0");
    assert_true(
        environment_difference(theirs, "graphmill 0.1.0\nOpenBLAS 0.3.21 Haswell\ngcc 12\n", text));
    assert_string_equal(text, "OpenBLAS 0.3.21 Zen, here OpenBLAS 0.3.21 Haswell; "
                              "libxsmm 1.17, here none");
    assert_true(environment_difference("gcc 12\n", theirs, text));
    assert_true(text[0]);
}

static void the_short_form_has_core_type_and_hash(void **state)
{
    (void)state;
    char text[ENVIRONMENT_TEXT_SIZE], one[ENVIRONMENT_SHORT_SIZE], other[ENVIRONMENT_SHORT_SIZE];
    environment_text(false, "SkylakeX", text);
    environment_short(text, one);
    assert_int_equal(strncmp(one, "SkylakeX ", 9), 0);
    assert_int_equal(strlen(one), 9 + 16);
    text[strlen(text) - 2]++;
    environment_short(text, other);
    assert_string_not_equal(one, other);
    environment_short("nothing", other);
    assert_int_equal(strlen(other), 1 + 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_names_what_its_bits_depend_on),
        cmocka_unit_test(what_differs_is_told),
        cmocka_unit_test(the_short_form_has_core_type_and_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
