/* input_facts_test - checks what graphmill init finds out about an input that is no table. */
#include "pipelines/draft/input_facts.h"
#include "stages/plan/settings/dataset_format.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static void sees_what_lies_in_a_folder(void **state)
{
    struct input_facts facts;
    struct temp_dir dir;
    struct error err = {0};
    (void)state;
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "node.dat", "", 0);
    (void)temp_dir_write(&dir, "label.dat", "", 0);
    assert_ok(input_facts_find(dir.path, &facts, &err), &err);
    assert_string_equal(facts.format_name, "hgb");
    assert_non_null(strstr(facts.seen, "has node.dat, so it is read as hgb"));
    assert_true(facts.names_types && !facts.is_table && facts.targets == TARGETS_NODES);
    temp_dir_remove(&dir);
}

static void a_file_that_nothing_else_reads_is_a_table(void **state)
{
    struct input_facts facts;
    struct temp_dir dir;
    struct error err = {0};
    (void)state;
    temp_dir_make(&dir);
    assert_ok(input_facts_find(temp_dir_write(&dir, "e.csv", "a,b\nb,c\n", 8), &facts, &err), &err);
    assert_true(facts.is_table);
    temp_dir_remove(&dir);
}

static void a_format_that_init_does_not_look_into_is_refused(void **state)
{
    struct input_facts facts = {.path = "somewhere"};
    struct error err = {0};
    (void)state;
    assert_fails(input_facts_look(dataset_format_find("generated"), &facts, &err), ERROR_INPUT,
                 "somewhere: graphmill init does not look into this format: write a pipeline file "
                 "with `format: generated` below `ingest:`",
                 &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_lies_in_a_folder),
        cmocka_unit_test(a_file_that_nothing_else_reads_is_a_table),
        cmocka_unit_test(a_format_that_init_does_not_look_into_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
