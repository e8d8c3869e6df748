#include "common/formats/text/date_text.h"
#include "common/formats/text/scaled_decimal.h"
#include "common/formats/text/time_text.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct time_format format_of(const char *setting)
{
    struct time_format format;
    assert_null(time_format_read(setting, &format));
    return format;
}

/* Returns the value of a text by a setting. */
static int64_t value_of(const char *setting, const char *text)
{
    const struct time_format format = format_of(setting);
    struct time_fault fault = {0};
    int64_t value = 0;
    if (!time_text_value(&format, text, strlen(text), &value, &fault))
        fail_msg("%s: '%s': expected %s", setting, text, fault.expected);
    return value;
}

/* Asserts that a setting does not accept a text, and that the fault says `expected`. */
static void refuses(const char *setting, const char *text, const char *expected)
{
    const struct time_format format = format_of(setting);
    struct time_fault fault = {0};
    int64_t value = 77;
    assert_false(time_text_value(&format, text, strlen(text), &value, &fault));
    if (!strstr(fault.expected, expected) && !strstr(fault.advice, expected))
        fail_msg("'%s%s' lacks '%s'", fault.expected, fault.advice, expected);
}

static void keeps_integers_beyond_a_double(void **state)
{
    (void)state;
    assert_int_equal(value_of("auto", "1562112000123456789"), 1562112000123456789);
    assert_int_equal(value_of("auto", "1562112000123456790"), 1562112000123456790);
    assert_int_equal(value_of("auto", "-9223372036854775808"), INT64_MIN);
    assert_int_equal(value_of("auto", "9223372036854775807"), INT64_MAX);
    assert_int_equal(value_of("auto", "+7"), 7);
}

static void takes_integers_that_are_written_with_a_point(void **state)
{
    (void)state;
    assert_int_equal(value_of("auto", "978300760.0"), 978300760);
    assert_int_equal(value_of("auto", "1.5620e9"), 1562000000);
    assert_int_equal(value_of("number", "-12e-0"), -12);
    assert_int_equal(value_of("auto", "1200e-2"), 12);
    assert_int_equal(value_of("auto", "0.0e99999999999"), 0);
}

static void refuses_what_would_be_rounded_unless_a_scale_is_given(void **state)
{
    (void)state;
    refuses("auto", "1.5", "time_format: number*1000");
    refuses("auto", "1e-9", "time_format: number*1000");
    refuses("auto", "9223372036854775808", "64 bits");
    refuses("auto", "1e400", "64 bits");
    assert_int_equal(value_of("number*1000", "1.5"), 1500);
    assert_int_equal(value_of("number*1000", "-1.0005"), -1001);
    assert_int_equal(value_of("number*10", "0.30000000000000004"), 3);
    assert_int_equal(value_of("number*1000000000", "1562112000.123456789"), 1562112000123456789);
    refuses("number*1000", "9223372036854776", "64 bits");
    refuses("number*1000", "9223372036854775.8076", "64 bits");
    refuses("number", "nan", "a number");
    refuses("number", "", "a number");
    refuses("number", "1.5.2", "a number");
    refuses("number", "12e", "a number");
    refuses("number", "0x12", "a number");
    refuses("number", ".", "a number");
}

