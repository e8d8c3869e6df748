/* The arrays of a dataset: edge_chunk, feature_chunk, node_labels, node_splits, node_ids. */
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"

#include "tests/support/edge_values.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static struct store *store;

static int set_up(void **state)
{
    const int failed = temp_store_setup(state);
    store = ((struct temp_store *)*state)->store;
    return failed;
}

/* Replaces what stands at `key` by this record. */
static void put(struct key key, const struct record *record)
{
    struct error err = {0};
    assert_ok(store_remove(store, key.text, &err), &err);
    assert_ok(store_put(store, key.text, "d", record, STORE_DURABLE, &err), &err);
}

/* --- edges --- */

/* The arrays of an edge chunk, to be spoilt one by one. */
struct raw_edges {
    uint64_t range[3];
    uint64_t row_start[4], row_count;
    uint32_t neighbor[4];
    uint64_t neighbor_count, weight_count;
    const uint32_t *widths; /* [5]; NULL: weights alone */
};

static struct raw_edges good_edges(void)
{
    return (struct raw_edges){.range = {10, 3, 4},
                              .row_start = {0, 2, 2, 4},
                              .row_count = 4,
                              .neighbor = {1, 1, 0, 7},
                              .neighbor_count = 4,
                              .weight_count = 4};
}

static void expect_edges_corrupt(const struct raw_edges *raw, const char *message)
{
    static const float weight[4] = {0};
    static const uint32_t weight_alone[] = {1};
    struct error err = {0};
    struct edge_chunk out;
    struct record record = {.kind = RECORD_EDGE_CHUNK, .version = 2};
    record_add(&record, "range", ELEMENT_U64, raw->range, 3);
    record_add(&record, "row_start", ELEMENT_U64, raw->row_start, raw->row_count);
    record_add(&record, "neighbor", ELEMENT_U32, raw->neighbor, raw->neighbor_count);
    record_add(&record, "edge_widths", ELEMENT_U32, raw->widths ? raw->widths : weight_alone,
               raw->widths ? 5 : 1);
    record_add(&record, "weight", ELEMENT_F32, weight, raw->weight_count);
    put(key_edge_chunk("d", 2), &record);
    assert_fails(edge_chunk_get(store, "d", 2, &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "dataset/d/edges/0000000002"));
    assert_null(out.view.data);
}

