#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/dataset/node_splits.h"

#include "tests/stages/ingest/formats/reader_folder.h"
#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/test.h"

#include <stdio.h>

extern const struct input_format ogb_format;

/* Makes the folder of the test with the folders of an OGB set. */
static int make_ogb_dir(void **state)
{
    char path[FILE_PATH_SIZE];
    (void)make_dir(state);
    must(file_path(path, NULL, "%s/raw", dir.path) == ERROR_NONE);
    must(file_make_folders(path, NULL) == ERROR_NONE);
    must(file_path(path, NULL, "%s/split/time", dir.path) == ERROR_NONE);
    must(file_make_folders(path, NULL) == ERROR_NONE);
    return 0;
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

static enum error_code run(enum task_kind task, struct error *err)
{
    static struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.task = task;
    must(snprintf(settings.ingest.path, SETTING_PATH_SIZE, "%s", dir.path) < SETTING_PATH_SIZE);
    return ogb_format.run(&settings, 0, recording_start(), err);
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
        {"raw/num-node-list.csv", "-3\n", "num-node-list.csv:1: expected a count, found -3"},
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
        {"raw/edge-feat.csv", "1,2\n",
         "edge-feat.csv:2: expected a line for each edge, found the end"},
        {"raw/edge-feat.csv", "1\n2\n3\n", "edge-feat.csv:3: expected 2 lines, one for each edge"},
        {"raw/edge-feat.csv", "1,2\n3\n",
         "edge-feat.csv:2: expected 2 columns of edge features, found 1"},
        {"raw/edge-feat.csv", "1,2\n3,4,5\n",
         "edge-feat.csv:2: expected 2 columns of edge features, found 3"},
        {"raw/edge-feat.csv", "1,2\n3,x\n",
         "edge-feat.csv:2: edge feature: expected a finite number, found 'x'"},
        {"raw/edge-feat.csv", "1\n\n3\n",
         "edge-feat.csv:2: expected 1 columns of edge features, found 0"},
        {"raw/edge-feat.csv", "",
         "edge-feat.csv:1: expected 1 to 65536 columns for the edge features, found 0"},
        {"raw/edge_reltype.csv", "0\n", "edge_reltype.csv:2: expected a line for each edge"},
        {"raw/edge_reltype.csv", "0\n1\n1\n", "edge_reltype.csv:3: expected 2 lines"},
        {"raw/edge_reltype.csv", "0,1\n1,1\n",
         "edge_reltype.csv:1: expected 1 column for the edge types, found 2"},
        {"raw/edge_reltype.csv", "0\n-1\n", "edge_reltype.csv:2: edge type: expected 0 to 511"},
        {"raw/edge_reltype.csv", "0\n512\n", "edge_reltype.csv:2: edge type: expected 0 to 511"},
        {"raw/edge_weight.csv", "1\n1e39\n", "edge_weight.csv:2: weight"},
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

static void reads_columns_of_edges(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    put("raw/edge-feat.csv", "0.5,1,-2\n3,4e-1,0\n");
    put("raw/edge_reltype.csv", "0\n6\n");
    put("raw/edge_weight.csv", "2\n0.25\n");
    put("raw/edge_year.csv", "1999\n2004\n");
    assert_ok(run(TASK_UNKNOWN, &err), &err);
    assert_int_equal(recorded.edge_count, 2);
    assert_int_equal(recorded.width.of[EDGE_FEATURE], 3);
    static const float expected[] = {0.5F, 1, -2, 3, 0.4F, 0};
    assert_memory_equal(recorded.column[EDGE_FEATURE], expected, sizeof expected);
    assert_true(recorded_type()[0] == 0 && recorded_type()[1] == 6);
    assert_true(recorded_weight()[0] == 2 && recorded_weight()[1] == 0.25F);
    assert_true(recorded_time_of(0) == 1999 && recorded_time_of(1) == 2004);
    assert_int_equal(recorded.edge_type_count, 7);
    assert_int_equal(recorded.node_type_count, 1);
    assert_string_equal(recorded.edge_type[6].name, "edge-6");
}

/* There are more edges than a reader holds at once; each must get its own row. */
static void reads_columns_in_pieces(void **state)
{
    (void)state;
    enum { EDGES = EDGE_BUFFER_SIZE + 3, LINE = 16 };
    struct error err = {0};
    char *edges = NULL, *features = NULL, count[LINE];
    size_t edges_size = 0, features_size = 0;
    assert_ok(memory_new(&edges, (size_t)EDGES * LINE, "edges", &err), &err);
    assert_ok(memory_new(&features, (size_t)EDGES * LINE, "features", &err), &err);
    for (int i = 0; i < EDGES; i++) {
        edges_size += (size_t)snprintf(edges + edges_size, LINE, "%d,%d\n", i % 3, i % 2);
        features_size += (size_t)snprintf(features + features_size, LINE, "%d\n", i);
    }
    put_folder();
    (void)snprintf(count, sizeof count, "%d\n", EDGES);
    put("raw/num-edge-list.csv", count);
    (void)temp_dir_write(&dir, "raw/edge.csv", edges, edges_size);
    (void)temp_dir_write(&dir, "raw/edge-feat.csv", features, features_size);
    assert_ok(run(TASK_UNKNOWN, &err), &err);
    assert_int_equal(recorded.edge_count, EDGES);
    const float *value = (const float *)(const void *)recorded.column[EDGE_FEATURE];
    for (int i = 0; i < EDGES; i++)
        assert_true(value[i] == (float)i);
    memory_free(edges);
    memory_free(features);
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

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_ogb_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(reads_a_raw_folder),
        FOLDER_TEST(reads_many_labels),
        FOLDER_TEST(reads_columns_of_edges),
        FOLDER_TEST(reads_columns_in_pieces),
        FOLDER_TEST(names_file_line_expected_and_found),
        FOLDER_TEST(wants_its_files_and_one_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
