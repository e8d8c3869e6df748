#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/files/file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

/* Returns the text that `tell` writes to stderr; free with memory_free(). */
static char *written(void (*tell)(void))
{
    struct temp_dir dir;
    struct error err = {0};
    char *text = NULL;
    size_t size = 0;
    temp_dir_make(&dir);
    const char *path = temp_dir_write(&dir, "stderr", "", 0);
    const int usual = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(usual >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    tell();
    assert_true(dup2(usual, STDERR_FILENO) >= 0);
    (void)close(usual);
    (void)close(fd);
    assert_ok(file_read(path, 0, &text, &size, &err), &err);
    temp_dir_remove(&dir);
    return text;
}

static void tell_all_levels(void)
{
    log_error("one %d", 1);
    log_warn("two\nlines");
    log_info("three");
    log_debug("four");
}

static void a_line_has_time_level_program_and_message(void **state)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    const size_t used = sizeof shape - 1;
    (void)state;
    log_open("graphmill-test", LOG_LEVEL_WARN);
    char *text = written(tell_all_levels);
    for (size_t i = 0; i < used; i++)
        assert_true(shape[i] == 'd' ? isdigit((unsigned char)text[i]) : text[i] == shape[i]);
    assert_memory_equal(text, "20", 2);
    const char *second = strchr(text, '\n') + 1;
    assert_memory_equal(text + used, " error graphmill-test one 1\n", 28);
    assert_string_equal(second + used, " warn graphmill-test two lines\n");
    memory_free(text);
}

static void each_level_lets_through_those_above(void **state)
{
    (void)state;
    for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
        int lines = 0;
        log_open("p", (enum log_level)level);
        char *text = written(tell_all_levels);
        for (const char *c = text; *c; c++)
            lines += *c == '\n';
        assert_int_equal(lines, level);
        memory_free(text);
    }
}

static void tell_much(void)
{
    log_error("%05000d", 1);
}

static void a_long_line_is_cut_and_ends(void **state)
{
    (void)state;
    char *text = written(tell_much);
    assert_int_equal(strlen(text), 2047);
    assert_int_equal(text[2046], '\n');
    memory_free(text);
}

static void tell_all_kinds(void)
{
    static const struct error err = {.message = "no [unit] is left", .file = "a.c", .line = 12};
    log_error("one");
    log_warn("input of two");
    log_info("input is unchanged");
    log_info("progress is slow");
    log_debug("four");
    log_progress("%d M edges", 3);
    log_input("f.csv: %s", "commas");
    log_failure(&err, false);
    log_failure(&err, true);
    log_error("an error in [b]");
}

/* The kind of a line is read from its column, whatever words its message begins with. */
static void what_is_written_is_read_back(void **state)
{
    static const struct {
        enum log_kind kind;
        const char *text;
    } expected[] = {{LOG_IS_ERROR, "one"},
                    {LOG_IS_WARN, "input of two"},
                    {LOG_IS_INFO, "input is unchanged"},
                    {LOG_IS_INFO, "progress is slow"},
                    {LOG_IS_DEBUG, "four"},
                    {LOG_IS_PROGRESS, "3 M edges"},
                    {LOG_IS_INPUT, "f.csv: commas"},
                    {LOG_IS_ERROR, "no [unit] is left"},
                    {LOG_IS_ERROR, "no [unit] is left"},
                    {LOG_IS_ERROR, "an error in [b]"}};
    (void)state;
    log_open("graphmill-test", LOG_LEVEL_DEBUG);
    char *text = written(tell_all_kinds);
    assert_non_null(strstr(text, "no [unit] is left [a.c:12]\n"));
    const char *line = text;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct log_line read;
        assert_true(log_line_read(line, strcspn(line, "\n"), &read));
        assert_int_equal(read.kind, expected[i].kind);
        assert_int_equal(read.size, strlen(expected[i].text));
        assert_memory_equal(read.text, expected[i].text, read.size);
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, "");
    memory_free(text);
}

static void other_lines_are_no_lines_of_a_log(void **state)
{
    static const char *const others[] = {
        "",
        "a line of a library with an error in it",
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z ",
        "2026-01-01T00:00:00.000Z warn",
        "2026-01-01T00:00:00.000Z warn program",
        "2026-01-01T00:00:00.000Z warning program text",
        "2026-01-01T00:00:00.000Z in program text",
    };
    struct log_line read;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(log_line_read(others[i], strlen(others[i]), &read));
    assert_true(log_line_read("2026-01-01T00:00:00.000Z warn p ", 32, &read));
    assert_int_equal(read.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_program_and_message),
        cmocka_unit_test(each_level_lets_through_those_above),
        cmocka_unit_test(a_long_line_is_cut_and_ends),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(other_lines_are_no_lines_of_a_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
