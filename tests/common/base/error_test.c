#include "common/base/error.h"

#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sysexits.h>

static void context_stands_before_the_cause(void **state)
{
    struct error err = {0};
    (void)state;
    assert_int_equal(error_set(&err, ERROR_CORRUPT, "hash is %d", 7), ERROR_CORRUPT);
    assert_int_equal(error_context(&err, ERROR_CORRUPT, "part %d", 3), ERROR_CORRUPT);
    assert_int_equal(error_context(&err, ERROR_CORRUPT, "run %s", "x"), ERROR_CORRUPT);
    assert_string_equal(err.message, "run x: part 3: hash is 7");
    assert_int_equal(err.code, ERROR_CORRUPT);
    assert_non_null(strstr(err.file, "error_test.c"));
    assert_true(err.line > 0);
}

static void the_reason_of_errno_stands_behind(void **state)
{
    struct error err = {0};
    (void)state;
    errno = ENOENT;
    assert_int_equal(error_set_errno(&err, ERROR_NOT_FOUND, "%s", "file"), ERROR_NOT_FOUND);
    assert_string_equal(err.message, "file: No such file or directory");
}

static void a_caller_may_want_the_code_alone(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, ERROR_BUSY, "x"), ERROR_BUSY);
    assert_int_equal(error_set_errno(NULL, ERROR_IO, "x"), ERROR_IO);
    assert_int_equal(error_context(NULL, ERROR_IO, "x"), ERROR_IO);
}

/* What returns an error through error_context() may judge it anew; what reads err->code must see that. */
static void context_sets_the_code_and_passes_success(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(error_set(&err, ERROR_NOT_FOUND, "cause"), ERROR_NOT_FOUND);
    assert_int_equal(error_context(&err, ERROR_CORRUPT, "where"), ERROR_CORRUPT);
    assert_int_equal(err.code, ERROR_CORRUPT);
    assert_string_equal(err.message, "where: cause");
    assert_int_equal(error_context(&err, ERROR_NONE, "again"), ERROR_NONE);
    assert_string_equal(err.message, "where: cause");
}

static void long_messages_are_cut_and_end(void **state)
{
    static char words[2000];
    struct error err = {0};
    (void)state;
    memset(words, 'a', sizeof words - 1);
    errno = EIO;
    (void)error_set_errno(&err, ERROR_IO, "%s", words);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_set(&err, ERROR_IO, "the cause");
    (void)error_context(&err, ERROR_IO, "%.700s", words);
    assert_non_null(strstr(err.message, "a: the cause"));
    (void)error_context(&err, ERROR_IO, "%.700s", words);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_context(&err, ERROR_IO, "%s", words);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void each_code_has_its_exit_status(void **state)
{
    static const int expected[][2] = {
        {ERROR_NONE, 0},
        {ERROR_NOT_FOUND, EX_DATAERR},
        {ERROR_BUSY, EX_TEMPFAIL},
        {ERROR_UNAVAILABLE, 75},
        {ERROR_CORRUPT, 65},
        {ERROR_INPUT, 65},
        {ERROR_INVALID, 78},
        {ERROR_USAGE, 64},
        {ERROR_NO_MEMORY, 71},
        {ERROR_IO, 74},
        {-1, 70},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const enum error_code code = (enum error_code)expected[i][0];
        assert_int_equal(error_exit_status(code), expected[i][1]);
        assert_int_equal(error_is_retryable(code), expected[i][1] == EX_TEMPFAIL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_stands_before_the_cause),
        cmocka_unit_test(the_reason_of_errno_stands_behind),
        cmocka_unit_test(a_caller_may_want_the_code_alone),
        cmocka_unit_test(context_sets_the_code_and_passes_success),
        cmocka_unit_test(long_messages_are_cut_and_end),
        cmocka_unit_test(each_code_has_its_exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
