#include "stages/ingest/formats/shared/mending.h"

#include "tests/support/test.h"

static const char form[] = "mend it so that a table has a row for each edge";

static void an_error_without_advice_gets_the_form_of_its_format(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "g.metis:1: expected numbers, found 'x'");
    assert_int_equal(mending_add(form, ERROR_INPUT, &err), ERROR_INPUT);
    assert_non_null(strstr(err.message, "found 'x': mend it so that a table has"));
    assert_int_equal(strncmp(error_advice(&err), "mend it so that", 15), 0);
    (void)error_set(&err, ERROR_NOT_FOUND, "expected a file");
    assert_int_equal(mending_add(form, ERROR_NOT_FOUND, &err), ERROR_NOT_FOUND);
    assert_non_null(strstr(err.message, "expected a file: mend it so that a table has"));
}

static void an_error_with_advice_keeps_it(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "f.csv:3: found 'a': " ADVICE "sort them");
    (void)mending_add(form, ERROR_INPUT, &err);
    assert_string_equal(err.message, "f.csv:3: found 'a': sort them");
}

/* Neither the name of a file nor its content decides whether there is advice. */
static void words_of_the_user_are_no_advice(void **state)
{
    (void)state;
    static const char *const words[] = {"a: write it.csv", "b; remove one.csv", "found both.csv",
                                        "is out of range", "NUL byte",          "a finite number",
                                        "in the header",   "x columns, found y"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct error err = {0};
        (void)error_set(&err, ERROR_INPUT, "%s:1: expected a number, found another", words[i]);
        (void)mending_add(form, ERROR_INPUT, &err);
        assert_int_equal(strncmp(error_advice(&err), "mend it so that a table has", 27), 0);
    }
}

static void other_errors_and_formats_stay_as_they_are(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_IO, "disk");
    assert_int_equal(mending_add(form, ERROR_IO, &err), ERROR_IO);
    assert_string_equal(err.message, "disk");
    assert_int_equal(mending_add(form, ERROR_NONE, &err), ERROR_NONE);
    assert_int_equal(mending_add(form, ERROR_INPUT, NULL), ERROR_INPUT);
    (void)error_set(&err, ERROR_INPUT, "a line");
    (void)mending_add(NULL, ERROR_INPUT, &err);
    assert_string_equal(err.message, "a line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_without_advice_gets_the_form_of_its_format),
        cmocka_unit_test(an_error_with_advice_keeps_it),
        cmocka_unit_test(words_of_the_user_are_no_advice),
        cmocka_unit_test(other_errors_and_formats_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
