#include "store/objects/keys.h"
#include "store/records/dataset/edge_splits.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char key[] = "partition/p-1/edge_splits";
static const uint32_t valid_source[] = {4, 0}, valid_target[] = {1, 3};
static const uint32_t test_source[] = {2}, test_target[] = {2};
static const struct edge_splits good = {.undirected = true,
                                        .count = {2, 1},
                                        .source = {valid_source, test_source},
                                        .target = {valid_target, test_target}};

static void splits_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct edge_splits read;
    assert_string_equal(key_partition("p-1", "edge_splits").text, key);
    assert_ok(edge_splits_put(t->store, key, "p-1", &good, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_true(read.undirected);
    assert_int_equal(read.count[HELD_OUT_VALID], 2);
    assert_int_equal(read.count[HELD_OUT_TEST], 1);
    assert_memory_equal(read.source[HELD_OUT_VALID], valid_source, sizeof valid_source);
    assert_memory_equal(read.target[HELD_OUT_VALID], valid_target, sizeof valid_target);
    assert_int_equal(read.target[HELD_OUT_TEST][0], 2);
    assert_null(read.type[HELD_OUT_VALID]);
    store_release_record(&read.view);
    assert_fails(edge_splits_get(t->store, "partition/p-2/edge_splits", "p-2", 5, &read, &t->err),
                 ERROR_NOT_FOUND, "p-2", &t->err);
}

static void types_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    const uint16_t valid_type[] = {7, 65535}, test_type[] = {0};
    struct edge_splits typed = good, read;
    typed.type[HELD_OUT_VALID] = valid_type;
    typed.type[HELD_OUT_TEST] = test_type;
    assert_ok(edge_splits_put(t->store, key, "p-1", &typed, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_memory_equal(read.type[HELD_OUT_VALID], valid_type, sizeof valid_type);
    assert_int_equal(read.type[HELD_OUT_TEST][0], 0);
    store_release_record(&read.view);
    const struct tamper change = {"valid_type", ELEMENT_U16, valid_type, 1};
    record_tamper(t->store, key, "p-1", &change);
    assert_fails(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "valid_type: expected 2 elements, found 1", &t->err);
}

static void wrong_ends_are_refused(void **state)
{
    struct temp_store *t = *state;
    struct edge_splits read;
    assert_ok(edge_splits_put(t->store, key, "p-1", &good, &t->err), &t->err);
    assert_fails(edge_splits_get(t->store, key, "p-1", 4, &read, &t->err), ERROR_CORRUPT,
                 "\"valid_source\" entry 0: expected below 4, found 4", &t->err);
    const struct tamper change = {"test_target", ELEMENT_U32, valid_target, 2};
    record_tamper(t->store, key, "p-1", &change);
    assert_fails(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "test_target: expected 1 elements, found 2", &t->err);
    assert_int_equal(read.count[HELD_OUT_VALID], 0);
}

/* Records of earlier releases hold times as doubles, and so do versions of their datasets. */
static void times_of_an_earlier_release_are_read_as_doubles(void **state)
{
    static const double valid_time[] = {1289241911.72836, -2.5}, test_time[] = {7},
                        endless[] = {(double)INFINITY};
    struct temp_store *t = *state;
    struct edge_splits read, old = good;
    struct record_view view;
    old.is_timed = true;
    old.time[HELD_OUT_VALID] = (struct edge_times){valid_time, true};
    old.time[HELD_OUT_TEST] = (struct edge_times){test_time, true};
    assert_ok(edge_splits_put(t->store, key, "p-1", &old, &t->err), &t->err);
    assert_ok(store_get(t->store, key, "p-1", &view, &t->err), &t->err);
    assert_int_equal(record_section_type(&view, "valid_time"), ELEMENT_F64);
    assert_int_equal(record_section_type(&view, "no_time"), ELEMENT_UNKNOWN);
    store_release_record(&view);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_true(read.is_timed && read.time[HELD_OUT_VALID].are_doubles);
    assert_int_equal(edge_time_at(read.time[HELD_OUT_VALID], 0),
                     edge_time_of_double(valid_time[0]));
    assert_int_equal(edge_time_at(edge_times_from(read.time[HELD_OUT_VALID], 1), 0),
                     edge_time_of_double(-2.5));
    store_release_record(&read.view);
    const struct tamper change = {"test_time", ELEMENT_F64, endless, 1};
    record_tamper(t->store, key, "p-1", &change);
    assert_fails(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "\"test_time\" entry 0: expected a finite number", &t->err);
}

static void labels_and_times_read_back(void **state)
{
    static const float valid_label[] = {1, -0.5F}, test_label[] = {3}, endless[] = {INFINITY};
    static const int64_t valid_time[] = {INT64_MAX, -2}, test_time[] = {7};
    static const uint64_t classes[] = {5, 0, 9};
    struct temp_store *t = *state;
    struct edge_splits read, labelled = good;
    assert_ok(edge_splits_put(t->store, key, "p-1", &good, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_true(!read.is_labelled && !read.is_timed && read.class_count == 0);
    store_release_record(&read.view);
    labelled.is_labelled = labelled.is_timed = true;
    labelled.label[HELD_OUT_VALID] = valid_label;
    labelled.label[HELD_OUT_TEST] = test_label;
    labelled.time[HELD_OUT_VALID].word = valid_time;
    labelled.time[HELD_OUT_TEST].word = test_time;
    labelled.class_count = 3;
    labelled.train_class = classes;
    static const char own[] = "partition/p-3/edge_splits";
    assert_ok(edge_splits_put(t->store, own, "p-3", &labelled, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, own, "p-3", 5, &read, &t->err), &t->err);
    assert_true(read.is_labelled && read.is_timed);
    assert_memory_equal(read.label[HELD_OUT_VALID], valid_label, sizeof valid_label);
    assert_memory_equal(read.time[HELD_OUT_TEST].word, test_time, sizeof test_time);
    assert_int_equal(read.class_count, 3);
    assert_memory_equal(read.train_class, classes, sizeof classes);
    store_release_record(&read.view);
    const struct tamper longer = {"test_label", ELEMENT_F32, valid_label, 2};
    record_tamper(t->store, own, "p-3", &longer);
    assert_fails(edge_splits_get(t->store, own, "p-3", 5, &read, &t->err), ERROR_CORRUPT,
                 "test_label: expected 1 elements, found 2", &t->err);
    const struct tamper broken = {"test_label", ELEMENT_F32, endless, 1};
    record_tamper(t->store, own, "p-3", &broken);
    assert_fails(edge_splits_get(t->store, own, "p-3", 5, &read, &t->err), ERROR_CORRUPT,
                 "\"test_label\" entry 0: expected a finite number", &t->err);
}

/* A record without messages is of version 1, as before there were any. */
static void messages_read_back(void **state)
{
    static const float valid_weight[] = {1, -0.5F}, test_weight[] = {3}, endless[] = {INFINITY};
    static const float valid_feature[] = {1, 2, 3, 4, 5, 6}, test_feature[] = {7, 8, 9};
    static const char own[] = "partition/p-4/edge_splits";
    struct temp_store *t = *state;
    struct edge_splits read, of_messages = good;
    assert_ok(edge_splits_put(t->store, key, "p-1", &good, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_int_equal(read.view.version, 1);
    assert_true(!read.has_weights && read.feature_dim == 0);
    store_release_record(&read.view);
    of_messages.has_weights = true;
    of_messages.weight[HELD_OUT_VALID] = valid_weight;
    of_messages.weight[HELD_OUT_TEST] = test_weight;
    of_messages.feature_dim = 3;
    of_messages.feature[HELD_OUT_VALID] = valid_feature;
    of_messages.feature[HELD_OUT_TEST] = test_feature;
    assert_ok(edge_splits_put(t->store, own, "p-4", &of_messages, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, own, "p-4", 5, &read, &t->err), &t->err);
    assert_int_equal(read.view.version, 2);
    assert_true(read.has_weights);
    assert_int_equal(read.feature_dim, 3);
    assert_memory_equal(read.weight[HELD_OUT_VALID], valid_weight, sizeof valid_weight);
    assert_memory_equal(read.feature[HELD_OUT_VALID], valid_feature, sizeof valid_feature);
    assert_memory_equal(read.feature[HELD_OUT_TEST], test_feature, sizeof test_feature);
    store_release_record(&read.view);
    const struct tamper longer = {"test_feature", ELEMENT_F32, valid_feature, 6};
    record_tamper(t->store, own, "p-4", &longer);
    assert_fails(edge_splits_get(t->store, own, "p-4", 5, &read, &t->err), ERROR_CORRUPT,
                 "test_feature: expected 3 elements, found 6", &t->err);
    const struct tamper whole = {"test_feature", ELEMENT_F32, test_feature, 3};
    record_tamper(t->store, own, "p-4", &whole);
    const struct tamper broken = {"test_weight", ELEMENT_F32, endless, 1};
    record_tamper(t->store, own, "p-4", &broken);
    assert_fails(edge_splits_get(t->store, own, "p-4", 5, &read, &t->err), ERROR_CORRUPT,
                 "\"test_weight\" entry 0: expected a finite number", &t->err);
}

static void given_negatives_read_back(void **state)
{
    static const uint64_t valid_start[] = {0, 2, 3}, train_start[] = {0, 1, 4}, empty[] = {0, 2, 2};
    static const uint32_t valid_node[] = {4, 4, 0}, train_node[] = {1, 2, 3, 4},
                          outside[] = {4, 5, 0};
    static const uint32_t train_source[] = {3, 0}, train_target[] = {0, 1};
    struct temp_store *t = *state;
    struct edge_splits given = good, read;
    given.negative[HELD_OUT_VALID] = (struct negative_ends){valid_start, valid_node};
    given.trained = (struct trained_negatives){.count = 2,
                                               .source = train_source,
                                               .target = train_target,
                                               .ends = {train_start, train_node}};
    assert_ok(edge_splits_put(t->store, key, "p-1", &given, &t->err), &t->err);
    assert_ok(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), &t->err);
    assert_memory_equal(read.negative[HELD_OUT_VALID].start, valid_start, sizeof valid_start);
    assert_memory_equal(read.negative[HELD_OUT_VALID].node, valid_node, sizeof valid_node);
    assert_null(read.negative[HELD_OUT_TEST].start);
    assert_int_equal(read.trained.count, 2);
    assert_memory_equal(read.trained.target, train_target, sizeof train_target);
    assert_memory_equal(read.trained.ends.start, train_start, sizeof train_start);
    assert_memory_equal(read.trained.ends.node, train_node, sizeof train_node);
    store_release_record(&read.view);
    const struct tamper changes[] = {{"valid_neg_start", ELEMENT_U64, empty, 3},
                                     {"valid_neg_start", ELEMENT_U64, valid_start, 3},
                                     {"valid_negative", ELEMENT_U32, outside, 3},
                                     {"valid_negative", ELEMENT_U32, valid_node, 2},
                                     {"valid_negative", ELEMENT_U32, valid_node, 3},
                                     {"train_neg_start", ELEMENT_U64, train_start, 2}};
    static const char *const wrong[] = {"\"valid_neg_start\" entry 2: expected above 2, found 2",
                                        NULL,
                                        "\"valid_negative\" entry 1: expected below 5, found 5",
                                        "valid_negative: expected 3 elements, found 2",
                                        NULL,
                                        "train_neg_start: expected 3 elements, found 2"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        record_tamper(t->store, key, "p-1", &changes[i]);
        if (wrong[i])
            assert_fails(edge_splits_get(t->store, key, "p-1", 5, &read, &t->err), ERROR_CORRUPT,
                         wrong[i], &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(splits_read_back_as_written),
        test_with_store(types_read_back_as_written),
        test_with_store(wrong_ends_are_refused),
        test_with_store(labels_and_times_read_back),
        test_with_store(times_of_an_earlier_release_are_read_as_doubles),
        test_with_store(messages_read_back),
        test_with_store(given_negatives_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
