#include "common/base/text.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

static void reads_whole_integers_only(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_true(text_int64("-12", 3, &value));
    assert_int_equal(value, -12);
    assert_true(text_int64("9223372036854775807", 19, &value));
    assert_true(value == INT64_MAX);
    assert_true(text_int64("-9223372036854775808", 20, &value));
    assert_true(value == INT64_MIN);
    assert_false(text_int64("9223372036854775808", 19, &value));
    assert_false(text_int64("12x", 3, &value));
    assert_false(text_int64("", 0, &value));
    assert_false(text_int64("-", 1, &value));
}

static void reads_sizes_with_suffixes(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    assert_true(text_bytes("512M", &bytes));
    assert_true(bytes == 512ULL << 20);
    assert_true(text_bytes("1.5GiB", &bytes));
    assert_true(bytes == 3ULL << 29);
    assert_true(text_bytes("4K", &bytes));
    assert_true(bytes == 4096);
    assert_true(text_bytes("77", &bytes));
    assert_true(bytes == 77);
    assert_false(text_bytes("12Q", &bytes));
    assert_false(text_bytes("-1", &bytes));
    assert_false(text_bytes("", &bytes));
}

static void names_the_nearest_word(void **state)
{
    (void)state;
    const char *const names[] = {"sample.fanouts", "train-step.hidden", NULL};
    assert_string_equal(text_nearest("sample.fanout", names), "sample.fanouts");
    assert_string_equal(text_nearest("trainstep.hiden", names), "train-step.hidden");
    assert_null(text_nearest("zzz", names));
}

static void groups_digits_for_people(void **state)
{
    (void)state;
    char buffer[32];
    assert_string_equal(text_count(1234567, buffer), "1,234,567");
    assert_string_equal(text_count(-123, buffer), "-123");
    assert_string_equal(text_count(0, buffer), "0");
}

static void shortens_fractions_for_people(void **state)
{
    static const char *const cases[][2] = {
        {"aggregate.learning_rate = 0.0050000000000000001\nepochs = 3",
         "aggregate.learning_rate = 0.005\nepochs = 3"},
        {"0.29999999999999999,1.0000000000000001e-05,[0.5]", "0.3,1e-05,[0.5]"},
        {"0.1 -> 0.10000000000000001", "0.1 -> 0.1"},
        {"0.30000000000000004", "0.30000000000000004"}, /* no shorter text is that number */
        {"/data/v0.0050000000000000001/x", "/data/v0.0050000000000000001/x"},
        {"0.0050000000000000001.csv 10.0.0.1", "0.0050000000000000001.csv 10.0.0.1"},
        {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        assert_true(text_copy(text, sizeof text, cases[i][0]));
        assert_string_equal(text_shorten_fractions(text), cases[i][1]);
    }
}

static void expands_environment_variables(void **state)
{
    (void)state;
    struct error err = {0};
    char out[32];
    assert_int_equal(setenv("GM_TEXT_TEST", "here", 1), 0);
    assert_ok(text_expand("a/${GM_TEXT_TEST}/b", out, sizeof out, &err), &err);
    assert_string_equal(out, "a/here/b");
    assert_ok(text_expand("${GM_UNSET_NAME:-there}/b", out, sizeof out, &err), &err);
    assert_string_equal(out, "there/b");
    assert_fails(text_expand("${GM_UNSET_NAME}", out, sizeof out, &err), ERROR_INVALID,
                 "GM_UNSET_NAME is not set", &err);
    assert_fails(text_expand("${GM_UNSET", out, sizeof out, &err), ERROR_INVALID, "without '}'",
                 &err);
}

static void puts_digits_alone(void **state)
{
    char out[TEXT_NUMBER_SIZE + 1];
    (void)state;
    memset(out, 'x', sizeof out);
    assert_int_equal(text_put_number(out, 0), 1);
    assert_memory_equal(out, "0x", 2);
    assert_int_equal(text_put_number(out, 1024), 4);
    assert_memory_equal(out, "1024x", 5);
    assert_int_equal(text_put_number(out, UINT64_MAX), TEXT_NUMBER_SIZE);
    assert_memory_equal(out, "18446744073709551615x", TEXT_NUMBER_SIZE + 1);
}

static void the_first_place_is_replaced_and_what_no_longer_fits_is_cut(void **state)
{
    (void)state;
    char text[12] = "ab.ab";
    assert_true(text_replace(text, sizeof text, "ab", "xyz"));
    assert_string_equal(text, "xyz.ab");
    assert_true(text_replace(text, sizeof text, "xyz", ""));
    assert_string_equal(text, ".ab");
    assert_true(text_replace(text, sizeof text, ".", "0123456789"));
    assert_string_equal(text, "0123456789a");
    assert_true(text_replace(text, sizeof text, "9", "abcdef"));
    assert_string_equal(text, "012345678ab");
    assert_false(text_replace(text, sizeof text, "z", "y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_integers_only),
        cmocka_unit_test(puts_digits_alone),
        cmocka_unit_test(reads_sizes_with_suffixes),
        cmocka_unit_test(names_the_nearest_word),
        cmocka_unit_test(groups_digits_for_people),
        cmocka_unit_test(shortens_fractions_for_people),
        cmocka_unit_test(expands_environment_variables),
        cmocka_unit_test(the_first_place_is_replaced_and_what_no_longer_fits_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
