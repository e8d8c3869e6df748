/* Tests how the builder stores nodes: types, labels, splits, ids, features; and how it refuses bad
 * ones. */
#include "stages/ingest/build/dataset_builder.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <math.h>
#include <stdio.h>

/* ---- bad nodes ------------------------------------------------------------------------------ */

static void the_number_of_nodes_is_checked(void **state)
{
    (void)state;
    struct error err = {0};
    assert_fails(dataset_builder_set_nodes(start("n", ROOMY), 0, false, &err), ERROR_INPUT,
                 "empty graph: expected at least one node, found none", &err);
    assert_fails(dataset_builder_set_nodes(start("n", ROOMY), UINT32_MAX, false, &err), ERROR_INPUT,
                 "expected at most 4294967294 nodes, found 4294967295", &err);
}

static void bad_types_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    const struct node_type gap[] = {{"a", 0, 4, 0}, {"b", 5, 5, 0}},
                           few[] = {{"a", 0, 4, 0}, {"b", 4, 5, 0}};
    const struct edge_type edge_type = {.name = "e"};
    struct dataset_builder *builder = start_nodes("bad", 10);
    assert_fails(dataset_builder_set_types(builder, gap, 2, &edge_type, 1, &err), ERROR_INPUT,
                 "node type b: expected first node 4, found 5", &err);
    assert_fails(dataset_builder_set_types(builder, few, 2, &edge_type, 1, &err), ERROR_INPUT,
                 "node types: expected 10 nodes in all, found 9", &err);
    assert_fails(dataset_builder_set_types(builder, few, 17, &edge_type, 1, &err), ERROR_INPUT,
                 "expected 1 to 16 node types and 1 to 512 edge types, found 17 and 1", &err);
}

static enum error_code set_labels(struct dataset_builder *builder, const char *where,
                                  const int32_t *label, uint64_t count, struct error *err)
{
    const struct label_rows labels = {TASK_SINGLE_LABEL, 1, count, label};
    return dataset_builder_set_labels(builder, where, 1, &labels, err);
}

static void bad_labels_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    const int32_t low[] = {0, -1, -2}, high[] = {0, 1048576, 0};
    const float half[] = {0, 1, 0.5F, 1, NAN, NAN};
    const struct label_rows several = {TASK_MULTI_LABEL, 2, 3, half};
    struct label_rows none = several;
    struct dataset_builder *builder = start_nodes("bad", 3);
    none.columns = 0;
    assert_fails(set_labels(builder, "y.csv", low, 2, &err), ERROR_INPUT,
                 "y.csv: expected 3 labels, one for each node, found 2", &err);
    assert_fails(set_labels(builder, "y.csv", low, 3, &err), ERROR_INPUT,
                 "y.csv:3: label: expected -1 to 0, found -2", &err);
    assert_fails(set_labels(builder, "y.csv", high, 3, &err), ERROR_INPUT,
                 "y.csv: expected at most 1048576 classes, found 1048577", &err);
    assert_fails(dataset_builder_set_labels(builder, "y.npy", 0, &several, &err), ERROR_INPUT,
                 "y.npy:1: label: column 1: expected 0 or 1", &err);
    assert_fails(dataset_builder_set_labels(builder, "y.npy", 0, &none, &err), ERROR_INPUT,
                 "y.npy: expected 1 or more label columns, found 0", &err);
}

static void bad_splits_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t nodes[] = {2, 1, 1}, far[] = {2, 3};
    const int32_t label[] = {0, -1, 1};
    struct dataset_builder *builder = start_nodes("bad", 3);
    assert_fails(dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 5, nodes, 3, &err),
                 ERROR_INPUT, "train.csv:7: node 1 is in the train split twice", &err);
    assert_fails(dataset_builder_set_split(builder, SPLIT_TEST, "test.csv", 5, nodes, 1, &err),
                 ERROR_INPUT, "test.csv:5: node 2 of the test split is in the train split already",
                 &err);
    builder = start_nodes("bad", 3);
    assert_fails(dataset_builder_set_split(builder, SPLIT_VALID, "valid.csv", 1, far, 2, &err),
                 ERROR_INPUT, "valid.csv:2: node 3 is out of range: expected a node id from 0 to 2",
                 &err);
    builder = start_nodes("bad", 3);
    assert_ok(dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 1, nodes, 2, &err),
              &err);
    assert_ok(set_labels(builder, "y.csv", label, 3, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "train.csv:2: node 1 has no label: expected one for every training node", &err);
}

