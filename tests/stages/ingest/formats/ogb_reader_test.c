#include "stages/ingest/formats/ogb_reader.h"
#include "store/records/node_splits.h"

#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static struct temp_dir dir;

static int make_dir(void **state)
{
    char path[FILE_PATH_SIZE];
    (void)state;
    temp_dir_make(&dir);
    must(file_path(path, NULL, "%s/raw", dir.path) == ERROR_NONE);
    must(file_make_folders(path, NULL) == ERROR_NONE);
    must(file_path(path, NULL, "%s/split/time", dir.path) == ERROR_NONE);
    must(file_make_folders(path, NULL) == ERROR_NONE);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static void put(const char *name, const char *text)
{
    (void)temp_dir_write(&dir, name, text, strlen(text));
}

static void put_folder(void)
{
    put("raw/num-node-list.csv", "3\n");
    put("raw/num-edge-list.csv", "2\n");
    put("raw/edge.csv", "0,1\n2,1\n");
    put("raw/node-feat.csv", "0.5,1\n-1,2e-3\n3,4\n");
    put("raw/node-label.csv", "4\nnan\n0.0\n");
    put("split/time/train.csv", "2\n");
    put("split/time/valid.csv", "0\n");
    put("split/time/test.csv", "");
}

static enum error_code run(int64_t task, struct error *err)
{
    static struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.task = task;
    must(snprintf(settings.ingest.path, SETTING_PATH_SIZE, "%s", dir.path) < SETTING_PATH_SIZE);
    return ogb_reader_run(&settings, recording_start(), err);
}

static void reads_a_raw_folder(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    assert_ok(run(TASK_UNKNOWN, &err), &err);
    assert_int_equal(recorded.node_count, 3);
    assert_int_equal(recorded.edge_count, 2);
    assert_true(recorded.source[1] == 2 && recorded.target[1] == 1 && recorded.line[1] == 2);
    assert_int_equal(recorded.feature_rows, 3);
    assert_int_equal(recorded.dim, 2);
    assert_true(recorded.feature_sum > 7.5 && recorded.feature_sum < 7.51);
    assert_true(recorded.label[0] == 4 && recorded.label[1] == -1 && recorded.label[2] == 0);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 1);
    assert_int_equal(recorded.split_first[SPLIT_TRAIN], 2);
}

static void reads_many_labels(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    put("raw/node-label.csv", "0,1,0\n1,1,1\n0,0,0\n");
    assert_ok(run(TASK_UNKNOWN, &err), &err);
    assert_int_equal(recorded.multi_columns, 3);
    assert_fails(run(TASK_SINGLE_LABEL, &err), ERROR_INPUT,
                 "expected 1 label column as ingest.task says (single_label), found 3", &err);
    put("raw/node-label.csv", "0\n1\n0\n");
    assert_ok(run(TASK_MULTI_LABEL, &err), &err);
    assert_int_equal(recorded.multi_columns, 1);
}

static void names_file_line_expected_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *message;
    } cases[] = {
        {"raw/num-node-list.csv", "3\n4\n", "num-node-list.csv: expected one number"},
        {"raw/num-node-list.csv", "-3\n", "num-node-list.csv: expected one number"},
        {"raw/num-edge-list.csv", "5\n",
         "edge.csv: expected 5 edges as num-edge-list says, found 2"},
        {"raw/edge.csv", "0,1\n2,x\n", "edge.csv:2: target: expected a 64-bit integer, found 'x'"},
        {"raw/edge.csv", "0,1\n2,9\n", "edge.csv:2"},
        {"raw/node-feat.csv", "1,2\n3\n5,6\n",
         "node-feat.csv:2: expected 2 feature columns, found 1"},
        {"raw/node-feat.csv", "1,2\n3,nan\n5,6\n",
         "node-feat.csv:2: feature in column 2: expected a finite number, found 'nan'"},
        {"raw/node-feat.csv", "1,2\n3,1e39\n5,6\n", "node-feat.csv:2: feature in column 2"},
        {"raw/node-feat.csv", "1,2\n3,4\n", "node-feat.csv:3: expected 3 lines"},
        {"raw/node-feat.csv", "1\n3\n4\n5\n", "node-feat.csv:4: expected 3 lines"},
        {"raw/node-label.csv", "1\n2\n", "node-label.csv:3: expected 3 lines"},
        {"split/time/train.csv", "a\n", "train.csv:1: expected one integer, found 'a'"},
        {"raw/edge.csv.gz", "0,1\n", "found both"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        char path[FILE_PATH_SIZE];
        put_folder();
        put(cases[i].file, cases[i].text);
        assert_fails(run(TASK_UNKNOWN, &err), ERROR_INPUT, cases[i].message, &err);
        assert_ok(file_path(path, &err, "%s/%s", dir.path, cases[i].file), &err);
        assert_ok(file_remove_all(path, &err), &err);
        put_folder();
        assert_ok(run(TASK_UNKNOWN, &err), &err);
    }
}

static void wants_its_files_and_one_split(void **state)
{
    (void)state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    assert_fails(run(TASK_UNKNOWN, &err), ERROR_NOT_FOUND,
                 "expected num-node-list.csv.gz, found no such file", &err);
    put_folder();
    assert_ok(file_path(path, &err, "%s/split/other", dir.path), &err);
    assert_ok(file_make_folders(path, &err), &err);
    assert_fails(run(TASK_UNKNOWN, &err), ERROR_INPUT, "expected one folder of splits", &err);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(reads_a_raw_folder),
        FOLDER_TEST(reads_many_labels),
        FOLDER_TEST(names_file_line_expected_and_found),
        FOLDER_TEST(wants_its_files_and_one_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