static void edges_come_back_as_they_were_stored(void **state)
{
    (void)state;
    const uint64_t row_start[] = {0, 2, 2, 4};
    const uint32_t neighbor[] = {1, 1, 0, 7};
    const float weight[] = {0.5F, -1, 2, 3};
    const int64_t time[] = {1, 2, 3, 4000000000};
    const uint16_t edge_type[] = {0, 1, 65535, 2};
    struct error err = {0};
    struct edge_chunk out, chunk = {.first_node = 10,
                                    .node_count = 3,
                                    .edge_count = 4,
                                    .row_start = row_start,
                                    .neighbor = neighbor,
                                    .columns = edge_values(weight, time, edge_type)};
    const float feature[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    chunk.columns.width.of[EDGE_FEATURE] = 3;
    chunk.columns.data[EDGE_FEATURE] = feature;
    assert_ok(edge_chunk_put(store, "d", 0, &chunk, &err), &err);
    assert_ok(edge_chunk_get(store, "d", 0, &out, &err), &err);
    assert_int_equal(out.first_node, 10);
    assert_int_equal(out.node_count, 3);
    assert_int_equal(out.edge_count, 4);
    assert_memory_equal(out.row_start, row_start, sizeof row_start);
    assert_memory_equal(out.neighbor, neighbor, sizeof neighbor);
    assert_true(edge_widths_equal(&out.columns.width, &chunk.columns.width));
    assert_memory_equal(out.columns.data[EDGE_WEIGHT], weight, sizeof weight);
    assert_memory_equal(out.columns.data[EDGE_TIME], time, sizeof time);
    assert_memory_equal(out.columns.data[EDGE_TYPE], edge_type, sizeof edge_type);
    assert_memory_equal(out.columns.data[EDGE_FEATURE], feature, sizeof feature);
    store_release_record(&out.view);

    chunk.columns = (struct edge_columns_view){0};
    assert_ok(edge_chunk_put(store, "d", 1, &chunk, &err), &err);
    assert_ok(edge_chunk_get(store, "d", 1, &out, &err), &err);
    assert_int_equal(edge_widths_bytes(&out.columns.width), 0);
    store_release_record(&out.view);
}

static void refuses_edges_with_a_wrong_range(void **state)
{
    (void)state;
    struct raw_edges raw = good_edges();
    raw.range[1] = 0;
    expect_edges_corrupt(&raw, "\"range\" nodes: expected 1 to 1048576, found 0");
    raw.range[1] = 1048577;
    expect_edges_corrupt(&raw, "\"range\" nodes: expected 1 to 1048576, found 1048577");
    raw = good_edges();
    raw.range[0] = UINT32_MAX - 2;
    expect_edges_corrupt(&raw, "\"range\" first node: expected 0 to 4294967292, found 4294967293");
    raw = good_edges();
    raw.range[2] = EDGE_CHUNK_EDGES_MAX + 1;
    expect_edges_corrupt(&raw, "expected at most 16777216 edges of several nodes, found 16777217");
}

static void refuses_edges_with_wrong_lengths(void **state)
{
    (void)state;
    struct raw_edges raw = good_edges();
    raw.row_count = 3;
    expect_edges_corrupt(&raw, "row_start");
    raw = good_edges();
    raw.neighbor_count = 3;
    expect_edges_corrupt(&raw, "neighbor");
    raw = good_edges();
    raw.weight_count = 2;
    expect_edges_corrupt(&raw, "weight");
}

static void refuses_columns_that_are_not_there(void **state)
{
    (void)state;
    static const uint32_t lacking[5] = {1, 1, 0, 0, 3}, wide[5] = {2, 0, 0, 0, 3},
                          none[5] = {1, 0, 0, 0, 0}, features[5] = {0, 0, 0, 0, 65537};
    struct raw_edges raw = good_edges();
    raw.widths = lacking;
    expect_edges_corrupt(&raw, "edge_type");
    raw.widths = wide;
    expect_edges_corrupt(&raw, "column weight: expected at most 1 elements an edge, found 2");
    raw.widths = none;
    expect_edges_corrupt(&raw, "expected 1 to 7 columns, the last of them there, found 5");
    raw.widths = features;
    expect_edges_corrupt(&raw, "column edge_feature: expected at most 65536 elements an edge");
}

static void wide_edges_make_smaller_chunks(void **state)
{
    (void)state;
    const struct edge_widths bare = {{0}}, wide = {{[EDGE_FEATURE] = 127}};
    assert_int_equal(edge_chunk_edges_max(&bare), EDGE_CHUNK_EDGES_MAX);
    assert_int_equal(edge_chunk_edges_max(&wide), (1 << 29) / 512);
}

static void refuses_rows_that_are_out_of_order(void **state)
{
    (void)state;
    struct raw_edges raw = good_edges();
    raw.row_start[0] = 1;
    expect_edges_corrupt(&raw, "\"row_start\" entry 0: expected 0, found 1");
    raw = good_edges();
    raw.row_start[2] = 1;
    expect_edges_corrupt(&raw, "\"row_start\" entry 2: expected at least 2, found 1");
    raw.row_start[2] = 5;
    expect_edges_corrupt(&raw, "\"row_start\" entry 2: expected below 5, found 5");
    raw = good_edges();
    raw.row_start[3] = 3;
    expect_edges_corrupt(&raw, "\"row_start\" entry 3: expected 4, found 3");
    raw = good_edges();
    raw.neighbor[3] = 0;
    raw.neighbor[2] = 1;
    expect_edges_corrupt(&raw, "\"neighbor\" entry 3: expected 1 or more (rows ascend), found 0");
}

/* --- features --- */

static void a_feature_chunk_has_a_multiple_of_256_rows(void **state)
{
    (void)state;
    assert_int_equal(feature_chunk_rows(1), 4194304);
    assert_int_equal(feature_chunk_rows(100), 41728);
    assert_int_equal(feature_chunk_rows(1433), 2816);
    assert_int_equal(feature_chunk_rows(16384), 256);
    assert_int_equal(feature_chunk_rows(1 << 24), 256);
}

static void features_come_back_as_they_were_stored(void **state)
{
    (void)state;
    const float row[] = {1, 2, 3, -4, 5, 6};
    struct error err = {0};
    struct feature_chunk out;
    const struct feature_chunk chunk = {.first_node = 5, .node_count = 2, .dim = 3, .row = row};
    assert_ok(feature_chunk_put(store, "d", 7, &chunk, &err), &err);
    assert_ok(feature_chunk_get(store, "d", 7, &out, &err), &err);
    assert_int_equal(out.first_node, 5);
    assert_int_equal(out.node_count, 2);
    assert_int_equal(out.dim, 3);
    assert_memory_equal(out.row, row, sizeof row);
    store_release_record(&out.view);
}

static void expect_features_corrupt(const uint64_t range[3], uint64_t count, const char *message)
{
    static const float row[600] = {0};
    struct error err = {0};
    struct feature_chunk out;
    struct record record = {.kind = RECORD_FEATURE_CHUNK, .version = 1};
    record_add(&record, "range", ELEMENT_U64, range, 3);
    record_add(&record, "row", ELEMENT_F32, row, count);
    put(key_feature_chunk("d", 0), &record);
    assert_fails(feature_chunk_get(store, "d", 0, &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "dataset/d/features/0000000000"));
}

static void refuses_features_that_do_not_fit_their_range(void **state)
{
    (void)state;
    expect_features_corrupt((const uint64_t[]){0, 0, 3}, 0,
                            "nodes: expected 1 to 4194304, found 0");
    expect_features_corrupt((const uint64_t[]){UINT32_MAX, 1, 3}, 3,
                            "first node: expected 0 to 4294967294, found 4294967295");
    expect_features_corrupt((const uint64_t[]){0, 1, 0}, 0,
                            "dim: expected 1 to 4294967295, found 0");
    expect_features_corrupt((const uint64_t[]){0, 257, 16384}, 600,
                            "expected at most 256 rows of 16384 numbers, found 257");
    expect_features_corrupt((const uint64_t[]){0, 2, 3}, 5, "row");
}

/* --- labels --- */

static void labels_come_back_as_they_were_stored(void **state)
{
    (void)state;
    const int32_t label[] = {3, -1, 0};
    const float multi[] = {1, 0, NAN, NAN, 0, 0};
    struct error err = {0};
    struct node_labels out,
        labels = {.node_count = 3, .task = TASK_SINGLE_LABEL, .class_count = 4, .row = label};
    assert_ok(node_labels_put(store, "d", &labels, &err), &err);
    assert_ok(node_labels_get(store, "d", &out, &err), &err);
    assert_int_equal(out.node_count, 3);
    assert_int_equal(out.class_count, 4);
    assert_int_equal(out.task, TASK_SINGLE_LABEL);
    assert_memory_equal(out.row, label, sizeof label);
    store_release_record(&out.view);

    labels = (struct node_labels){
        .node_count = 3, .task = TASK_MULTI_LABEL, .class_count = 2, .row = multi};
    assert_ok(node_labels_put(store, "e", &labels, &err), &err);
    assert_ok(node_labels_get(store, "e", &out, &err), &err);
    assert_int_equal(out.class_count, 2);
    assert_int_equal(out.task, TASK_MULTI_LABEL);
    assert_memory_equal(out.row, multi, sizeof multi);
    store_release_record(&out.view);
}

static void expect_labels_corrupt(const uint64_t shape[2], const char *task, const void *data,
                                  uint64_t count, const char *message)
{
    struct error err = {0};
    struct node_labels out;
    struct record record = {.kind = RECORD_NODE_LABELS, .version = 2};
    record_add(&record, "shape", ELEMENT_U64, shape, 2);
    record_add_text(&record, "task", task);
    record_add(&record, "label", strcmp(task, "multi_label") == 0 ? ELEMENT_F32 : ELEMENT_I32, data,
               count);
    put(key_dataset("d", "labels"), &record);
    assert_fails(node_labels_get(store, "d", &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "dataset/d/labels"));
}

static void refuses_labels_that_are_none(void **state)
{
    (void)state;
    const int32_t label[] = {0, -2}, high[] = {0, 3};
    const float three[] = {0, 1, 1, 0.5F}, half_row[] = {0, 1, 1, NAN}, other[] = {NAN, 1, 1, 0};
    const uint64_t shape[] = {2, 2};
    expect_labels_corrupt(shape, "single_label", label, 2,
                          "\"label\" of node 1: expected -1 to 1, found -2");
    expect_labels_corrupt(shape, "single_label", high, 2,
                          "\"label\" of node 1: expected -1 to 1, found 3");
    expect_labels_corrupt(shape, "single_label", label, 1, "label");
    expect_labels_corrupt(shape, "multi_label", three, 4,
                          "\"label\" of node 1: column 2: expected 0 or 1");
    expect_labels_corrupt(shape, "multi_label", half_row, 4, "of node 1: column 2: expected");
    expect_labels_corrupt(shape, "multi_label", other, 4, "of node 0: column 2: expected");
    expect_labels_corrupt(shape, "multi_label", three, 3, "label");
    expect_labels_corrupt((const uint64_t[]){0, 1}, "single_label", label, 0,
                          "\"shape\" nodes: expected 1 to 4294967294, found 0");
    expect_labels_corrupt((const uint64_t[]){2, 0}, "multi_label", three, 4,
                          "\"shape\" classes: expected 1 to 2147483647, found 0");
    expect_labels_corrupt(shape, "haruspicy", label, 2,
                          "\"task\": expected one that this program has, found haruspicy");
    expect_labels_corrupt(shape, "none", label, 2, "\"task\": expected one");
}

/* --- splits --- */

static void splits_come_back_as_they_were_stored(void **state)
{
    (void)state;
    const uint32_t train[] = {1, 5}, test[] = {0, 2, 9};
    struct error err = {0};
    struct node_splits out;
    const struct node_splits splits = {.count = {2, 0, 3}, .node = {train, NULL, test}};
    const char *key = "partition/p/splits";
    assert_ok(node_splits_put(store, key, "p", &splits, &err), &err);
    assert_ok(node_splits_get(store, key, "p", &out, &err), &err);
    assert_memory_equal(out.count, splits.count, sizeof splits.count);
    assert_memory_equal(out.node[SPLIT_TRAIN], train, sizeof train);
    assert_memory_equal(out.node[SPLIT_TEST], test, sizeof test);
    store_release_record(&out.view);
    assert_fails(node_splits_get(store, key, "other", &out, &err), ERROR_CORRUPT, key, &err);
}

static void expect_splits_corrupt(const uint32_t *train, uint32_t train_count, const uint32_t *test,
                                  uint32_t test_count, const char *message)
{
    struct error err = {0};
    struct node_splits out;
    const struct key key = key_dataset("d", "splits");
    const struct node_splits splits = {.count = {train_count, 0, test_count},
                                       .node = {train, NULL, test}};
    assert_ok(store_remove(store, key.text, &err), &err);
    assert_ok(node_splits_put(store, key.text, "d", &splits, &err), &err);
    assert_fails(node_splits_get(store, key.text, "d", &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, key.text));
}

static void refuses_splits_out_of_order_or_overlapping(void **state)
{
    (void)state;
    const uint32_t down[] = {4, 3}, twice[] = {4, 4}, three[] = {1, 3, 4};
    expect_splits_corrupt(down, 2, NULL, 0, "\"train\" entry 1: expected above 4, found 3");
    expect_splits_corrupt(three, 3, twice, 2, "\"test\" entry 1: expected above 4, found 4");
    expect_splits_corrupt(three, 3, twice, 1, "found node 4 in \"train\" and \"test\"");
}

static void refuses_splits_without_a_section(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_splits out;
    struct record record = {.kind = RECORD_NODE_SPLITS, .version = 1};
    record_add(&record, "train", ELEMENT_U32, NULL, 0);
    put(key_dataset("d", "splits"), &record);
    assert_fails(node_splits_get(store, "dataset/d/splits", "d", &out, &err), ERROR_CORRUPT,
                 "valid", &err);
}

/* --- ids --- */

static void ids_come_back_as_they_were_stored(void **state)
{
    (void)state;
    const int64_t integer[] = {-5, INT64_MAX, 0};
    const uint64_t offset[] = {0, 2, 2, 5};
    struct error err = {0};
    struct node_ids out, ids = {.node_count = 3, .integer = integer};
    assert_ok(node_ids_put(store, "d", &ids, &err), &err);
    assert_ok(node_ids_get(store, "d", &out, &err), &err);
    assert_int_equal(out.node_count, 3);
    assert_memory_equal(out.integer, integer, sizeof integer);
    assert_null(out.offset);
    store_release_record(&out.view);

    ids = (struct node_ids){.node_count = 3, .offset = offset, .text = "abcde"};
    assert_ok(node_ids_put(store, "e", &ids, &err), &err);
    assert_ok(node_ids_get(store, "e", &out, &err), &err);
    assert_int_equal(out.node_count, 3);
    assert_memory_equal(out.offset, offset, sizeof offset);
    assert_memory_equal(out.text, "abcde", 5);
    assert_null(out.integer);
    store_release_record(&out.view);
}

static void expect_ids_corrupt(const uint64_t *offset, uint64_t count, const char *message)
{
    struct error err = {0};
    struct node_ids out;
    struct record record = {.kind = RECORD_NODE_IDS, .version = 1};
    record_add(&record, "offset", ELEMENT_U64, offset, count);
    record_add_text(&record, "text", "abcde");
    put(key_dataset("d", "node_ids"), &record);
    assert_fails(node_ids_get(store, "d", &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "dataset/d/node_ids"));
}

static void refuses_ids_with_wrong_offsets(void **state)
{
    (void)state;
    expect_ids_corrupt((const uint64_t[]){0}, 1, "\"offset\" length: expected 2 to 4294967295");
    expect_ids_corrupt((const uint64_t[]){1, 5}, 2, "\"offset\" entry 0: expected 0, found 1");
    expect_ids_corrupt((const uint64_t[]){0, 3, 2, 5}, 4,
                       "\"offset\" entry 2: expected at least 3, found 2");
    expect_ids_corrupt((const uint64_t[]){0, 6}, 2,
                       "\"offset\" entry 1: expected below 6, found 6");
    expect_ids_corrupt((const uint64_t[]){0, 4}, 2, "\"offset\" entry 1: expected 5, found 4");
}

static void refuses_an_id_record_without_ids(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_ids out;
    struct record record = {.kind = RECORD_NODE_IDS, .version = 1};
    record_add(&record, "integer", ELEMENT_I64, NULL, 0);
    put(key_dataset("d", "node_ids"), &record);
    assert_fails(node_ids_get(store, "d", &out, &err), ERROR_CORRUPT,
                 "\"integer\" length: expected 1 to 4294967294, found 0", &err);
}

static void refuses_arrays_of_another_kind(void **state)
{
    (void)state;
    struct error err = {0};
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    struct edge_chunk edges;
    struct feature_chunk features;
    struct node_labels labels;
    struct node_splits splits;
    struct node_ids ids;
    put(key_edge_chunk("d", 0), &record);
    put(key_feature_chunk("d", 0), &record);
    put(key_dataset("d", "labels"), &record);
    put(key_dataset("d", "splits"), &record);
    put(key_dataset("d", "node_ids"), &record);
    assert_fails(edge_chunk_get(store, "d", 0, &edges, &err), ERROR_CORRUPT, "gradient", &err);
    assert_fails(feature_chunk_get(store, "d", 0, &features, &err), ERROR_CORRUPT, "gradient",
                 &err);
    assert_fails(node_labels_get(store, "d", &labels, &err), ERROR_CORRUPT, "gradient", &err);
    assert_fails(node_splits_get(store, "dataset/d/splits", "d", &splits, &err), ERROR_CORRUPT,
                 "gradient", &err);
    assert_fails(node_ids_get(store, "d", &ids, &err), ERROR_CORRUPT, "gradient", &err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, temp_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(edges_come_back_as_they_were_stored),
        TEST(refuses_edges_with_a_wrong_range),
        TEST(refuses_edges_with_wrong_lengths),
        TEST(refuses_columns_that_are_not_there),
        TEST(wide_edges_make_smaller_chunks),
        TEST(refuses_rows_that_are_out_of_order),
        TEST(a_feature_chunk_has_a_multiple_of_256_rows),
        TEST(features_come_back_as_they_were_stored),
        TEST(refuses_features_that_do_not_fit_their_range),
        TEST(labels_come_back_as_they_were_stored),
        TEST(refuses_labels_that_are_none),
        TEST(splits_come_back_as_they_were_stored),
        TEST(refuses_splits_out_of_order_or_overlapping),
        TEST(refuses_splits_without_a_section),
        TEST(ids_come_back_as_they_were_stored),
        TEST(refuses_ids_with_wrong_offsets),
        TEST(refuses_an_id_record_without_ids),
        TEST(refuses_arrays_of_another_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
