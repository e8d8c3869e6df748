#include "common/formats/text/csv_field.h"

#include "tests/support/test.h"

#include <string.h>

static void assert_field(const char *text, const char *expected)
{
    char out[64];
    const size_t size = csv_field_put(out, text, strlen(text));
    assert_true(size <= csv_field_size(strlen(text)));
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(out, expected, size);
}

static void what_would_end_a_field_stands_in_quotes(void **state)
{
    (void)state;
    assert_field("plain id", "plain id");
    assert_field("", "");
    assert_field("a,b", "\"a,b\"");
    assert_field("say \"a\"", "\"say \"\"a\"\"\"");
    assert_field("two\nlines", "\"two\nlines\"");
    assert_field("\r", "\"\r\"");
    assert_field("a\tb", "\"a\tb\"");
    assert_field(" a", "\" a\"");
    assert_field("a ", "\"a \"");
    assert_field("#a", "\"#a\"");
    assert_field("%", "\"%\"");
    assert_field("a#b", "a#b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_would_end_a_field_stands_in_quotes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