static void a_task_without_its_labels_is_refused(void **state)
{
    (void)state;
    struct error err = {0};
    const int32_t label[] = {0, 1, 1};
    fixture.settings.ingest.task = TASK_SINGLE_LABEL;
    assert_fails(dataset_builder_finish(start_nodes("bad", 3), NULL, &err), ERROR_INVALID,
                 "ingest.task is single_label, but the input has no labels", &err);
    fixture.settings.ingest.task = TASK_MULTI_LABEL;
    struct dataset_builder *builder = start_nodes("bad", 3);
    assert_ok(set_labels(builder, "y.csv", label, 3, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INVALID,
                 "ingest.task is multi_label, but the input has labels of single_label", &err);
}

/* ---- legal cases
 * ------------------------------------------------------------------------------ */

static void one_node_without_edges_is_a_graph(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct edge_chunk chunk;
    bool found = true;
    assert_ok(dataset_builder_finish(start_nodes("one", 1), NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "one", &schema, &err), &err);
    assert_int_equal(schema.node_count, 1);
    assert_int_equal(schema.edge_count, 0);
    assert_int_equal(schema.task, TASK_NONE);
    assert_string_equal(schema.feature_origin, "degree+random");
    assert_ok(edge_chunk_get(fixture.store, "one", 0, &chunk, &err), &err);
    assert_int_equal(chunk.edge_count, 0);
    store_release_record(&chunk.view);
    assert_ok(store_has(fixture.store, "dataset/one/labels", &found, &err), &err);
    assert_false(found);
}

static void labels_splits_features_and_ids_are_stored(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct node_labels labels;
    struct node_splits splits;
    struct node_ids ids;
    const int64_t train[] = {2, 0}, test[] = {1}, id[] = {-7, 100, 3};
    const int32_t label[] = {4, -1, 0};
    const float row[] = {1, 2, 3};
    const struct node_ids given = {.node_count = 3, .integer = id};
    struct dataset_builder *builder = start_nodes("full", 3);
    assert_ok(dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 1, train, 2, &err),
              &err);
    assert_ok(dataset_builder_set_split(builder, SPLIT_TEST, "test.csv", 1, test, 1, &err), &err);
    assert_ok(dataset_builder_add_features(builder, "x.npy", row, 3, 1, &err), &err);
    assert_ok(set_labels(builder, "y.csv", label, 3, &err), &err);
    assert_ok(dataset_builder_set_ids(builder, &given, &err), &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    assert_int_equal(schema.task, TASK_SINGLE_LABEL);
    assert_int_equal(schema.class_count, 5);
    assert_int_equal(schema.train_count, 2);
    assert_int_equal(schema.node_id_form, NODE_ID_INTEGER);
    assert_string_equal(schema.feature_origin, "given");

    assert_ok(node_labels_get(fixture.store, "full", &labels, &err), &err);
    assert_memory_equal(labels.row, label, sizeof label);
    store_release_record(&labels.view);
    assert_ok(node_splits_get(fixture.store, "dataset/full/splits", "full", &splits, &err), &err);
    assert_int_equal(splits.node[SPLIT_TRAIN][0], 0);
    assert_int_equal(splits.node[SPLIT_TRAIN][1], 2);
    assert_int_equal(splits.count[SPLIT_VALID], 0);
    assert_int_equal(splits.node[SPLIT_TEST][0], 1);
    store_release_record(&splits.view);
    assert_ok(node_ids_get(fixture.store, "full", &ids, &err), &err);
    assert_memory_equal(ids.integer, id, sizeof id);
    store_release_record(&ids.view);
}

static void several_labels_a_node_and_text_ids_are_stored(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct node_labels labels;
    struct node_ids ids;
    const float label[] = {1, 0, NAN, NAN};
    const int64_t train[] = {0};
    const uint64_t offset[] = {0, 3, 6};
    const struct node_ids given = {.node_count = 2, .offset = offset, .text = "onetwo"};
    struct dataset_builder *builder = start_nodes("multi", 2);
    assert_ok(dataset_builder_set_labels(builder, "y.npy", 0,
                                         &(struct label_rows){TASK_MULTI_LABEL, 2, 2, label}, &err),
              &err);
    assert_ok(dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 1, train, 1, &err),
              &err);
    assert_ok(dataset_builder_set_ids(builder, &given, &err), &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    assert_int_equal(schema.task, TASK_MULTI_LABEL);
    assert_int_equal(schema.class_count, 2);
    assert_int_equal(schema.node_id_form, NODE_ID_STRING);
    assert_ok(node_labels_get(fixture.store, "multi", &labels, &err), &err);
    assert_memory_equal(labels.row, label, sizeof label);
    store_release_record(&labels.view);
    assert_ok(node_ids_get(fixture.store, "multi", &ids, &err), &err);
    assert_memory_equal(ids.text, "onetwo", 6);
    store_release_record(&ids.view);
}

/* 0 -> 1, 0 -> 2, 2 -> 2 and a repeated 0 -> 1: node 0 has two outgoing edges and no incoming
 * one. */
/* Draws the splits of 200 nodes, of which the first `labelled` have labels, by the setting
 * `split`. */
static void drawn(const char *split, int labelled, uint64_t seed, struct node_splits *splits)
{
    struct error err = {0};
    int32_t label[200];
    static int run;
    char id[32], key[64];
    (void)snprintf(id, sizeof id, "drawn-%d", run++);
    (void)snprintf(key, sizeof key, "dataset/%s/splits", id);
    for (int i = 0; i < 200; i++)
        label[i] = i < labelled ? i % 3 : -1;
    fixture.settings.seed = (int64_t)seed;
    (void)snprintf(fixture.settings.ingest.split, sizeof fixture.settings.ingest.split, "%s",
                   split);
    struct dataset_builder *builder = start_nodes(id, 200);
    assert_ok(set_labels(builder, "l", label, 200, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(node_splits_get(fixture.store, key, id, splits, &err), &err);
}

static void splits_are_drawn_out_of_the_labelled_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *split;
        int labelled, train, valid, test;
    } cases[] = {{"random 60/20/20", 150, 90, 30, 30}, {"random 60/20/20", 7, 4, 2, 1},
                 {"random 1/0/99", 5, 1, 0, 4},        {"random 100/0/0", 200, 200, 0, 0},
                 {"random 34/33/33", 1, 1, 0, 0},      {"random 1/98/1", 1, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct node_splits splits;
        int seen[200] = {0};
        drawn(cases[i].split, cases[i].labelled, 1, &splits);
        assert_int_equal(splits.count[SPLIT_TRAIN], cases[i].train);
        assert_int_equal(splits.count[SPLIT_VALID], cases[i].valid);
        assert_int_equal(splits.count[SPLIT_TEST], cases[i].test);
        for (int s = 0; s < SPLIT_COUNT; s++)
            for (uint32_t j = 0; j < splits.count[s]; j++) {
                assert_true((int)splits.node[s][j] < cases[i].labelled);
                assert_int_equal(seen[splits.node[s][j]]++, 0);
            }
        store_release_record(&splits.view);
    }
}

/* Each node is in each split as often as the share says: over 400 seeds with 10 nodes the counts of
 * a node lie within 5 deviations (of 400 draws with p = 0.6: 49) of the mean. */
static void splits_depend_on_the_seed_alone_and_favour_no_node(void **state)
{
    (void)state;
    int in_train[10] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct node_splits splits;
        drawn("random 60/20/20", 10, seed, &splits);
        for (uint32_t j = 0; j < splits.count[SPLIT_TRAIN]; j++)
            in_train[splits.node[SPLIT_TRAIN][j]]++;
        store_release_record(&splits.view);
    }
    for (int node = 0; node < 10; node++)
        assert_in_range(in_train[node], 240 - 49, 240 + 49);
    struct node_splits first, again;
    drawn("random 50/50/0", 200, 7, &first);
    drawn("random 50/50/0", 200, 7, &again);
    assert_memory_equal(first.node[SPLIT_TRAIN], again.node[SPLIT_TRAIN], 100 * sizeof(uint32_t));
    store_release_record(&first.view);
    store_release_record(&again.view);
}

static void rows_that_are_put_lie_in_the_order_of_nodes(void **state)
{
    (void)state;
    struct error err = {0};
    const float row[3][2] = {{1, 3}, {0, 0}, {-2, 8}};
    struct feature_chunk chunk;
    fixture.settings.ingest.normalise_rows = true;
    struct dataset_builder *builder = start_nodes("put", 3);
    assert_ok(dataset_builder_put_features(builder, "f", 1, 2, row[2], 2, &err), &err);
    assert_ok(dataset_builder_put_features(builder, "f", 2, 0, row[0], 2, &err), &err);
    assert_fails(dataset_builder_put_features(builder, "f", 3, 1, row[1], 1, &err), ERROR_INPUT,
                 "expected 2 feature columns, found 1", &err);
    assert_ok(dataset_builder_put_features(builder, "f", 3, 1, row[1], 2, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(feature_chunk_get(fixture.store, "put", 0, &chunk, &err), &err);
    const float expected[] = {0.375F, 0.625F, 0.5F, 0.5F, 0, 1}; /* the smallest number is -2 */
    for (int i = 0; i < 6; i++)
        assert_true(chunk.row[i] >= expected[i] && chunk.row[i] <= expected[i]);
    store_release_record(&chunk.view);
}

static void messages_name_nodes_by_their_ids(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t twice[] = {1, 1}, train[] = {1};
    const int32_t label[] = {0, -1};
    const uint64_t offset[] = {0, 3, 6};
    const struct node_ids ids = {.node_count = 2, .offset = offset, .text = "annbob"};
    struct dataset_builder *builder = start_nodes("named", 2);
    assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    assert_fails(dataset_builder_set_split(builder, SPLIT_TEST, "test.csv", 1, twice, 2, &err),
                 ERROR_INPUT, "test.csv:2: node 'bob' is in the test split twice", &err);
    builder = start_nodes("named", 2);
    assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    assert_ok(set_labels(builder, "l", label, 2, &err), &err);
    assert_ok(dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 1, train, 1, &err),
              &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "train.csv:1: node 'bob' has no label", &err);
}

static void degree_features_are_of_the_stored_edges(void **state)
{
    (void)state;
    struct error err = {0};
    struct feature_chunk chunk;
    const int64_t source[] = {0, 0, 2, 0}, target[] = {1, 2, 2, 1};
    const double in[] = {0, 1, 2}, out[] = {2, 0, 1};
    const struct edge_piece piece = {.where = "e", .count = 4, .source = source, .target = target};
    fixture.settings.ingest.features.choice = FEATURES_DEGREE;
    struct dataset_builder *builder = start_nodes("degree", 3);
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(feature_chunk_get(fixture.store, "degree", 0, &chunk, &err), &err);
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs((double)chunk.row[2 * i] - log1p(in[i])) < 1e-6);
        assert_true(fabs((double)chunk.row[2 * i + 1] - log1p(out[i])) < 1e-6);
    }
    store_release_record(&chunk.view);
}

