#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/dataset/node_splits.h"

#include "tests/stages/ingest/formats/reader_folder.h"
#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct input_format folder_format;

static void drop(const char *name)
{
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/%s", dir.path, name), &err);
    assert_ok(file_remove_all(path, &err), &err);
}

/* Writes an npy file of version 1 with `data` [size]. */
static void put_npy(const char *name, const char *descr, const char *shape, const void *data,
                    size_t size)
{
    static char bytes[4096];
    const int length =
        snprintf(bytes + 10, sizeof bytes - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)length;
    bytes[9] = 0;
    memcpy(bytes + 10 + length, data, size);
    (void)temp_dir_write(&dir, name, bytes, 10 + (size_t)length + size);
}

static bool with_relations; /* ingest.relations in the current test */

static enum error_code run_folder(const char *path, struct error *err)
{
    static struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.relations = with_relations;
    must(snprintf(settings.ingest.path, SETTING_PATH_SIZE, "%s", path) < SETTING_PATH_SIZE);
    return folder_format.run(&settings, 0, recording_start(), err);
}

static enum error_code run(struct error *err)
{
    return run_folder(dir.path, err);
}

/* Writes a good folder of three nodes. */
static void put_folder(void)
{
    put("meta.json", "{\"num_nodes\": 3, \"directed\": false, \"num_classes\": 2}");
    put("edges.csv", "src,dst\n0,1\n1,2\n");
    put("node-label.csv", "0\n1\n-1\n");
    put("train.csv", "1\n");
    put("valid.csv", "0\n");
    put("test.csv", "");
}

static void reads_csv_files(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    put("edges.csv", "src,dst,weight,etype,time\r\n0,1,0.5,1,7\r\n1,2,2,0,1562112000123456789\r\n");
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.node_count, 3);
    assert_true(recorded.input_undirected);
    assert_int_equal(recorded.edge_count, 2);
    assert_int_equal(recorded.line[0], 2);
    assert_true(recorded_weight()[0] > 0.4F && recorded_weight()[0] < 0.6F);
    assert_int_equal(recorded_time_of(0), 7);
    assert_int_equal(recorded_time_of(1), 1562112000123456789);
    assert_int_equal(recorded_type()[0], 1);
    assert_int_equal(recorded.edge_type_count, 2);
    assert_string_equal(recorded.edge_type[1].name, "edge-1");
    assert_int_equal(recorded.node_type_count, 1);
    assert_int_equal(recorded.label_count, 3);
    assert_int_equal(recorded.labelled, 2);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 1);
    assert_int_equal(recorded.split_first[SPLIT_TRAIN], 1);
    assert_int_equal(recorded.split_count[SPLIT_TEST], 0);
    assert_int_equal(recorded.feature_rows, 0);
}

/* Checks the columns of three edges; the table has the first two or none. */
static void assert_file_columns(const char *table)
{
    struct error err = {0};
    assert_ok(run(&err), &err);
    const int64_t *id = (const int64_t *)(const void *)recorded.column[EDGE_ID];
    const float *feature = (const float *)(const void *)recorded.column[EDGE_FEATURE];
    for (int i = 0; i < 3; i++) {
        if (recorded_weight()[i] != 0.5F * (float)i ||
            recorded_time_of((size_t)i) != 100 + (int64_t)i || id[i] != -7LL * i ||
            recorded_type()[i] != i % 2)
            fail_msg("%s: edge %d has other values", table, i);
        for (int k = 0; k < 2; k++)
            assert_true(feature[2 * i + k] == (float)(10 * i + k));
    }
    assert_int_equal(recorded.width.of[EDGE_FEATURE], 2);
    assert_int_equal(recorded.edge_count, 3);
}

