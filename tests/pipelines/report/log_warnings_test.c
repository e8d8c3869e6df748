#include "pipelines/report/log_warnings.h"

#include "tests/support/test.h"

static void counts_warnings_and_errors_and_keeps_the_first(void **state)
{
    (void)state;
    static const char text[] = "2026-01-01T00:00:00.000Z info graphmill-sample memory: 1 GiB\n"
                               "2026-01-01T00:00:01.000Z warn graphmill-sample Redis is away\n"
                               "\n"
                               "2026-01-01T00:00:02.000Z error graphmill-sample disk full\n"
                               "a line of a library that warns of nothing\n"
                               "2026-01-01T00:00:03.000Z warn graphmill-sample cut";
    static struct log_warnings warnings;
    warnings = (struct log_warnings){0};
    log_warnings_add(&warnings, text, sizeof text - 1);
    assert_int_equal(warnings.warnings, 2);
    assert_int_equal(warnings.errors, 1);
    assert_int_equal(warnings.line_count, 3);
    assert_string_equal(warnings.line[0], "warn graphmill-sample Redis is away");
    assert_string_equal(warnings.line[2], "warn graphmill-sample cut");
}

static void a_flood_is_counted_and_not_kept(void **state)
{
    (void)state;
    static struct log_warnings warnings;
    static const char line[] = "2026-01-01T00:00:00.000Z warn p x\n";
    enum { SIZE = sizeof line - 1 };
    static char text[LOG_WARNINGS_KEPT * 4 * SIZE];
    warnings = (struct log_warnings){0};
    for (size_t i = 0; i < sizeof text; i += SIZE)
        memcpy(text + i, line, SIZE);
    for (int file = 0; file < 8; file++)
        log_warnings_add(&warnings, text, sizeof text);
    assert_int_equal(warnings.warnings, LOG_WARNINGS_KEPT * 4 * 8);
    assert_int_equal(warnings.line_count, LOG_WARNINGS_KEPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_warnings_and_errors_and_keeps_the_first),
        cmocka_unit_test(a_flood_is_counted_and_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
