#include "common/base/host.h"
#include "common/base/options.h"

#include "tests/support/test.h"

struct values {
    const char *path;
    int64_t threads;
    int64_t workers;
    uint64_t memory;
    bool quiet;
    struct option_list set;
};

#define AT(field) offsetof(struct values, field)

static const struct option_spec specs[] = {
    {"path", OPTION_TEXT, AT(path), "here", 0, 0, "FILE", "a file"},
    {"threads", OPTION_INT, AT(threads), "2", 1, 64, "N", "threads"},
    {"workers", OPTION_INT_OR_AUTO, AT(workers), "3", 1, 64, "N", "workers"},
    {"memory", OPTION_BYTES, AT(memory), NULL, 0, 0, "BYTES", "memory"},
    {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, NULL, "say less"},
    {"set", OPTION_LIST, AT(set), NULL, 0, 0, "KEY=VALUE", "a setting"},
    {.name = NULL},
};

enum { ARGUMENTS_MAX = 80 };

static enum error_code parse(const char *const *words, struct values *values,
                             struct option_list *rest, struct error *err)
{
    static char text[ARGUMENTS_MAX][64];
    char *argv[ARGUMENTS_MAX + 1] = {0};
    int argc = 0;
    (void)strcpy(text[argc], "program"); // NOLINT: fits
    for (argv[argc] = text[0], argc = 1; words[argc - 1]; argc++) {
        (void)strcpy(text[argc], words[argc - 1]); // NOLINT: fits
        argv[argc] = text[argc];
    }
    *values = (struct values){0};
    *rest = (struct option_list){0};
    return options_parse(specs, argc, argv, values, rest, err);
}

static void a_share_of_the_memory_is_that_of_this_machine(void **state)
{
    static const char *const most[] = {"--memory", "75%", NULL};
    struct values values;
    struct option_list rest;
    struct error err = {0};
    (void)state;
    assert_ok(parse(most, &values, &rest, &err), &err);
    assert_true(values.memory == host_memory_bytes() / 100 * 75);
}

static void a_number_may_be_left_to_the_program(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const left[] = {"--workers", "auto", NULL};
    static const char *const zero[] = {"--workers", "0", NULL};
    struct values values;
    struct option_list rest;
    struct error err = {0};
    (void)state;
    assert_ok(parse(none, &values, &rest, &err), &err);
    assert_int_equal(values.workers, 3);
    assert_ok(parse(left, &values, &rest, &err), &err);
    assert_int_equal(values.workers, 0);
    assert_int_equal(parse(zero, &values, &rest, &err), ERROR_USAGE);
    assert_string_equal(err.message,
                        "--workers is '0', expected a whole number from 1 to 64, or auto");
}

static void defaults_hold_until_something_is_given(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const some[] = {"--threads", "8",   "one",      "--memory=1.5G", "--quiet",
                                       "--set",     "a=1", "--set=b=", "two",           NULL};
    struct values values;
    struct option_list rest;
    struct error err = {0};
    (void)state;
    assert_ok(parse(none, &values, &rest, &err), &err);
    assert_string_equal(values.path, "here");
    assert_int_equal(values.threads, 2);
    assert_int_equal(values.memory, 0);
    assert_false(values.quiet);
    assert_int_equal(rest.count, 0);
    assert_ok(parse(some, &values, &rest, &err), &err);
    assert_int_equal(values.threads, 8);
    assert_int_equal(values.memory, 3ULL << 29);
    assert_true(values.quiet);
    assert_int_equal(values.set.count, 2);
    assert_string_equal(values.set.item[0], "a=1");
    assert_string_equal(values.set.item[1], "b=");
    assert_int_equal(rest.count, 2);
    assert_string_equal(rest.item[0], "one");
    assert_string_equal(rest.item[1], "two");
}

static void behind_two_dashes_all_are_arguments(void **state)
{
    static const char *const words[] = {"--quiet", "--", "--path", "x", "--", "--unknown", NULL};
    struct values values;
    struct option_list rest;
    struct error err = {0};
    (void)state;
    assert_ok(parse(words, &values, &rest, &err), &err);
    assert_true(values.quiet);
    assert_string_equal(values.path, "here");
    assert_int_equal(rest.count, 4);
    for (int i = 0; i < rest.count; i++)
        assert_string_equal(rest.item[i], words[i + 2]);
}

static void wrong_words_are_named(void **state)
{
    static const struct {
        const char *words[4], *message;
    } cases[] = {
        {{"--thread-count", "3"}, "unknown option '--thread-count'"},
        {{"--memroy=3"}, "unknown option '--memroy'; did you mean '--memory'?"},
        {{"--zzzzzzzzzz"}, "unknown option '--zzzzzzzzzz'; see --help"},
        {{"-x"}, "unknown option '-x'"},
        {{"--quiet=yes"}, "--quiet takes no value, found '--quiet=yes'"},
        {{"word", "--threads"}, "--threads needs a value"},
        {{"--threads", "0"}, "--threads is '0', expected a whole number from 1 to 64"},
        {{"--threads", "12x"}, "--threads is '12x', expected"},
        {{"--memory", "lots"}, "--memory is 'lots', expected a size such as 512M or 2G"},
        {{"--memory", "0%"}, "--memory is '0%', expected a size such as 512M or 2G, or a share"},
        {{"--memory", "101%"}, "--memory is '101%', expected"},
        {{"--memory", "%"}, "--memory is '%', expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct values values;
        struct option_list rest;
        struct error err = {0};
        assert_fails(parse(cases[i].words, &values, &rest, &err), ERROR_USAGE, cases[i].message,
                     &err);
    }
}

static void more_than_a_list_holds_is_refused(void **state)
{
    const char *words[OPTION_LIST_MAX + 2] = {0};
    struct values values;
    struct option_list rest;
    struct error err = {0};
    (void)state;
    for (int i = 0; i <= OPTION_LIST_MAX; i++)
        words[i] = "--set=a=1";
    assert_fails(parse(words, &values, &rest, &err), ERROR_USAGE,
                 "--set is given more than 64 times", &err);
    for (int i = 0; i <= OPTION_LIST_MAX; i++)
        words[i] = "word";
    assert_fails(parse(words, &values, &rest, &err), ERROR_USAGE, "more than 64 arguments", &err);
}

static void help_is_wanted_before_two_dashes_only(void **state)
{
    char program[] = "p", help[] = "--help", short_help[] = "-h", dashes[] = "--";
    char *first[] = {program, help}, *second[] = {program, short_help},
         *behind[] = {program, dashes, help};
    (void)state;
    assert_true(options_want_help(2, first));
    assert_true(options_want_help(2, second));
    assert_false(options_want_help(3, behind));
    assert_false(options_want_help(1, first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_of_the_memory_is_that_of_this_machine),
        cmocka_unit_test(a_number_may_be_left_to_the_program),
        cmocka_unit_test(defaults_hold_until_something_is_given),
        cmocka_unit_test(behind_two_dashes_all_are_arguments),
        cmocka_unit_test(wrong_words_are_named),
        cmocka_unit_test(more_than_a_list_holds_is_refused),
        cmocka_unit_test(help_is_wanted_before_two_dashes_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