static void reads_columns_of_edges_from_files_of_their_own(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t edge[] = {0, 1, 2, 1, 2, 0}, id[] = {0, -7, -14}, many[] = {0, 65536, 1};
    const double weight[] = {0, 0.5, 1};
    const int32_t time[] = {100, 101, 102};
    const uint8_t type[] = {0, 1, 0};
    const float feature[] = {0, 1, 10, 11, 20, 21};
    put("meta.json", "{\"num_nodes\": 3, \"directed\": true}");
    put("edge-types.csv", "etype,name,src_type,dst_type,count\n0,a,node,node,2\n1,b,node,node,1\n");
    put("node-types.csv", "type,name,count,first_id\n0,node,3,0\n");
    put_npy("edges.npy", "<i8", "(2, 3)", edge, sizeof edge);
    put_npy("edge-weight.npy", "<f8", "(3,)", weight, sizeof weight);
    put_npy("edge-time.npy", "<i4", "(3,)", time, sizeof time);
    put_npy("edge-type.npy", "|u1", "(3,)", type, sizeof type);
    put_npy("edge-id.npy", "<i8", "(3,)", id, sizeof id);
    put_npy("edge-feat.npy", "<f4", "(3, 2)", feature, sizeof feature);
    assert_file_columns("edges.npy");
    drop("edges.npy");
    drop("edge-time.npy");
    put("edges.csv", "src,dst,time\n0,1,100\n1,2,101\n2,0,102\n");
    assert_file_columns("edges.csv");

    put_npy("edge-time.npy", "<i4", "(3,)", time, sizeof time);
    assert_fails(run(&err), ERROR_INPUT, "expected edge times in one of", &err);
    drop("edge-time.npy");
    put_npy("edge-id.npy", "<i8", "(2,)", id, 16);
    assert_fails(run(&err), ERROR_INPUT, "edge-id.npy: expected a row for each edge, found 2 rows",
                 &err);
    put_npy("edge-id.npy", "<f4", "(3,)", feature, 12);
    assert_fails(run(&err), ERROR_INPUT, "edge-id.npy: expected integers", &err);
    put_npy("edge-id.npy", "<i8", "(3, 1, 1)", id, sizeof id);
    assert_fails(run(&err), ERROR_INPUT, "edge-id.npy: expected the shape [edges]", &err);
    put_npy("edge-id.npy", "<i8", "(3,)", id, sizeof id);
    put_npy("edge-type.npy", "<i8", "(3,)", many, sizeof many);
    assert_fails(run(&err), ERROR_INPUT, "edge-type.npy: row 1: expected 0 to 65535, found 65536",
                 &err);
    put_npy("edge-type.npy", "|u1", "(3,)", type, sizeof type);
    put_npy("edge-weight.npy", "<f4", "(4,)", feature, 16);
    assert_fails(run(&err), ERROR_INPUT, "edge-weight.npy: expected 3 rows, one for each edge",
                 &err);
}

static void counts_the_types_of_a_file_of_their_own(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t edge[] = {0, 1, 2, 1, 2, 0};
    const int16_t type[] = {0, 4, 1}, many[] = {0, 1, 512};
    put("meta.json", "{\"num_nodes\": 3, \"directed\": true}");
    put_npy("edge-type.npy", "<i2", "(3,)", type, sizeof type);
    put_npy("edges.npy", "<i8", "(2, 3)", edge, sizeof edge);
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.edge_type_count, 5);
    assert_string_equal(recorded.edge_type[4].name, "edge-4");
    drop("edges.npy");
    put("edges.csv", "src,dst\n0,1\n1,2\n2,0\n");
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.edge_type_count, 5);
    assert_int_equal(recorded.node_type_count, 1);
    assert_int_equal(recorded_type()[1], 4);
    put_npy("edge-type.npy", "<i2", "(3,)", many, sizeof many);
    assert_fails(run(&err), ERROR_INPUT,
                 "edge-type.npy: row 2: expected an edge type from 0 to 511, found 512", &err);
}

