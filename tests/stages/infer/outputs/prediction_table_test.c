#include "common/base/memory.h"
#include "stages/infer/outputs/prediction_table.h"
#include "store/records/dataset/node_ids.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Appends one line to existing text, and checks it. */
static void expect_line(const struct node_ids *ids, enum task_kind task, uint32_t node,
                        const float *logit, const void *label, const char *expected)
{
    struct error err = {0};
    const struct prediction_table table = {.task = task_of(task), .class_count = 3, .ids = ids};
    struct prediction_lines lines = {0};
    assert_ok(prediction_lines_add_id(&lines, &table, node, &err), &err);
    const size_t before = lines.size;
    assert_ok(prediction_lines_add(&lines, &table, node, "test", logit, label, &err), &err);
    assert_int_equal(lines.size - before, strlen(expected));
    assert_memory_equal(lines.text + before, expected, strlen(expected));
    assert_int_equal(lines.text[before - 1], '\n');
    assert_memory_equal(lines.text, expected, before - 1); /* the id only */
    prediction_lines_release(&lines);
}

static void a_line_has_class_and_probability(void **state)
{
    static const float logit[] = {1, 3, 1};
    static const int32_t label[] = {2}, none[] = {-1};
    static const struct node_ids consecutive = {0};
    (void)state;
    expect_line(&consecutive, TASK_SINGLE_LABEL, 4294967000U, logit, label,
                "4294967000,test,2,1,0.786986\n");
    expect_line(&consecutive, TASK_SINGLE_LABEL, 0, logit, none, "0,test,,1,0.786986\n");
}

static void the_first_of_equal_classes_is_taken(void **state)
{
    static const float logit[] = {-2, 500, 500};
    static const int32_t label[] = {0};
    (void)state;
    expect_line(&(struct node_ids){0}, TASK_SINGLE_LABEL, 7, logit, label, "7,test,0,1,0.500000\n");
}

static void several_labels_are_numbers_with_spaces(void **state)
{
    static const float logit[] = {0.5F, -1, 2}, label[] = {0, 1, 1}, none[] = {NAN, NAN, NAN};
    static const float nothing[] = {-1, -1, -1};
    (void)state;
    expect_line(&(struct node_ids){0}, TASK_MULTI_LABEL, 7, logit, label, "7,test,1 2,0 2,\n");
    expect_line(&(struct node_ids){0}, TASK_MULTI_LABEL, 7, nothing, none, "7,test,,,\n");
}

static void ids_stand_as_in_the_input(void **state)
{
    static const int64_t integer[] = {INT64_MIN, INT64_MAX};
    static const uint64_t offset[] = {0, 5, 8, 11, 15};
    static const struct node_ids text = {.offset = offset, .text = "plaina,ba\"ba\r\nb"};
    static const struct node_ids number = {.integer = integer};
    static const float logit[] = {9, 0, 0};
    static const int32_t label[] = {-1};
    static const char *const expected[] = {"plain", "\"a,b\"", "\"a\"\"b\"", "\"a\r\nb\""};
    (void)state;
    for (uint32_t node = 0; node < 4; node++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s,test,,0,0.999753\n", expected[node]);
        expect_line(&text, TASK_SINGLE_LABEL, node, logit, label, line);
    }
    expect_line(&number, TASK_SINGLE_LABEL, 0, logit, label,
                "-9223372036854775808,test,,0,0.999753\n");
    expect_line(&number, TASK_SINGLE_LABEL, 1, logit, label,
                "9223372036854775807,test,,0,0.999753\n");
}

static void probabilities_have_six_digits(void **state)
{
    static const float sure[] = {200, 0, 0}, equal[] = {0, 0, 0}, nearly[] = {13.5F, 0, 0};
    static const float no_number[] = {NAN, 0, 0};
    static const int32_t label[] = {0};
    static const struct node_ids ids = {0};
    (void)state;
    expect_line(&ids, TASK_SINGLE_LABEL, 10, sure, label, "10,test,0,0,1.000000\n");
    expect_line(&ids, TASK_SINGLE_LABEL, 10, equal, label, "10,test,0,0,0.333333\n");
    expect_line(&ids, TASK_SINGLE_LABEL, 10, nearly, label, "10,test,0,0,0.999997\n");
    expect_line(&ids, TASK_SINGLE_LABEL, 10, no_number, label, "10,test,0,0,nan\n");
}

static void without_memory_nothing_is_lost(void **state)
{
    static const float logit[] = {9, 0, 0};
    static const int32_t label[] = {-1};
    static const struct node_ids ids = {0};
    const struct prediction_table table = {
        .task = &task_single_label, .class_count = 3, .ids = &ids};
    struct error err = {0};
    struct prediction_lines lines = {0};
    (void)state;
    memory_fail_after(0);
    assert_fails(prediction_lines_add(&lines, &table, 7, "", logit, label, &err), ERROR_NO_MEMORY,
                 "lines of predictions", &err);
    memory_fail_after(-1);
    assert_int_equal(lines.size, 0);
    assert_ok(prediction_lines_add(&lines, &table, 7, "", logit, label, &err), &err);
    prediction_lines_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_class_and_probability),
        cmocka_unit_test(the_first_of_equal_classes_is_taken),
        cmocka_unit_test(several_labels_are_numbers_with_spaces),
        cmocka_unit_test(ids_stand_as_in_the_input),
        cmocka_unit_test(probabilities_have_six_digits),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
