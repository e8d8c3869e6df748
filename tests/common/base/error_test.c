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

/* A caller may change the code in error_context(), so err->code must have the new code. */
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

static void advice_is_a_part_of_the_message_that_is_known(void **state)
{
    (void)state;
    struct error err = {0};
    assert_string_equal(error_advice(&err), "");
    assert_string_equal(error_advice(NULL), "");
    (void)error_set(&err, ERROR_INPUT, "%s:%d: found '%s': " ADVICE "write %d", "f.csv", 3, "x", 7);
    assert_string_equal(err.message, "f.csv:3: found 'x': write 7");
    assert_string_equal(error_advice(&err), "write 7");
    (void)error_context(&err, ERROR_INPUT, "ingest of %s", "g");
    assert_string_equal(err.message, "ingest of g: f.csv:3: found 'x': write 7");
    assert_string_equal(error_advice(&err), "write 7");
    (void)error_set(&err, ERROR_INPUT, "something else");
    assert_string_equal(error_advice(&err), "");
}

/* No text of the user counts as advice, neither words nor a byte. */
static void advice_is_what_the_code_says_and_no_word_of_a_message(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "no: write it, or remove %s", "it: give more");
    assert_string_equal(error_advice(&err), "");
    (void)error_set(&err, ERROR_INPUT, "found '%s'", "a\001b");
    assert_string_equal(err.message, "found 'a\001b'");
    assert_string_equal(error_advice(&err), "");
    (void)error_set(&err, ERROR_INPUT, "found '%s': " ADVICE "sort them", "a\001b");
    assert_string_equal(err.message, "found 'a\001b': sort them");
    assert_string_equal(error_advice(&err), "sort them");
}

static void text_is_added_behind_and_the_first_advice_stays(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "%s", "the cause");
    assert_int_equal(error_add(&err, ERROR_INPUT, "; in line %d", 4), ERROR_INPUT);
    assert_string_equal(err.message, "the cause; in line 4");
    assert_string_equal(error_advice(&err), "");
    assert_int_equal(error_add(&err, ERROR_CORRUPT, ": " ADVICE "copy %s again", "it"),
                     ERROR_CORRUPT);
    assert_int_equal(err.code, ERROR_CORRUPT);
    assert_string_equal(error_advice(&err), "copy it again");
    (void)error_add(&err, ERROR_INPUT, ", " ADVICE "or not");
    assert_string_equal(err.message, "the cause; in line 4: copy it again, or not");
    assert_string_equal(error_advice(&err), "copy it again, or not");
    assert_int_equal(error_add(&err, ERROR_NONE, "never"), ERROR_NONE);
    assert_int_equal(error_add(NULL, ERROR_IO, "never"), ERROR_IO);
    assert_string_equal(error_advice(&err), "copy it again, or not");
}

static void advice_that_is_cut_off_is_none(void **state)
{
    (void)state;
    static char words[2000];
    struct error err = {0};
    memset(words, 'a', sizeof words - 1);
    (void)error_set(&err, ERROR_INPUT, "found: " ADVICE "write");
    (void)error_context(&err, ERROR_INPUT, "%.700s", words);
    assert_string_equal(error_advice(&err), "write");
    (void)error_context(&err, ERROR_INPUT, "%.700s", words);
    assert_string_equal(error_advice(&err), "");
    (void)error_set(&err, ERROR_INPUT, "%s: " ADVICE "write", words);
    assert_string_equal(error_advice(&err), "");
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_add(&err, ERROR_INPUT, ": " ADVICE "more");
    assert_string_equal(error_advice(&err), "");
}

static void a_copy_is_called_as_the_user_calls_the_file(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "/tmp/x/a.csv:1: wrong: " ADVICE "write /tmp/x/b.csv");
    assert_true(error_rename(&err, "/tmp/x/", "s3://bucket/long/"));
    assert_string_equal(err.message, "s3://bucket/long/a.csv:1: wrong: write /tmp/x/b.csv");
    assert_string_equal(error_advice(&err), "write /tmp/x/b.csv");
    assert_true(error_rename(&err, "/tmp/x/", ""));
    assert_string_equal(error_advice(&err), "write b.csv");
    assert_false(error_rename(&err, "/tmp/x/", ""));
    assert_false(error_rename(NULL, "/tmp/x/", ""));
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
        cmocka_unit_test(advice_is_a_part_of_the_message_that_is_known),
        cmocka_unit_test(advice_is_what_the_code_says_and_no_word_of_a_message),
        cmocka_unit_test(text_is_added_behind_and_the_first_advice_stays),
        cmocka_unit_test(advice_that_is_cut_off_is_none),
        cmocka_unit_test(a_copy_is_called_as_the_user_calls_the_file),
        cmocka_unit_test(each_code_has_its_exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