static void reads_npy_files(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t edge[] = {0, 1, 2, 1, 2, 0};
    const int64_t label[] = {1, 0, 1};
    const int64_t train[] = {2, 0};
    const float feature[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.5F};
    put("meta.json", "{\"num_nodes\": 3, \"directed\": true, \"edge_rows\": 3}");
    put_npy("edges.npy", "<i8", "(2, 3)", edge, sizeof edge);
    put_npy("node-label.npy", "<i8", "(3,)", label, sizeof label);
    put_npy("train.npy", "<i8", "(2,)", train, sizeof train);
    put_npy("node-feat.npy", "<f4", "(3, 2)", feature, sizeof feature);
    assert_ok(run(&err), &err);
    assert_false(recorded.input_undirected);
    assert_int_equal(recorded.edge_count, 3);
    assert_true(recorded.source[1] == 1 && recorded.target[1] == 2);
    assert_int_equal(recorded.line[2], 2);
    assert_int_equal(recorded.labelled, 3);
    assert_int_equal(recorded.split_count[SPLIT_TRAIN], 2);
    assert_int_equal(recorded.feature_rows, 3);
    assert_int_equal(recorded.dim, 2);
    assert_true(recorded.feature_sum > 21.4 && recorded.feature_sum < 21.6);
}

static void makes_dense_rows_of_sparse_features(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t indptr[] = {0, 2, 2, 4};
    const int32_t indices[] = {0, 3, 1, 1};
    const float values[] = {1.0F, 2.0F, 4.0F, 8.0F};
    put_folder();
    put_npy("feat_indptr.npy", "<i8", "(4,)", indptr, sizeof indptr);
    put_npy("feat_indices.npy", "<i4", "(4,)", indices, sizeof indices);
    put_npy("feat_values.npy", "<f4", "(4,)", values, sizeof values);
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.feature_rows, 3);
    assert_int_equal(recorded.dim, 4);
    assert_true(recorded.feature_sum > 14.9 && recorded.feature_sum < 15.1);
    assert_true(recorded.first_row_first > 0.9F);

    const int64_t falling[] = {0, 3, 2, 4};
    put_npy("feat_indptr.npy", "<i8", "(4,)", falling, sizeof falling);
    assert_fails(run(&err), ERROR_INPUT,
                 "feat_indptr.npy: element 2: expected 3 to 4 (row starts never fall; there are 4 "
                 "entries), found 2",
                 &err);
    const int64_t past[] = {0, 2, 2, 9};
    put_npy("feat_indptr.npy", "<i8", "(4,)", past, sizeof past);
    assert_fails(run(&err), ERROR_INPUT, "feat_indptr.npy: element 3: expected 4 to 4", &err);
    put("meta.json", "{\"num_nodes\": 3, \"directed\": false, \"num_features\": 3}");
    put_npy("feat_indptr.npy", "<i8", "(4,)", indptr, sizeof indptr);
    assert_fails(run(&err), ERROR_INPUT,
                 "feat_indices.npy: element 1: expected a column from 0 to 2, found 3", &err);
    put_npy("feat_values.npy", "<f4", "(3,)", values, 12);
    assert_fails(run(&err), ERROR_INPUT,
                 "feat_values.npy: expected 1 dimension of 4 elements, found 3", &err);
    drop("feat_values.npy");
    assert_fails(run(&err), ERROR_INPUT, "feat_values.npy is not there: expected it beside", &err);
}

