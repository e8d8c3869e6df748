#include "stages/ingest/formats/columns/node_files.h"
#include "stages/ingest/formats/files/edge_list_reader.h"

#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static struct node_files files;

static void set(struct keyed_file *file, const char *name, enum keyed_form form, const char *text)
{
    *file = (struct keyed_file){
        .path = text ? name : NULL, .form = form, .data = text, .size = text ? strlen(text) : 0};
}

/* Reads edges and the files beside them; NULL: no such file. */
static enum error_code run(const char *edges, const char *labels, const char *features,
                           const char *train, struct error *err)
{
    const struct edge_list_input input = {
        .name = "edges.csv", .data = edges, .size = strlen(edges), .nodes = &files};
    files = (struct node_files){0};
    set(&files.labels, "labels.csv", KEYED_VALUES, labels);
    set(&files.features, "features.csv", KEYED_VALUES, features);
    set(&files.split[SPLIT_TRAIN], "train.csv", KEYED_ID_ONLY, train);
    const enum error_code rc =
        edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), err);
    node_files_release(&files);
    return rc;
}

static void keys_labels_features_and_splits_by_strings(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("alice,\"Doe, Jane\"\n\"Doe, Jane\",carol\n",
                  "id,label\ncarol,2\nalice,1\nzoe,0\n",
                  "id\tx\ty\nzoe\t4\t0\nDoe, Jane\t2\t0\nalice\t1\t0\ncarol\t3\t0\n",
                  "Doe, Jane\nzoe\n", &err),
              &err);
    assert_int_equal(recorded.node_count, 4); /* zoe has a label but no edge */
    assert_int_equal(recorded.label_count, 4);
    const int32_t expected[] = {1, -1, 2, 0}; /* labels of alice, Doe, carol, zoe */
    assert_memory_equal(recorded.label, expected, sizeof expected);
    for (int i = 0; i < 4; i++)
        assert_true(recorded.feature_of[i] == (float)(i + 1));
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 2);
    assert_int_equal(recorded.split_first[SPLIT_TRAIN], 1);
    assert_memory_equal(recorded.text, "aliceDoe, Janecarolzoe", 22);
}

static void keys_them_by_integers_in_ascending_order(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("30 -5\n", "# class\n7 0\n-5 1\n", NULL, "node\n7\n-5\n", &err), &err);
    assert_int_equal(recorded.node_count, 3);
    const int32_t expected[] = {1, 0, -1}; /* labels of -5, 7, 30 */
    assert_memory_equal(recorded.label, expected, sizeof expected);
    assert_int_equal(recorded.split_first[SPLIT_TRAIN], 1);
    assert_int_equal(recorded.ids.integer[2], 30);
}

static void takes_several_labels_a_node(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("a,b\nb,c\n", "a,0,1\nc,1,1\n", NULL, "a\n", &err), &err);
    assert_int_equal(recorded.multi_columns, 2);
    assert_true(recorded.multi[0] == 0.0F && recorded.multi[1] == 1.0F);
    assert_true(isnan(recorded.multi[2]) && isnan(recorded.multi[3]));
    assert_true(recorded.multi[4] == 1.0F && recorded.multi[5] == 1.0F);
}

static void takes_an_empty_class_for_none(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("a,b\nb,c\n", "a,\nb,-1\nc,nan\n", NULL, NULL, &err), &err);
    assert_int_equal(recorded.labelled, 0);
}

static void accepts_the_same_label_twice(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("a,b\n", "a,1\nb,0\na,1\n", NULL, "a\n", &err), &err);
    assert_int_equal(recorded.label[0], 1);
}

/* A node whose name is a usual header word is no header if it has edges. */
static void knows_a_header_from_a_node(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("id,b\n", "id,1\nb,0\n", NULL, "id\n", &err), &err);
    assert_int_equal(recorded.label[0], 1);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 1);
    /* pandas calls the first column 0 */
    assert_ok(run("a,b\n", "id,0\na,1\nb,0\n", NULL, NULL, &err), &err);
    assert_int_equal(recorded.node_count, 2);
}

/* A first row of unknown words is a header if all other rows name nodes and its class is in no
 * other row. */