static void reads_dates_of_iso_8601(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds, nanoseconds;
    } dates[] = {
        {"1970-01-01", 0, 0},
        {"2019-01-01", 1546300800, 0},
        {"2019-01-01T12:00:00Z", 1546344000, 0},
        {"2019-01-01 12:00:00.123456+02:00", 1546336800, 123456000},
        {"2019-01-01 12:00:00.123456789-0530", 1546363800, 123456789},
        {"2019-01-01 12:00", 1546344000, 0},
        {"2019-01-01 12:00:00 UTC", 1546344000, 0},
        {"2000-02-29", 951782400, 0},
        {"1969-12-31T23:59:59.5", -1, 500000000},
        {"1900-03-01", -2203891200, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        assert_int_equal(value_of("auto", dates[i].text),
                         dates[i].seconds * 1000000000 + dates[i].nanoseconds);
    assert_int_equal(value_of("auto", "1677-09-21T00:12:43.145224192"), INT64_MIN);
    assert_int_equal(value_of("auto", "2262-04-11T23:47:16.854775807"), INT64_MAX);
}

static void refuses_what_is_no_date(void **state)
{
    static const char *const texts[] = {"2019-02-29",
                                        "2019-13-01",
                                        "2019-1-1",
                                        "2019-01-32",
                                        "2019-01-01T24:00:00",
                                        "2019-01-01x",
                                        "2019-01-01 12:00:00.",
                                        "1900-02-29",
                                        "2019-01-01 12:00:00+2",
                                        "2019-01-01T",
                                        "19-01-01",
                                        "2019-01-01 12:00:00.1234567891",
                                        "31.01.2019",
                                        "noon"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        refuses("iso", texts[i], "ISO 8601");
        refuses("auto", texts[i], "time_format: \"%d.%m.%Y %H:%M\"");
        assert_false(time_text_is_date(texts[i], strlen(texts[i])));
    }
    refuses("auto", "1677-09-21", "iso in seconds");
    refuses("auto", "2262-04-12", "iso in seconds");
    assert_true(time_text_is_date("2262-04-12", 10));
    assert_false(time_text_is_date("20190101", 8));
    assert_false(time_text_is_date("2019", 4));
}

static void stores_dates_in_the_unit_that_is_asked_for(void **state)
{
    (void)state;
    assert_int_equal(value_of("iso in seconds", "0001-01-01"), -62135596800);
    assert_int_equal(value_of("iso in seconds", "9999-12-31"), 253402214400);
    assert_int_equal(value_of("iso in milliseconds", "1969-12-31T23:59:59.750"), -250);
    refuses("iso in milliseconds", "2019-01-01T00:00:00.0001", "finer fraction");
    assert_int_equal(value_of("unix", "1546300800.000000001"), 1546300800000000001);
    assert_int_equal(value_of("unix in seconds", "1546300800"), 1546300800);
    refuses("unix in seconds", "1546300800.5", "finer fraction");
}

static void reads_dates_by_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *text;
        int64_t seconds;
    } dates[] = {
        {"%d.%m.%Y", "1.1.2019", 1546300800},
        {"%d/%b/%Y:%H:%M:%S %z", "01/Jan/2019:12:00:00 +0200", 1546336800},
        {"%a %b %d %H:%M:%S %z %Y", "Tue Jan 01 12:00:00 +0000 2019", 1546344000},
        {"%m/%d/%y %I:%M %p", "01/01/19 12:05 AM", 1546301100},
        {"%m/%d/%y %I:%M %p", "01/01/19 12:05 pm", 1546344300},
        {"%Y%m%d", "20190101", 1546300800},
        {"%Y-%m", "2019-01", 1546300800},
        {"%B %e, %Y", "January  1, 2019", 1546300800},
        {"%F %T", "2019-01-01 00:00:09", 1546300809},
        {"%Y/%j", "2019/032", 1548979200},
        {"%D %R", "12/31/69 00:01", -86340},
        {"%Y%%", "1970%", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        char setting[64];
        (void)snprintf(setting, sizeof setting, "%s in seconds", dates[i].pattern);
        assert_int_equal(value_of(setting, dates[i].text), dates[i].seconds);
        assert_int_equal(value_of(dates[i].pattern, dates[i].text), dates[i].seconds * 1000000000);
    }
    assert_int_equal(value_of("%Y-%m-%d %H:%M:%S.%f", "2019-01-01 00:00:00.25"),
                     1546300800250000000);
    refuses("%d.%m.%Y", "31.02.2019", "ingest.time_format");
    refuses("%d.%m.%Y", "2019-01-01", "ingest.time_format");
    refuses("%Y/%j", "2019/366", "ingest.time_format");
    refuses("%d.%m.%Y", "1.1.2019 ", "ingest.time_format");
}