static void places_features_of_a_type_at_its_first_node(void **state)
{
    (void)state;
    struct error err = {0};
    const float feature[] = {3.0F, 4.0F};
    put("meta.json", "{\"num_nodes\": 3, \"directed\": true}");
    put("edges.csv", "src,dst,etype\n1,0,0\n1,2,1\n");
    put("node-types.csv", "type,name,count,first_id\n0,author,1,0\n1,paper,1,1\n2,topic,1,2\n");
    put("edge-types.csv",
        "etype,name,src_type,dst_type,count\n0,by,paper,author,1\n1,on,paper,topic,1\n");
    put_npy("paper-feat.npy", "<f4", "(1, 2)", feature, sizeof feature);
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.node_type_count, 3);
    assert_string_equal(recorded.node_type[1].name, "paper");
    assert_int_equal(recorded.edge_type_count, 2);
    assert_int_equal(recorded.feature_rows, 3);
    assert_int_equal(recorded.feature_calls, 3);
    assert_true(recorded.feature_sum > 6.9 && recorded.feature_sum < 7.1);
    assert_true(recorded.first_row_first < 0.1F && recorded.last_row_first < 0.1F);

    put("edges.csv", "src,dst,etype\n1,0,0\n0,2,1\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "edges.csv:3: source: expected a node of type paper (1 to 1), found 0", &err);
    put("edges.csv", "src,dst,etype\n1,0,2\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "edges.csv:2: edge type: expected 0 to 1 as edge-types.csv says, found 2", &err);
    put("node-types.csv", "type,name,count,first_id\n0,author,1,0\n1,paper,1,2\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "node-types.csv:3: first_id: expected a number from 1 to 1, found '2'", &err);
    put("node-types.csv", "type,name,count,first_id\n0,author,2,0\n");
    assert_fails(run(&err), ERROR_INPUT, "expected types of 3 nodes as meta.json says, found 2",
                 &err);
}

static void types_that_are_told_apart_keep_their_widths(void **state)
{
    (void)state;
    struct error err = {0};
    const float feature[] = {3.0F, 4.0F, 5.0F};
    put("meta.json", "{\"num_nodes\": 3, \"directed\": true}");
    put("edges.csv", "src,dst,etype\n1,0,0\n1,2,1\n");
    put("node-types.csv", "name,first_id,count\nauthor,0,1\npaper,1,1\ntopic,2,1\n");
    put("edge-types.csv", "id,name,source,target\n0,by,paper,author\n1,on,paper,topic\n");
    put_npy("paper-feat.npy", "<f4", "(1, 2)", feature, sizeof *feature * 2);
    put_npy("author-feat.npy", "<f4", "(1, 3)", feature, sizeof feature);
    assert_fails(run(&err), ERROR_INPUT,
                 "features of type paper: expected 3 columns as other types have, found 2; write "
                 "`relations: true` below `ingest:`, which lets each type have its own width",
                 &err);
    with_relations = true;
    const enum error_code rc = run(&err);
    with_relations = false;
    assert_ok(rc, &err);
    assert_int_equal(recorded.feature_rows, 2); /* topics have no features */
    assert_int_equal(recorded.selected_type, 2);
    assert_int_equal(recorded.edge_type[1].source_type, 1);
    assert_int_equal(recorded.edge_type[1].target_type, 2);
    put("edge-types.csv", "id,name,from,to\n0,by,paper,author\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "edge-types.csv:1: expected the header 'etype,name,src_type,dst_type,count'",
                 &err);
    put("edge-types.csv", "id,name,source,target\n0,by,paper,editor\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "edge-types.csv:2: expected a node type of node-types.csv, found 'editor'", &err);
}

static void relations_of_one_type_have_names(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    put("edges.csv", "src,dst,etype\n0,1,0\n1,2,1\n");
    put("relations.csv", "id,name\n0,/likes\n1,/knows\n");
    assert_ok(run(&err), &err);
    assert_string_equal(recorded.edge_type[1].name, "edge-1");
    with_relations = true;
    const enum error_code rc = run(&err);
    with_relations = false;
    assert_ok(rc, &err);
    assert_int_equal(recorded.edge_type_count, 2);
    assert_string_equal(recorded.edge_type[1].name, "/knows");
    assert_int_equal(recorded.node_type_count, 1);
}

static void reads_several_label_columns(void **state)
{
    (void)state;
    struct error err = {0};
    put_folder();
    put("node-label.csv", "0,1\nnan,nan\n1,1\n");
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.multi_columns, 2);
    assert_true(recorded.multi[1] > 0.9F && isnan(recorded.multi[2]) && recorded.multi[4] > 0.9F);
    put("node-label.csv", "0,1\n0,nan\n1,1\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "node-label.csv:2: expected labels in all columns or in none, found 1 of 2", &err);
    put("node-label.csv", "0,1\n0,2\n1,1\n");
    assert_fails(run(&err), ERROR_INPUT,
                 "node-label.csv:2: label in column 2: expected 0 or 1, found 2", &err);
}

/* Each case damages one file of a good folder; the repaired folder is read again. */
static void names_file_line_expected_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *message;
        enum error_code code;
    } cases[] = {
        {"meta.json", "{\"directed\": false}", "meta.json: \"num_nodes\": expected a whole number",
         ERROR_INPUT},
        {"meta.json", "{\"num_nodes\": 3}",
         "meta.json: \"directed\": expected true, false or null, found nothing", ERROR_INPUT},
        {"meta.json", "{\"num_nodes\": 3, \"directed\": 1}",
         "meta.json: \"directed\": expected true, false or null, found something else",
         ERROR_INPUT},
        {"meta.json", "{\"num_nodes\": -3, \"directed\": true}", "\"num_nodes\": expected",
         ERROR_INPUT},
        {"meta.json", "{\"num_nodes\": 3,", "meta.json:1:", ERROR_INPUT},
        {"meta.json", "{\"num_nodes\": 3, \"directed\": true, \"edge_rows\": 3}",
         "edges.csv: expected 3 edges as meta.json says, found 2", ERROR_INPUT},
        {"edges.csv", "", "edges.csv:1: expected the header src,dst, found an empty file",
         ERROR_INPUT},
        {"edges.csv", "0,1\n1,2\n", "edges.csv:1: expected the header src,dst", ERROR_INPUT},
        {"edges.csv", "src,dst,colour\n", "found 'src,dst,colour'", ERROR_INPUT},
        {"edges.csv", "src,dst\n0,1\n0,3\n", "edges.csv:3", ERROR_INPUT},
        {"edges.csv", "src,dst\n0,1\n0,-1\n", "edges.csv:3", ERROR_INPUT},
        {"edges.csv", "src,dst\n0,1\n0\n", "edges.csv:3: expected 2 columns, found 1", ERROR_INPUT},
        {"edges.csv", "src,dst\n0,1\n\n1,2\n", "edges.csv:3: expected 2 columns, found 0",
         ERROR_INPUT},
        {"edges.csv", "src,dst\n0,1.5\n",
         "edges.csv:2: target: expected a 64-bit integer, found '1.5'", ERROR_INPUT},
        {"edges.csv", "src,dst,etype\n0,1,512\n", "edges.csv:2: edge type: expected 0 to 511",
         ERROR_INPUT},
        {"node-label.csv", "0\n1\n",
         "node-label.csv:3: expected 3 lines, one for each node, found "
         "the end of the file",
         ERROR_INPUT},
        {"node-label.csv", "0\n1\n1\n1\n", "node-label.csv:4: expected 3 lines", ERROR_INPUT},
        {"node-label.csv", "0\n2\n1\n",
         "node-label.csv:2: label: expected a class from 0 to 1, or -1 for none, found 2",
         ERROR_INPUT},
        {"node-label.csv", "0\n-2\n1\n", "node-label.csv:2: label: expected a class", ERROR_INPUT},
        {"node-label.csv", "0\n0.5\n1\n", "node-label.csv:2: label: expected a class", ERROR_INPUT},
        {"node-label.csv", "0\nx\n1\n",
         "node-label.csv:2: label in column 1: expected a number, "
         "found 'x'",
         ERROR_INPUT},
        {"node-label.csv", "0\n\n1\n1\n", "node-label.csv:2: expected a label, found a blank line",
         ERROR_INPUT},
        {"train.csv", "0\nx\n", "train.csv:2: expected one integer, found 'x'", ERROR_INPUT},
        {"train.csv", "0,1\n", "train.csv:1: expected one integer, found '0,1'", ERROR_INPUT},
        {"train.csv", "0\n\n1\n", "train.csv:2: expected one integer, found a blank line",
         ERROR_INPUT},
        {"train.csv", "0\n1\n2\n0\n", "train.csv:4: expected at most 3 lines", ERROR_INPUT},
        {"edges.csv.gz", "src,dst\n", "found both", ERROR_INPUT},
        {"node-feat.npy", "12345678901234567890", "node-feat.npy is text, expected an npy array",
         ERROR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        put_folder();
        put(cases[i].file, cases[i].text);
        assert_fails(run(&err), cases[i].code, cases[i].message, &err);
        assert_non_null(strstr(err.message, dir.path));
        drop(cases[i].file);
        put_folder();
        assert_ok(run(&err), &err);
    }
}

static void says_what_is_missing(void **state)
{
    (void)state;
    struct error err = {0};
    assert_fails(run(&err), ERROR_NOT_FOUND, "meta.json", &err);
    put("meta.json", "{\"num_nodes\": 3, \"directed\": false}");
    assert_fails(run(&err), ERROR_NOT_FOUND,
                 "expected edges.csv (plain, .gz or .zst) or edges.npy, found none", &err);
    put("edges.csv", "src,dst\n"); /* nodes without an edge are legal */
    assert_ok(run(&err), &err);
    assert_int_equal(recorded.edge_count, 0);
}

static void refuses_features_of_another_shape(void **state)
{
    (void)state;
    struct error err = {0};
    const float feature[] = {1.0F, 2.0F, 3.0F, 4.0F};
    const float bad[] = {1.0F, 2.0F, NAN};
    put_folder();
    put_npy("node-feat.npy", "<f4", "(2, 2)", feature, sizeof feature);
    assert_fails(run(&err), ERROR_INPUT,
                 "node-feat.npy: expected 2 dimensions with 3 rows, one for each node, found 2",
                 &err);
    put_npy("node-feat.npy", "<f4", "(3, 1)", bad, sizeof bad);
    assert_fails(run(&err), ERROR_INPUT, "node-feat.npy: row 2", &err);
    put_npy("node-feat.npy", "<f4", "(3, 1)", feature, 12);
    assert_ok(run(&err), &err);
}

static void gives_everything_back_when_memory_fails(void **state)
{
    (void)state;
    struct error err = {0};
    const float feature[] = {1.0F, 2.0F, 3.0F};
    put_folder();
    put_npy("node-feat.npy", "<f4", "(3, 1)", feature, sizeof feature);
    const long before = memory_live_blocks();
    for (long n = 0;; n++) {
        memory_fail_after(n);
        const enum error_code rc = run(&err);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), before);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_true(n < 200);
    }
}