static void knows_a_header_by_the_rows_below(void **state)
{
    (void)state;
    static const char edges[] = "a,b\nb,c\nc,d\nd,a\n";
    struct error err = {0};
    assert_ok(run(edges, "account,kind\na,cat\nb,dog\nc,cat\nd,dog\n", NULL, NULL, &err), &err);
    assert_int_equal(recorded.node_count, 4);
    assert_int_equal(recorded.labelled, 4);
    assert_ok(run(edges, "z,dog\na,cat\nb,dog\nc,cat\nd,dog\n", NULL, NULL, &err), &err);
    assert_int_equal(recorded.node_count, 5); /* a node without an edge */
    assert_fails(run(edges, "account,kind\na,cat\nb,dog\nc,cat\nz,dog\n", NULL, NULL, &err),
                 ERROR_INPUT,
                 "labels.csv:1: expected to know whether 'account,kind' is a header: 'account' is "
                 "no node with an edge",
                 &err);
    assert_ok(run("1,2\n2,3\n", "paper,venue\n1,x\n2,y\n3,x\n", NULL, "paper\n1\n2\n", &err), &err);
    assert_int_equal(recorded.labelled, 3);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 2);
}

/* Semicolons separate fields, and numbers have decimal commas. */
static void takes_other_separators_and_decimal_commas(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("a,b\nb,c\n", "id|class\na|1\nb|0\n", "id;x;y\na;0,5;1\nb;1,5;2\nc;2,5;3\n", NULL,
                  &err),
              &err);
    assert_int_equal(recorded.labelled, 2);
    assert_true(recorded.feature_of[0] == 0.5F && recorded.feature_of[2] == 2.5F);
}

/* Reads labels with ingest.missing_words. */
static enum error_code run_missing(const char *labels, const char *missing, struct error *err)
{
    static const char edges[] = "a,b\nb,c\nc,d\n";
    const struct edge_list_input input = {
        .name = "edges.csv", .data = edges, .size = strlen(edges), .nodes = &files};
    files = (struct node_files){0};
    set(&files.labels, "labels.csv", KEYED_VALUES, labels);
    files.labels.missing_words = missing;
    files.labels.may_choose = true;
    const enum error_code rc =
        edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), err);
    node_files_release(&files);
    return rc;
}

static void takes_for_missing_what_is_listed_alone(void **state)
{
    (void)state;
    static const char words[] = "id,class\na,none\nb,mild\nc,NA\nd,mild\n";
    struct error err = {0};
    assert_ok(run_missing(words, NULL, &err), &err);
    assert_int_equal(recorded.labelled, 4); /* three classes: NA, mild and none */
    const int32_t expected[] = {2, 1, 0, 1};
    assert_memory_equal(recorded.label, expected, sizeof expected);
    assert_ok(run_missing(words, "NA", &err), &err);
    assert_int_equal(recorded.labelled, 3);
    assert_ok(run_missing(words, "[na, none]", &err), &err); /* upper and lower case differ */
    assert_int_equal(recorded.labelled, 3);
    assert_ok(run_missing("id,class\na,0\nb,unknown\nc,1\n", "[NA, unknown]", &err), &err);
    assert_int_equal(recorded.labelled, 2);
    assert_fails(run_missing("id,class\na,0\nb,unknown\nc,1\n", "NA", &err), ERROR_INPUT,
                 "labels.csv:3: label: expected a number, as in line 2, found 'unknown': if this "
                 "word says that the class is not known, add a line `missing_words: unknown`",
                 &err);
}

