#include "common/base/memory.h"
#include "stages/infer/prediction_table.h"
#include "store/records/node_ids.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <math.h>

static const char header[] = "node,split,label,prediction,probability\n";

/* The table of one line, without its header. */
static void expect_line(const struct node_ids *ids, enum task_kind task, uint32_t node,
                        const float *logit, const void *label, const char *expected)
{
    struct error err = {0};
    struct temp_dir dir;
    struct prediction_table table = {0};
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/predictions.csv", dir.path), &err);
    assert_ok(prediction_table_open(&table, path, task, 3, ids, &err), &err);
    assert_ok(prediction_table_add(&table, node, "test", logit, label, &err), &err);
    assert_ok(prediction_table_finish(&table, &err), &err);
    prediction_table_close(&table);
    assert_ok(file_read(path, 0, &text, &size, &err), &err);
    assert_memory_equal(text, header, sizeof header - 1);
    assert_string_equal(text + sizeof header - 1, expected);
    memory_free(text);
    temp_dir_remove(&dir);
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

static void a_table_that_cannot_be_written_is_said(void **state)
{
    static const float logit[] = {9, 0, 0};
    static const int32_t label[] = {-1};
    struct error err = {0};
    struct prediction_table table = {0};
    const struct node_ids ids = {0};
    (void)state;
    assert_fails(prediction_table_open(&table, "/nowhere/p.csv", TASK_SINGLE_LABEL, 3, &ids, &err),
                 ERROR_IO, "/nowhere/p.csv cannot be created", &err);
    table = (struct prediction_table){.task = TASK_SINGLE_LABEL, .class_count = 3, .ids = &ids};
    table.file = fopen("/dev/full", "we");
    if (!table.file)
        skip();
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < 10000; node++)
        rc = prediction_table_add(&table, node, "", logit, label, &err);
    assert_failed(rc, ERROR_NO_SPACE, "cannot be written: No space left", &err);
    errno = 0; /* whatever the writer called since */
    assert_fails(prediction_table_finish(&table, &err), ERROR_NO_SPACE, "cannot be written", &err);
    prediction_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_class_and_probability),
        cmocka_unit_test(the_first_of_equal_classes_is_taken),
        cmocka_unit_test(several_labels_are_numbers_with_spaces),
        cmocka_unit_test(ids_stand_as_in_the_input),
        cmocka_unit_test(a_table_that_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