/* Returns the folder of real datasets, or NULL. */
static const char *datasets(void)
{
    static char path[FILE_PATH_SIZE];
    const char *given = getenv("GRAPHMILL_DATASETS");
    const char *source = getenv("GRAPHMILL_SOURCE");
    if (given)
        (void)snprintf(path, sizeof path, "%s", given);
    else
        (void)snprintf(path, sizeof path, "%s/../shared/datasets", source ? source : ".");
    return file_exists(path) ? path : NULL;
}

static void counts_real_datasets_as_their_readmes_do(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t nodes, edges, dim, labelled, train, valid, test;
        bool undirected, has_weight, has_time;
    } cases[] = {
        {"cora", 2708, 5278, 1433, 2708, 140, 500, 1000, true, false, false},
        {"citeseer", 3327, 4552, 3703, 3312, 120, 500, 1000, true, false, false},
        {"bitcoin-otc", 5881, 35592, 0, 0, 0, 0, 0, false, true, true},
        {"ogbn-arxiv", 169343, 1166243, 0, 169343, 90941, 29799, 48603, false, false, false},
        {"coauthor-physics", 34493, 247962, 8415, 34493, 0, 0, 0, true, false, false},
        {"acm-hetero", 11246, 17426, 1902, 4019, 180, 1000, 1000, false, false, false},
    };
    if (!datasets()) {
        print_message("no datasets: set GRAPHMILL_DATASETS\n");
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        char path[FILE_PATH_SIZE];
        assert_ok(file_path(path, &err, "%s/%s", datasets(), cases[i].name), &err);
        recorded_time_setting = cases[i].has_time ? "number*100000" : "auto";
        assert_ok(run_folder(path, &err), &err);
        recorded_time_setting = "auto";
        assert_int_equal(recorded.node_count, cases[i].nodes);
        assert_int_equal(recorded.edge_count, cases[i].edges);
        assert_int_equal(recorded.dim, cases[i].dim);
        assert_int_equal(recorded.feature_rows, cases[i].dim ? cases[i].nodes : 0);
        assert_int_equal(recorded.labelled, cases[i].labelled);
        assert_int_equal(recorded.split_count[SPLIT_TRAIN], cases[i].train);
        assert_int_equal(recorded.split_count[SPLIT_VALID], cases[i].valid);
        assert_int_equal(recorded.split_count[SPLIT_TEST], cases[i].test);
        assert_int_equal(recorded.input_undirected, cases[i].undirected);
        assert_int_equal(recorded.width.of[EDGE_WEIGHT], cases[i].has_weight);
        assert_int_equal(recorded.width.of[EDGE_TIME], cases[i].has_time);
    }
    assert_int_equal(recorded.node_type_count, 3); /* those of acm-hetero */
    assert_int_equal(recorded.edge_type_count, 2);
    assert_int_equal(recorded.node_type[1].first_node, 4019);
}

