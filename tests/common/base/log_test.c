#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

/* What `tell` writes to stderr; memory_free() it. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_program_and_message),
        cmocka_unit_test(each_level_lets_through_those_above),
        cmocka_unit_test(a_long_line_is_cut_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