static void asks_which_column_is_meant(void **state)
{
    (void)state;
    static const struct {
        const char *labels, *message;
    } cases[] = {
        {"class,id\nx,a\ny,b\n",
         "labels.csv:1: expected the ids of nodes in the first column, found 'class' there and a "
         "column 'id': add a line `id_column: id`"},
        {"id,name,class\na,Ann,x\nb,Bob,y\n",
         "expected one column after the id, or several of numbers, found 2 with words among "
         "them: add a line `label_columns: NAME`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        assert_fails(run_missing(cases[i].labels, NULL, &err), ERROR_INPUT, cases[i].message, &err);
    }
}

static void names_file_and_line_of_what_is_wrong(void **state)
{
    (void)state;
    static const char edges[] = "a,b\nb,c\n";
    static const struct {
        const char *labels, *features, *train, *message;
    } cases[] = {
        {"a,0\nb,1\na,2\n", NULL, NULL,
         "labels.csv:3: node 'a' has another label than in line 1: expected one label a node"},
        {"a,0\nb,sport\n", NULL, NULL,
         "labels.csv:2: label: expected a number, as in line 1, found 'sport': if this word says "
         "that the class is not known, add a line `missing_words: sport`"},
        {"a,x\nb,0\nc,y\n", NULL, NULL,
         "labels.csv:2: label: expected a word, as in line 1, found the number 0: classes are "
         "words"},
        {"a,0\nb\n", NULL, NULL, "labels.csv:2: expected 2 columns, found 1; commas"},
        {"a,0\nb,-2\n", NULL, NULL, "labels.csv:2: label: expected a class from 0 to"},
        {"a,0\nb,1.5\n", NULL, NULL, "labels.csv:2: label: expected a class from 0 to"},
        {"a,0\nb,4000000\n", NULL, NULL, "labels.csv:2: label: expected a class from 0 to"},
        {"a,0\nb,0,1\n", NULL, NULL, "labels.csv:2: expected 2 columns, found 3; commas"},
        {"a,0,1\nb,0,2\n", NULL, NULL, "labels.csv:2: label in column 2: expected 0 or 1, found 2"},
        {"a,0\n,1\n", NULL, NULL, "labels.csv:2: node: expected a node id, found nothing"},
        {"", NULL, NULL, "labels.csv: expected a line `id,class` a node, found none"},
        {"a,0\n", "a,1,2\nb,3\nc,1,2\n", NULL,
         "features.csv:2: expected 3 columns, found 2; commas"},
        {"a,0\n", "a,1\nb,nan\nc,1\n", NULL,
         "features.csv:2: feature in column 2: expected a finite number, found 'nan'"},
        {"a,0\n", "a,1\nb,2\na,3\nc,1\n", NULL,
         "features.csv:3: node 'a' is in line 1 already: expected one row a node"},
        {"a,0\n", "a,0,1.5\na,1,2.5\nb,0,1\n", NULL,
         "features.csv:2: node 'a' is in line 1 already: expected one row a node, found three "
         "columns, as features in long form have them"},
        {"d,0\n", "a,1\nb,2\n", NULL,
         "features.csv: expected a row for each of 4 nodes, found 2; the first without one is 'c'"},
        {"a,0\n", NULL, "a\nzed\n", "train.csv:2: node 'zed' is in no other file"},
        {"a,0\n", NULL, "a\n\nb\n", "train.csv:2: expected a node id, found a blank line"},
        {"a,0\n", NULL, "a\tb\n", "train.csv:1: expected one node id, found several columns"},
        {"a,0\n", NULL, "", "train.csv: expected the ids of the train nodes, found none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        assert_fails(run(edges, cases[i].labels, cases[i].features, cases[i].train, &err),
                     ERROR_INPUT, cases[i].message, &err);
    }
    struct error err = {0};
    assert_fails(run("1,2\n", "1,0\nx,1\n", NULL, NULL, &err), ERROR_INPUT,
                 "labels.csv:2: node: expected a 64-bit integer, found 'x'; lines 1 to 1 of "
                 "edges.csv have integer ids",
                 &err);
}

/* ---- features in an array
 * ----------------------------------------------------------------------- */

/* Writes rows 0.5, 1.5, ... of one column. */
static void write_array(char path[FILE_PATH_SIZE], const struct temp_dir *dir, int rows)
{
    char data[128 + 16 * sizeof(float)] = "\x93NUMPY\x01";
    data[8] = 118;
    const int used = snprintf(data + 10, 119,
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1), }", rows);
    memset(data + 10 + used, ' ', (size_t)(118 - used));
    for (int i = 0; i < rows; i++) {
        const float value = (float)i + 0.5F;
        memcpy(data + 128 + (size_t)i * sizeof value, &value, sizeof value);
    }
    const char *made =
        temp_dir_write(dir, "features.npy", data, 128 + (size_t)rows * sizeof(float));
    (void)snprintf(path, FILE_PATH_SIZE, "%s", made);
}

static enum error_code run_array(const char *edges, const char *path, const char *ids,
                                 struct error *err)
{
    const struct edge_list_input input = {
        .name = "edges.csv", .data = edges, .size = strlen(edges), .nodes = &files};
    files = (struct node_files){.features = {.path = path, .form = KEYED_VALUES}};
    set(&files.feature_ids, "ids.txt", KEYED_ID_ONLY, ids);
    const enum error_code rc =
        edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), err);
    node_files_release(&files);
    return rc;
}

