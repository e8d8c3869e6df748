/* Tests the reader of the TU Dortmund collection: what it pushes, and its messages about wrong
 * files. */
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/plan/settings/dataset_format.h"

#include "tests/stages/ingest/formats/reader_folder.h"
#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/test.h"

extern const struct input_format tu_format;

/* Writes two graphs: a path of three nodes and an edge of two. */
static void put_graphs(void)
{
    put("X_A.txt", "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n");
    put("X_graph_indicator.txt", "1\n1\n1\n2\n2\n");
    put("X_graph_labels.txt", "7\n-1\n");
}

static enum error_code run(enum task_kind task, const char *split, struct error *err)
{
    static struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s", dir.path);
    (void)snprintf(settings.ingest.split, sizeof settings.ingest.split, "%s", split);
    settings.ingest.format = dataset_format_find("tu");
    settings.ingest.task = task;
    return tu_format.run(&settings, 0, recording_start(), err);
}

static void reads_graphs_edges_and_classes(void **state)
{
    static const int64_t source[] = {0, 1, 1, 2, 3, 4}, target[] = {1, 0, 2, 1, 4, 3};
    struct error err = {0};
    (void)state;
    put_graphs();
    put("train.csv", "2\n");
    assert_ok(run(TASK_GRAPH_CLASSIFICATION, "given", &err), &err);
    assert_int_equal(recorded.node_count, 5);
    assert_int_equal(recorded.stated, STATED_ONCE_IS_BOTH);
    assert_int_equal(recorded.graph_count, 2);
    assert_true(recorded.first_graph == 1 && recorded.first_graph_id == 1);
    assert_non_null(strstr(recorded.graph_where, "X_graph_indicator.txt:1"));
    assert_int_equal(recorded.edge_count, 6);
    assert_memory_equal(recorded.source, source, sizeof source);
    assert_memory_equal(recorded.target, target, sizeof target);
    assert_int_equal(recorded.line[5], 6);
    assert_int_equal(recorded.label_count, 2);
    /* the classes of -1 and 7, ascending */
    assert_true(recorded.label[0] == 1 && recorded.label[1] == 0);
    assert_true(recorded.split_count[SPLIT_TRAIN] == 1 && recorded.split_first[SPLIT_TRAIN] == 2);
    assert_int_equal(recorded.feature_rows, 0);
    assert_ok(run(TASK_GRAPH_CLASSIFICATION, "random 50/25/25", &err), &err);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 0);
}

static void features_are_attributes_and_columns_of_labels(void **state)
{
    struct error err = {0};
    (void)state;
    put_graphs();
    put("X_node_labels.txt", "3\n5\n3\n4\n5\n");
    assert_ok(run(TASK_GRAPH_CLASSIFICATION, "given", &err), &err);
    assert_true(recorded.feature_rows == 5 && recorded.dim == 3);
    assert_true(fabs(recorded.feature_sum - 5) < 1e-12);
    assert_true(fabs((double)recorded.first_row_first - 1) < 1e-12);
    put("X_node_attributes.txt", "0.5, 2\n0, 1\n-1, 0\n0, 0\n8, 1\n");
    assert_ok(run(TASK_GRAPH_CLASSIFICATION, "given", &err), &err);
    assert_true(recorded.feature_rows == 5 && recorded.dim == 5);
    assert_true(fabs(recorded.feature_sum - 16.5) < 1e-12);
    assert_true(fabs((double)recorded.last_row_first - 8) < 1e-12);
}

static void numbers_of_graphs_are_their_attributes(void **state)
{
    struct error err = {0};
    (void)state;
    put_graphs();
    assert_ok(run(TASK_GRAPH_REGRESSION, "given", &err), &err);
    assert_int_equal(recorded.label_count, 2);
    put("X_graph_attributes.txt", "0.5\nno\n");
    assert_fails(run(TASK_GRAPH_REGRESSION, "given", &err), ERROR_INPUT,
                 "X_graph_attributes.txt:2: label in column 1: expected a number", &err);
}

static void refuse(const char *file, const char *text, enum error_code code, const char *message)
{
    struct error err = {0};
    put_graphs();
    put("X_node_labels.txt", "3\n5\n3\n4\n5\n");
    put("X_node_attributes.txt", "1\n2\n3\n4\n5\n");
    put(file, text);
    assert_fails(run(TASK_GRAPH_CLASSIFICATION, "random 50/25/25", &err), code, message, &err);
}

static void what_is_wrong_is_named_with_file_and_line(void **state)
{
    (void)state;
    refuse("X_A.txt", "1, 2\n2, 6\n", ERROR_INPUT,
           "X_A.txt:2: expected a node from 1 to 5, found '6'");
    refuse("X_A.txt", "0, 2\n", ERROR_INPUT, "X_A.txt:1: expected a node from 1 to 5, found '0'");
    refuse("X_A.txt", "1, 2\n3\n", ERROR_INPUT, "X_A.txt:2: expected 'node, node', found '3'");
    refuse("X_A.txt", "1, 2\n\n2, 1\n", ERROR_INPUT, "X_A.txt:2: expected 'node, node', found ''");
    refuse("X_graph_indicator.txt", "1\nx\n", ERROR_INPUT,
           "X_graph_indicator.txt:2: expected one integer, found 'x'");
    refuse("X_node_labels.txt", "1\n2\n", ERROR_INPUT,
           "X_node_labels.txt: expected 5 lines, one for each node, found 2");
    refuse("X_node_labels.txt", "1\n2\n3\n4\n900000\n", ERROR_INPUT,
           "labels go from 1 to 900000, which would be more than 65536 columns");
    refuse("X_node_attributes.txt", "1\n2\n3\n4\n", ERROR_INPUT,
           "X_node_attributes.txt:5: expected 5 lines, one for each node, found the end");
    refuse("X_node_attributes.txt", "1\n2\n3\n4\n5\n6\n", ERROR_INPUT,
           "X_node_attributes.txt:6: expected 5 lines, one for each node, found more");
    refuse("X_node_attributes.txt", "1\n2\n3, 1\n4\n5\n", ERROR_INPUT, "X_node_attributes.txt:3");
    refuse("Y_A.txt", "1, 2\n", ERROR_INPUT, "expected the files of one dataset");
}

static void what_is_missing_is_named(void **state)
{
    struct error err = {0};
    (void)state;
    assert_fails(run(TASK_GRAPH_CLASSIFICATION, "given", &err), ERROR_NOT_FOUND,
                 "expected a file NAME_A.txt with the edges of all graphs, found none", &err);
    put("X_A.txt", "1, 2\n");
    assert_fails(run(TASK_GRAPH_CLASSIFICATION, "given", &err), ERROR_NOT_FOUND,
                 "expected X_graph_indicator.txt, found no such file", &err);
    put("X_graph_indicator.txt", "1\n1\n");
    assert_fails(run(TASK_GRAPH_CLASSIFICATION, "given", &err), ERROR_NOT_FOUND,
                 "expected X_graph_labels.txt, found no such file", &err);
}

#define test_in_folder(function) cmocka_unit_test_setup_teardown(function, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_in_folder(reads_graphs_edges_and_classes),
        test_in_folder(features_are_attributes_and_columns_of_labels),
        test_in_folder(numbers_of_graphs_are_their_attributes),
        test_in_folder(what_is_wrong_is_named_with_file_and_line),
        test_in_folder(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
