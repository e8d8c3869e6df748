#include "common/base/memory.h"
#include "common/base/yaml.h"

#include "tests/support/test.h"

#include <stdio.h>

static void entries_have_names_values_and_lines(void **state)
{
    static const char text[] =
        "# a comment\nname: cora\nsample:\n  fanouts: [10, 5]\n  size: \"7\"\n"
        "empty:\ntrain-step: {hidden: 64}\nlist: []\n";
    static const struct yaml_entry expected[] = {
        {"name", "cora", 2}, {"sample.fanouts", "10,5", 4},  {"sample.size", "7", 5},
        {"empty", "", 6},    {"train-step.hidden", "64", 7}, {"list", "", 8},
    };
    struct yaml_file file = {0};
    struct error err = {0};
    (void)state;
    assert_ok(yaml_parse(text, sizeof text - 1, "p.yaml", &file, &err), &err);
    assert_int_equal(file.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < file.count; i++) {
        assert_string_equal(file.entry[i].name, expected[i].name);
        assert_string_equal(file.entry[i].value, expected[i].value);
        assert_int_equal(file.entry[i].line, expected[i].line);
    }
    yaml_file_release(&file);
    assert_ok(yaml_parse("# only a comment\n", 17, "p.yaml", &file, &err), &err);
    assert_int_equal(file.count, 0);
}

static void what_is_not_used_is_refused_by_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: 1\nb: &x 2\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: !!int 2\n", "p.yaml:2: anchors and tags"},
        {"a: &x\n  b: 1\n", "anchors and tags"},
        {"a: 1\nb: &x [1, 2]\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: !t {c: 1}\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: *x\n", "p.yaml:2: aliases"},
        {"a: 1\n---\nb: 2\n", "p.yaml:2: one document"},
        {"a:\n  b:\n    c: 1\n", "p.yaml:3: settings are two levels deep"},
        {"a: 1\nb: [[1]]\n", "p.yaml:2: a list can only be the value of a key"},
        {"a: 1\nb: [{c: 1}]\n", "p.yaml:2: expected a value, found a mapping"},
        {"- 1\n- 2\n", "p.yaml:1: a list can only be"},
        {"just words\n", "p.yaml:1: expected 'key: value' lines"},
        {"? {a: 1}\n: 2\n", "p.yaml:1: expected a value, found a mapping"},
        {"a: 1\nb: 2\na: 3\n", "p.yaml:3: a stands a second time; first on line 1"},
        {"a:\n  b: 1\n  b: 2\n", "p.yaml:3: a.b stands a second time; first on line 2"},
        {"a:\n  b: 1\nc: 1\na:\n  d: 2\n", "p.yaml:5: a stands a second time; see line 2"},
        {"a: 1\na:\n  d: 2\n", "p.yaml:3: a stands a second time; see line 1"},
        {"a: 1\nb: [1, 'x,y']\n", "p.yaml:2: an item of a list is empty or has a comma"},
        {"a: ['', 2]\n", "p.yaml:1: an item of a list is empty"},
        {"a: 1\nb: \"x\\0y\"\n", "p.yaml:2: a NUL character"},
        {"a: 1\nb: [1\n", "p.yaml:3: not valid YAML"},
        {"a: 1\n\tb: 2\n", "p.yaml:2: the line is indented by a tab"},
        {"a:\n  b: 1\n \tc: 2\n", "p.yaml:3: the line is indented by a tab"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yaml_file file = {0};
        struct error err = {0};
        assert_fails(yaml_parse(cases[i].text, strlen(cases[i].text), "p.yaml", &file, &err),
                     ERROR_INVALID, cases[i].message, &err);
        assert_null(file.entry);
    }
}

static void names_and_values_too_long_are_refused(void **state)
{
    static char text[4 * YAML_VALUE_SIZE];
    struct yaml_file file = {0};
    struct error err = {0};
    (void)state;
    (void)snprintf(text, sizeof text, "b: %0*d\n", YAML_VALUE_SIZE, 1);
    assert_fails(yaml_parse(text, strlen(text), "p.yaml", &file, &err), ERROR_INVALID,
                 "p.yaml:1: value of b is longer than 1023 bytes", &err);
    (void)snprintf(text, sizeof text, "b: [%0*d, %0*d]\n", YAML_VALUE_SIZE / 2, 1,
                   YAML_VALUE_SIZE / 2, 1);
    assert_fails(yaml_parse(text, strlen(text), "p.yaml", &file, &err), ERROR_INVALID,
                 "p.yaml:1: the list is too long", &err);
    (void)snprintf(text, sizeof text, "%0*d: 1\n", YAML_NAME_SIZE / 2, 1);
    assert_fails(yaml_parse(text, strlen(text), "p.yaml", &file, &err), ERROR_INVALID,
                 "p.yaml:1: the key is too long", &err);
    (void)snprintf(text, sizeof text, "b: %0*d\n", YAML_VALUE_SIZE - 1, 1);
    assert_ok(yaml_parse(text, strlen(text), "p.yaml", &file, &err), &err);
    yaml_file_release(&file);
}

static void without_memory_nothing_is_left(void **state)
{
    static const char text[] = "a: 1\nb: 2\nc:\n  d: 3\n";
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    (void)state;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct yaml_file file = {0};
        struct error err = {0};
        memory_fail_after(n);
        rc = yaml_parse(text, sizeof text - 1, "p.yaml", &file, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        yaml_file_release(&file);
        assert_int_equal(memory_live_blocks(), live);
        assert_true(n < 10 && (n > 0 || rc != ERROR_NONE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_names_values_and_lines),
        cmocka_unit_test(what_is_not_used_is_refused_by_line),
        cmocka_unit_test(names_and_values_too_long_are_refused),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
