#include "common/formats/text/column_encoding.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "class\tjazz\nclass\tpop, rock\n"
                           "column\tage\tnumber\tmean\t34.5\n"
                           "column\tincome\tlog\tindicator\t0\n"
                           "column\tcity\tone_hot\tzero\t0\tBerlin\tParis\n"
                           "column\tyear\tbuckets\trefuse\t0\t1990\t2000\n"
                           "column\tscore\tstandardise\trefuse\t0\t3.5\t2\n";

static void parses_what_it_prints(void **state)
{
    (void)state;
    struct error err = {0};
    struct column_encoding encoding;
    struct json_writer out = {0};
    assert_ok(column_encoding_parse(&encoding, text, sizeof text - 1, "there", &err), &err);
    assert_int_equal(encoding.class_count, 2);
    assert_int_equal(encoding.column_count, 5);
    assert_int_equal(column_encoding_width(&encoding), 1 + 2 + 2 + 3 + 1);
    column_encoding_print(&encoding, &out);
    assert_string_equal(out.text, text);
    json_writer_release(&out);
    column_encoding_release(&encoding);
}

static struct field field_of(const char *word)
{
    return (struct field){word, strlen(word)};
}

static void makes_numbers_of_each_kind_and_of_what_is_missing(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int column;
        float expected[3];
    } trials[] = {
        {"20", 0, {20}},        {"", 0, {34.5F}},       {"0", 1, {0, 0}}, {"", 1, {0, 1}},
        {"Paris", 2, {0, 1}},   {"Rome", 2, {0, 0}},    {"", 2, {0, 0}},  {"1989", 3, {1, 0, 0}},
        {"1990", 3, {0, 1, 0}}, {"2024", 3, {0, 0, 1}}, {"7.5", 4, {2}},
    };
    struct error err = {0};
    struct column_encoding encoding;
    assert_ok(column_encoding_parse(&encoding, text, sizeof text - 1, "there", &err), &err);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        const struct column_code *column = &encoding.column[trials[i].column];
        const struct field value = field_of(trials[i].value);
        float out[3] = {9, 9, 9};
        assert_ok(column_code_take(column, &value, out, &err), &err);
        assert_memory_equal(out, trials[i].expected, column_code_width(column) * sizeof *out);
    }
    const struct field word = field_of("pop, rock"), none = field_of("pop");
    assert_int_equal(column_encoding_class(&encoding, &word), 1);
    assert_int_equal(column_encoding_class(&encoding, &none), -1);
    column_encoding_release(&encoding);
}

static void refuses_values_with_what_to_write_instead(void **state)
{
    (void)state;
    static const struct {
        int column;
        const char *value, *message;
    } trials[] = {
        {3, "",
         "column year: expected a value, found none: give it one, or write "
         "`missing_values: mean`"},
        {0, "old",
         "column age: expected a finite number, found 'old': write a number there, or for words "
         "`one_hot`"},
        {0, "NaN",
         "column age: expected a finite number, found 'NaN': if this word says that the value is "
         "missing, write `missing_words: NaN`"},
        {0, "inf", "column age: expected a finite number, found 'inf'"},
        {0, "1e300", "column age: expected a number that fits 32-bit floating point"},
        {1, "-1", "column income: expected a number above -1 for log(1 + x), found -1"},
    };
    struct error err = {0};
    struct column_encoding encoding;
    assert_ok(column_encoding_parse(&encoding, text, sizeof text - 1, "there", &err), &err);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        const struct field value = field_of(trials[i].value);
        float out[3];
        assert_fails(column_code_take(&encoding.column[trials[i].column], &value, out, &err),
                     ERROR_INPUT, trials[i].message, &err);
    }
    column_encoding_release(&encoding);
}

static void names_the_line_of_a_text_that_is_none(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "class\ta\nclass\n",
        "class\ta\nclass\ta\n",
        "class\ta\nclazz\tb\n",
        "class\ta\ncolumn\tage\tnumber\n",
        "class\ta\ncolumn\tage\tnumber\tmean\tx\n",
        "class\ta\ncolumn\tage\tnumber\tmean\t1\t2\n",
        "class\ta\ncolumn\tage\tbuckets\tmean\t1\n",
        "class\ta\ncolumn\tage\tbuckets\tmean\t1\t3\t2\n",
        "class\ta\ncolumn\tage\tone_hot\tzero\t0\tb\ta\n",
        "class\ta\ncolumn\tage\tstandardise\tzero\t0\t1\t-1\n",
        "class\ta\ncolumn\tage\tstandardise\tzero\t0\t1\n",
    };
    struct error err = {0};
    struct column_encoding encoding;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_fails(column_encoding_parse(&encoding, bad[i], strlen(bad[i]), "there", &err),
                     ERROR_INPUT, "there:2: ", &err);
        assert_int_equal(encoding.class_count + encoding.column_count, 0);
    }
}

/* The message is the same if the line itself contains the word that messages put before the found
 * value. */
static void what_was_found_is_said_of_each_line_that_is_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"column\tfound\n", "class\tfound\r\n", "found\n"};
    struct error err = {0};
    struct column_encoding encoding;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char found[32];
        (void)snprintf(found, sizeof found, ", found '%.*s'", (int)strlen(bad[i]) - 1, bad[i]);
        assert_fails(column_encoding_parse(&encoding, bad[i], strlen(bad[i]), "there", &err),
                     ERROR_INPUT, found, &err);
        assert_string_equal(error_advice(&err), "write it as graphmill did");
    }
    static const char twice[] = "class\tb\nclass\ta\n";
    assert_fails(column_encoding_parse(&encoding, twice, sizeof twice - 1, "there", &err),
                 ERROR_INPUT, "there:2: expected classes in ascending order, found 'a' behind",
                 &err);
    assert_string_equal(error_advice(&err), "sort them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_what_it_prints),
        cmocka_unit_test(makes_numbers_of_each_kind_and_of_what_is_missing),
        cmocka_unit_test(refuses_values_with_what_to_write_instead),
        cmocka_unit_test(names_the_line_of_a_text_that_is_none),
        cmocka_unit_test(what_was_found_is_said_of_each_line_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