static void takes_an_array_in_the_order_of_ids(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    write_array(path, dir, 3);
    assert_ok(run_array("a,b\n", path, "b\nnew\na\n", &err), &err);
    assert_int_equal(recorded.node_count, 3);
    assert_true(recorded.feature_of[0] == 2.5F && recorded.feature_of[1] == 0.5F &&
                recorded.feature_of[2] == 1.5F);
    assert_ok(run_array("2 0\n", path, NULL, &err), &err); /* ids are the rows */
    assert_int_equal(recorded.node_count, 3);
    assert_true(recorded.feature_of[2] == 2.5F);
}

static void refuses_an_array_whose_rows_are_nobodys(void **state)
{
    const struct temp_dir *dir = *state;
    char path[FILE_PATH_SIZE];
    write_array(path, dir, 3);
    const struct {
        const char *edges, *ids, *message;
    } cases[] = {
        {"a,b\n", NULL, "add a line `feature_ids: FILE` below `ingest:`"},
        {"2 7\n", NULL, "expected a row for each of 4 nodes, found 3; the first without one is 7"},
        {"a,b\n", "a\nb\n", "ids.txt: expected 3 ids, one for each row of"},
        {"a,b\n", "a\nb\nc\nd\n", "ids.txt:4: expected 3 ids, one for each row of"},
        {"a,b\n", "a\nb\na\n", "ids.txt:3: node 'a' is in line 1 already"},
        {"a,b\nb,c\nc,d\n", "a\nb\nc\n", "the first without one is 'd'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        assert_fails(run_array(cases[i].edges, path, cases[i].ids, &err), ERROR_INPUT,
                     cases[i].message, &err);
    }
}

/* Reads labels from two files. */
static enum error_code run_two(const struct temp_dir *dir, const char *first, const char *second,
                               struct error *err)
{
    static const char edges[] = "a,b\nb,c\nc,d\n";
    const struct edge_list_input input = {
        .name = "edges.csv", .data = edges, .size = strlen(edges), .nodes = &files};
    char pattern[FILE_PATH_SIZE];
    assert_ok(file_path(pattern, err, "%s/labels-*", dir->path), err);
    (void)temp_dir_write(dir, "labels-1", first, strlen(first));
    (void)temp_dir_write(dir, "labels-2", second, strlen(second));
    files = (struct node_files){.labels = {.path = pattern, .form = KEYED_VALUES}};
    const enum error_code rc =
        edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), err);
    node_files_release(&files);
    return rc;
}

static void each_file_has_the_header_of_the_first(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    assert_ok(run_two(dir, "id,class\na,1\nb,0\n", "# more\nid,class\nc,2\nd,1\n", &err), &err);
    assert_int_equal(recorded.node_count, 4);
    assert_int_equal(recorded.labelled, 4);
    assert_ok(run_two(dir, "a,1\nb,0\n", "c,2\nd,1\n", &err), &err);
    assert_int_equal(recorded.labelled, 4);
    assert_fails(run_two(dir, "id,class\na,1\nb,0\n", "c,2\nd,1\n", &err), ERROR_INPUT,
                 "labels-2:1: expected the header of the first file, found 'c,2'", &err);
    assert_fails(run_two(dir, "a,1\nb,0\n", "id,class\nc,2\nd,1\n", &err), ERROR_INPUT,
                 "labels-2:1: expected a row, since the first file has no header, found 'id,class'",
                 &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_labels_features_and_splits_by_strings),
        cmocka_unit_test(keys_them_by_integers_in_ascending_order),
        cmocka_unit_test(takes_several_labels_a_node),
        cmocka_unit_test(takes_an_empty_class_for_none),
        cmocka_unit_test(accepts_the_same_label_twice),
        cmocka_unit_test(knows_a_header_from_a_node),
        cmocka_unit_test(knows_a_header_by_the_rows_below),
        cmocka_unit_test(takes_other_separators_and_decimal_commas),
        cmocka_unit_test(takes_for_missing_what_is_listed_alone),
        cmocka_unit_test(asks_which_column_is_meant),
        cmocka_unit_test(names_file_and_line_of_what_is_wrong),
        cmocka_unit_test_setup_teardown(each_file_has_the_header_of_the_first, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(takes_an_array_in_the_order_of_ids, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(refuses_an_array_whose_rows_are_nobodys, temp_dir_setup,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