/* The knowledge graph has more relations than fit a byte. */
static void counts_the_relations_of_a_knowledge_graph(void **state)
{
    (void)state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    if (!datasets()) {
        print_message("no datasets: set GRAPHMILL_DATASETS\n");
        skip();
    }
    assert_ok(file_path(path, &err, "%s/fb15k-237", datasets()), &err);
    assert_ok(run_folder(path, &err), &err);
    assert_int_equal(recorded.node_count, 14541);
    assert_int_equal(recorded.edge_count, 272115);
    assert_int_equal(recorded.edge_type_count, 237);
    assert_string_equal(recorded.edge_type[236].name, "edge-236");
    static bool seen[237];
    uint64_t distinct = 0;
    for (uint64_t i = 0; i < recorded.edge_count; i++) {
        assert_true(recorded_type()[i] < 237);
        distinct += !seen[recorded_type()[i]];
        seen[recorded_type()[i]] = true;
    }
    assert_int_equal(distinct, 237);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(reads_csv_files),
        FOLDER_TEST(counts_the_types_of_a_file_of_their_own),
        FOLDER_TEST(reads_npy_files),
        FOLDER_TEST(reads_columns_of_edges_from_files_of_their_own),
        FOLDER_TEST(makes_dense_rows_of_sparse_features),
        FOLDER_TEST(places_features_of_a_type_at_its_first_node),
        FOLDER_TEST(types_that_are_told_apart_keep_their_widths),
        FOLDER_TEST(relations_of_one_type_have_names),
        FOLDER_TEST(reads_several_label_columns),
        FOLDER_TEST(names_file_line_expected_and_found),
        FOLDER_TEST(says_what_is_missing),
        FOLDER_TEST(refuses_features_of_another_shape),
        FOLDER_TEST(gives_everything_back_when_memory_fails),
        cmocka_unit_test(counts_real_datasets_as_their_readmes_do),
        cmocka_unit_test(counts_the_relations_of_a_knowledge_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