static void keeps_the_form_of_the_first_value(void **state)
{
    static const struct {
        const char *first, *other, *expected;
    } columns[] = {
        {"1546300800", "2019-01-01", "a number, as the times before it"},
        {"2019-01-01", "1546300800", "a date of ISO 8601, as the times before it"},
        {"2019-01-01", "2019-01-01T00:00:00Z", "a date without a zone"},
        {"2019-01-01T00:00:00Z", "2019-01-01", "a date with a zone"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct time_format format = format_of("auto");
        struct time_fault fault = {0};
        int64_t value = 0;
        time_format_narrow(&format, columns[i].first, strlen(columns[i].first));
        assert_true(
            time_text_value(&format, columns[i].first, strlen(columns[i].first), &value, &fault));
        assert_false(
            time_text_value(&format, columns[i].other, strlen(columns[i].other), &value, &fault));
        assert_non_null(strstr(fault.expected, columns[i].expected));
    }
}

static void says_what_the_integers_mean(void **state)
{
    static const struct {
        const char *setting, *first, *meaning;
    } meanings[] = {
        {"auto", "5", "number"},
        {"auto", "2019-01-01", "nanoseconds since 1970"},
        {"number*1000", "5", "number*1000"},
        {"unix", "5", "nanoseconds since 1970"},
        {"iso in seconds", "2019-01-01Z", "seconds since 1970"},
        {"%Y in milliseconds", "2019", "milliseconds since 1970"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        struct time_format format = format_of(meanings[i].setting);
        char text[32];
        time_format_narrow(&format, meanings[i].first, strlen(meanings[i].first));
        assert_string_equal(time_format_meaning(&format, text), meanings[i].meaning);
        assert_true(time_format_of_meaning(text, &format));
        assert_string_equal(time_format_meaning(&format, text), meanings[i].meaning);
    }
    struct time_format format;
    assert_true(time_format_of_meaning("", &format) && format.kind == TIME_NUMBERS);
    assert_false(time_format_of_meaning("hours since 1970", &format));
    assert_false(time_format_of_meaning("number*7", &format));
}

static void refuses_settings_that_are_none(void **state)
{
    static const char *const settings[] = {"date",         "number*", "number*0",
                                           "number*20",    "numbers", "number*10000000000000000000",
                                           "iso in hours", "%Q",      "%d.%m",
                                           "%Y %",         "%Y %I",   "%Y %p"};
    struct time_format format;
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!time_format_read(settings[i], &format))
            fail_msg("'%s' is taken", settings[i]);
}

static void takes_numbers_of_binary_files(void **state)
{
    const struct time_format plain = format_of("auto"), scaled = format_of("number*100");
    const struct time_format dates = format_of("iso");
    struct time_fault fault = {0};
    int64_t value = 0;
    (void)state;
    assert_true(time_integer_value(&plain, 1562112000123456789, &value, &fault));
    assert_int_equal(value, 1562112000123456789);
    assert_true(time_number_value(&plain, 0x1p60, &value, &fault));
    assert_int_equal(value, INT64_C(1) << 60);
    assert_false(time_number_value(&plain, 0.25, &value, &fault));
    assert_false(time_number_value(&plain, 0x1p63, &value, &fault));
    assert_false(time_number_value(&plain, 0.0 / 0.0, &value, &fault));
    assert_true(time_number_value(&scaled, 0.25, &value, &fault));
    assert_int_equal(value, 25);
    assert_false(time_integer_value(&dates, 2019, &value, &fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_integers_beyond_a_double),
        cmocka_unit_test(takes_integers_that_are_written_with_a_point),
        cmocka_unit_test(refuses_what_would_be_rounded_unless_a_scale_is_given),
        cmocka_unit_test(reads_dates_of_iso_8601),
        cmocka_unit_test(refuses_what_is_no_date),
        cmocka_unit_test(stores_dates_in_the_unit_that_is_asked_for),
        cmocka_unit_test(reads_dates_by_a_pattern),
        cmocka_unit_test(keeps_the_form_of_the_first_value),
        cmocka_unit_test(says_what_the_integers_mean),
        cmocka_unit_test(refuses_settings_that_are_none),
        cmocka_unit_test(takes_numbers_of_binary_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