static enum error_code build_everything(const char *id, struct error *err)
{
    const struct dataset_builder_config config = {.store = fixture.store,
                                                  .settings = &fixture.settings,
                                                  .dataset_id = id,
                                                  .name = "test",
                                                  .memory_bytes = ROOMY};
    const int64_t ends[] = {0, 1, 2}, train[] = {1};
    const int32_t label[] = {0, 1, 1};
    const float weight[] = {1, 2, 3};
    const struct edge_piece piece = {.where = "e",
                                     .count = 3,
                                     .source = ends,
                                     .target = ends,
                                     .columns = edge_values(weight, NULL, NULL)};
    const struct node_ids ids = {.node_count = 3, .integer = ends};
    struct dataset_builder *builder = NULL;
    enum error_code rc = dataset_builder_new(&config, &builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(builder, 3, false, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_add_edges(builder, &piece, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_add_features(builder, "x", weight, 3, 1, err);
    if (rc == ERROR_NONE)
        rc = set_labels(builder, "y", label, 3, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, SPLIT_TRAIN, "t", 1, train, 1, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_ids(builder, &ids, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_finish(builder, NULL, err);
    dataset_builder_free(builder);
    return rc;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct error err = {0};
    enum error_code rc = ERROR_NO_MEMORY;
    fixture.settings.ingest.normalise_rows = true;
    fixture.settings.ingest.standardise = true;
    fixture.settings.ingest.duplicates = EDGES_REFUSE;
    for (long n = 0; rc != ERROR_NONE; n++) {
        const long before = memory_live_blocks();
        memory_fail_after(n);
        rc = build_everything("scarce", &err);
        memory_fail_after(-1);
        if (rc != ERROR_NONE && rc != ERROR_NO_MEMORY)
            fail_msg("allocation %ld: %s", n, err.message);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(the_number_of_nodes_is_checked),
        FIXTURE_TEST(bad_types_are_named),
        FIXTURE_TEST(bad_labels_are_named),
        FIXTURE_TEST(bad_splits_are_named),
        FIXTURE_TEST(a_task_without_its_labels_is_refused),
        FIXTURE_TEST(one_node_without_edges_is_a_graph),
        FIXTURE_TEST(labels_splits_features_and_ids_are_stored),
        FIXTURE_TEST(several_labels_a_node_and_text_ids_are_stored),
        FIXTURE_TEST(splits_are_drawn_out_of_the_labelled_nodes),
        FIXTURE_TEST(splits_depend_on_the_seed_alone_and_favour_no_node),
        FIXTURE_TEST(rows_that_are_put_lie_in_the_order_of_nodes),
        FIXTURE_TEST(messages_name_nodes_by_their_ids),
        FIXTURE_TEST(degree_features_are_of_the_stored_edges),
        FIXTURE_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
