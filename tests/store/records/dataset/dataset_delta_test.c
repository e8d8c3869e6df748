#include "store/objects/keys.h"
#include "store/records/dataset/dataset_delta.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static const uint32_t gone_node[] = {1, 4}, gone_source[] = {3, 0}, gone_target[] = {0, 2};
static const uint32_t source[] = {6, 0, 7}, target[] = {0, 7, 6}, label[] = {1, 0};
static const float weight[] = {1.5F, -2, 0}, row[] = {1, 2, 3, 4, 5, 6};
static const int64_t id[] = {70, -8};
static const uint64_t offset[] = {0, 3, 3};
static const uint8_t split[] = {1, 0};
static const uint32_t row_node[] = {7, 6, 0};

static struct dataset_delta known(void)
{
    return (struct dataset_delta){
        .base = "g-0",
        .root = "g-0",
        .depth = 1,
        .base_nodes = 6,
        .added_nodes = 2,
        .label_width = 1,
        .feature_dim = 2,
        .gone_nodes = 2,
        .gone_edges = 2,
        .added_edges = 3,
        .rows = 3,
        .gone_node = gone_node,
        .gone_source = gone_source,
        .gone_target = gone_target,
        .source = source,
        .target = target,
        .columns = {.width = {{[EDGE_WEIGHT] = 1}}, .data = {[EDGE_WEIGHT] = weight}},
        .new_ids = {.node_count = 2, .integer = id},
        .new_label = label,
        .new_split = split,
        .row_node = row_node,
        .row = row};
}

static void a_delta_reads_back_as_written(void **state)
{
    struct temp_store *t = *state;
    const struct dataset_delta delta = known();
    struct dataset_delta read;
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_string_equal(read.base, "g-0");
    assert_int_equal(read.depth, 1);
    assert_int_equal(read.gone_nodes, 2);
    assert_memory_equal(read.gone_node, gone_node, sizeof gone_node);
    assert_memory_equal(read.gone_target, gone_target, sizeof gone_target);
    assert_memory_equal(read.source, source, sizeof source);
    assert_memory_equal(read.target, target, sizeof target);
    assert_memory_equal(read.columns.data[EDGE_WEIGHT], weight, sizeof weight);
    assert_memory_equal(read.new_ids.integer, id, sizeof id);
    assert_memory_equal(read.new_label, label, sizeof label);
    assert_memory_equal(read.new_split, split, sizeof split);
    assert_memory_equal(read.row_node, row_node, sizeof row_node);
    assert_memory_equal(read.row, row, sizeof row);
    store_release_record(&read.view);
    assert_fails(dataset_delta_get(t->store, "g-2", &read, &t->err), ERROR_NOT_FOUND,
                 "dataset/g-2/delta", &t->err);
}

static void ids_may_be_text_and_all_else_nothing(void **state)
{
    struct temp_store *t = *state;
    struct dataset_delta read;
    const struct dataset_delta delta = {
        .base = "g-0",
        .root = "g-0",
        .depth = 2,
        .base_nodes = 6,
        .added_nodes = 2,
        .new_ids = {.node_count = 2, .offset = offset, .text = "zoe"},
        .new_split = split};
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_null(read.new_ids.integer);
    assert_memory_equal(read.new_ids.offset, offset, sizeof offset);
    assert_memory_equal(read.new_ids.text, "zoe", 3);
    assert_int_equal(read.added_edges + read.gone_nodes + read.gone_edges + read.rows, 0);
    store_release_record(&read.view);
}

/* Content alone: the id of a version is made of it. */
static void content_is_told_apart(void **state)
{
    char one[CHECKSUM_TEXT_SIZE], other[CHECKSUM_TEXT_SIZE];
    struct dataset_delta delta = known();
    (void)state;
    dataset_delta_content(&delta, one);
    dataset_delta_content(&delta, other);
    assert_string_equal(one, other);
    delta.gone_edges = 1;
    dataset_delta_content(&delta, other);
    assert_string_not_equal(one, other);
}

static void names_of_files_are_no_content(void **state)
{
    struct temp_store *t = *state;
    char one[CHECKSUM_TEXT_SIZE], other[CHECKSUM_TEXT_SIZE];
    struct dataset_delta delta = known(), read;
    dataset_delta_content(&delta, one);
    (void)snprintf(delta.negative_weight, sizeof delta.negative_weight, "edges.csv:17");
    dataset_delta_content(&delta, other);
    assert_string_equal(one, other);
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_string_equal(read.negative_weight, "edges.csv:17");
    store_release_record(&read.view);
}

struct bad_change {
    struct tamper change;
    const char *message;
};

/* The delta with each of the changes is refused. */
static void refuse_each(struct temp_store *t, const struct dataset_delta *delta,
                        const struct bad_change *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct dataset_delta read;
        assert_ok(dataset_delta_put(t->store, "g-1", delta, &t->err), &t->err);
        record_tamper(t->store, "dataset/g-1/delta", "g-1", &cases[i].change);
        assert_fails(dataset_delta_get(t->store, "g-1", &read, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        assert_ok(store_remove(t->store, "dataset/g-1/delta", &t->err), &t->err);
    }
}

static void deltas_that_cannot_be_are_refused(void **state)
{
    static const uint32_t beyond[] = {0, 6}, falling[] = {4, 1}, far[] = {0, 8, 0};
    static const uint64_t no_nodes[] = {1, 0, 2, 1, 2}, many[] = {1, UINT32_MAX - 1, 2, 1, 2};
    static const uint8_t splits[] = {1, 4};
    static const float infinite[] = {1, 2, 3, 4, 5, (float)1e39L};
    static const struct bad_change cases[] = {
        {{"gone_node", ELEMENT_U32, beyond, 2}, "\"gone_node\" entry 1: expected below 6"},
        {{"gone_node", ELEMENT_U32, falling, 2}, "entry 1: expected above 4, found 1"},
        {{"gone_target", ELEMENT_U32, beyond, 1}, "gone_target: expected 2 elements, found 1"},
        {{"gone_target", ELEMENT_U32, falling, 2}, "expected edges that ascend"},
        {{"source", ELEMENT_U32, far, 3}, "\"source\" entry 1: expected below 8"},
        {{"facts", ELEMENT_U64, no_nodes, 5}, "\"facts\": expected a depth"},
        {{"facts", ELEMENT_U64, many, 5}, "\"facts\": expected a depth"},
        {{"new_split", ELEMENT_U8, splits, 2}, "\"new_split\" entry 1: expected below 4"},
        {{"new_id", ELEMENT_I64, id, 1}, "new_id: expected 2 elements, found 1"},
        {{"row", ELEMENT_F32, row, 5}, "\"row\": expected 3 rows of 2 numbers"},
        {{"row", ELEMENT_F32, infinite, 6}, "\"row\" entry 5: expected a finite number"},
        {{"base", ELEMENT_U8, "../x", 4}, "\"base\": expected an id"},
        {{"base", ELEMENT_U8, "g-1", 3}, "the dataset is its own base"}};
    struct temp_store *t = *state;
    const struct dataset_delta delta = known();
    refuse_each(t, &delta, cases, sizeof cases / sizeof *cases);
}

static void held_out_edges_are_a_section_of_their_own(void **state)
{
    static const uint8_t held[] = {0, 2, 1}, other[] = {0, 3, 1};
    struct temp_store *t = *state;
    struct dataset_delta delta = known(), read;
    char plain[CHECKSUM_TEXT_SIZE], with[CHECKSUM_TEXT_SIZE];
    dataset_delta_content(&delta, plain);
    delta.new_held = held;
    dataset_delta_content(&delta, with);
    assert_string_not_equal(plain, with);
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_memory_equal(read.new_held, held, sizeof held);
    store_release_record(&read.view);
    delta.new_held = other;
    assert_ok(dataset_delta_put(t->store, "g-2", &delta, &t->err), &t->err);
    assert_fails(dataset_delta_get(t->store, "g-2", &read, &t->err), ERROR_CORRUPT,
                 "\"new_held\" entry 1: expected below 3, found 3", &t->err);
}

/* --- of several types --- */

/* Two papers and four authors; one of each comes. */
static const uint32_t base_of_type[] = {2, 4}, added_of_type[] = {1, 1}, columns_of_type[] = {2, 1};
static const uint16_t relation[] = {1, 0, 1}, gone_relation[] = {0, 1};
static const uint32_t same_source[] = {3, 3}, same_target[] = {2, 2};
static const float typed_row[] = {1, 2, 3, 4, 5};

static struct dataset_delta typed(void)
{
    struct dataset_delta delta = known();
    delta.columns.width.of[EDGE_TYPE] = 1;
    delta.columns.data[EDGE_TYPE] = relation;
    delta.type_count = 2;
    delta.base_of_type = base_of_type;
    delta.added_of_type = added_of_type;
    delta.columns_of_type = columns_of_type;
    delta.relation_count = 2;
    delta.gone_relation = gone_relation;
    delta.row = typed_row; /* of an author, a paper and a paper */
    delta.gone_source = same_source;
    delta.gone_target = same_target;
    return delta;
}

static void types_and_relations_read_back(void **state)
{
    struct temp_store *t = *state;
    struct dataset_delta delta = typed(), read;
    char plain[CHECKSUM_TEXT_SIZE], with[CHECKSUM_TEXT_SIZE];
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_int_equal(read.type_count, 2);
    assert_memory_equal(read.base_of_type, base_of_type, sizeof base_of_type);
    assert_memory_equal(read.added_of_type, added_of_type, sizeof added_of_type);
    assert_memory_equal(read.columns_of_type, columns_of_type, sizeof columns_of_type);
    assert_int_equal(read.relation_count, 2);
    assert_memory_equal(read.gone_relation, gone_relation, sizeof gone_relation);
    assert_memory_equal(read.columns.data[EDGE_TYPE], relation, sizeof relation);
    assert_memory_equal(read.row, typed_row, sizeof typed_row);
    assert_int_equal(dataset_delta_columns(&read, 1), 2);
    assert_int_equal(dataset_delta_columns(&read, 5), 1);
    assert_int_equal(dataset_delta_columns(&read, 6), 2);
    assert_int_equal(dataset_delta_columns(&read, 7), 1);
    store_release_record(&read.view);
    /* All of it counts for the id of the version. */
    dataset_delta_content(&delta, plain);
    delta.gone_relation = relation;
    dataset_delta_content(&delta, with);
    assert_string_not_equal(plain, with);
    delta = typed();
    delta.rows = 0; /* they would be of other widths */
    dataset_delta_content(&delta, plain);
    delta.added_of_type = columns_of_type;
    dataset_delta_content(&delta, with);
    assert_string_not_equal(plain, with);
}

static void types_that_cannot_be_are_refused(void **state)
{
    static const uint32_t fewer[] = {2, 3, 1, 1, 2, 1}, more[] = {2, 4, 1, 2, 2, 1},
                          bare[] = {2, 4, 1, 1, 2, 0}, wide[] = {2, 4, 1, 1, 2, 2},
                          one[] = {6, 2, 2};
    static const uint16_t beyond[] = {0, 2}, same[] = {1, 1}, far[] = {1, 0, 2};
    static const uint32_t widths[] = {1};
    static const uint64_t five[] = {1, 6, 2, 1, 2}, many[] = {1, 6, 2, 1, 2, 513};
    static const struct bad_change cases[] = {
        {{"node_types", ELEMENT_U32, fewer, 6}, "expected 6 nodes of the base and 2 added ones"},
        {{"node_types", ELEMENT_U32, more, 6}, "in all, found 6 and 3"},
        {{"node_types", ELEMENT_U32, more, 5}, "expected three numbers for each of 2 to 16 types"},
        {{"node_types", ELEMENT_U32, one, 3}, "expected three numbers for each of 2 to 16 types"},
        {{"node_types", ELEMENT_U32, bare, 6},
         "\"row_node\" entry 0: expected a node of a type with features, found 7"},
        {{"node_types", ELEMENT_U32, wide, 6}, "\"row\": expected 3 rows of the columns"},
        {{"gone_relation", ELEMENT_U16, beyond, 2},
         "entry 1: expected a relation below 2, found 2"},
        {{"gone_relation", ELEMENT_U16, same, 2}, "expected edges that ascend"},
        {{"gone_relation", ELEMENT_U16, same, 1}, "gone_relation: expected 2 elements, found 1"},
        {{"gone_relation", ELEMENT_UNKNOWN, NULL, 0}, "gone_relation"},
        {{"edge_type", ELEMENT_U16, far, 3},
         "\"edge_type\" entry 2: expected a relation below 2, found 2"},
        {{"edge_widths", ELEMENT_U32, widths, 1}, "the relation of added edges, found none"},
        {{"facts", ELEMENT_U64, five, 5}, "facts: expected 6 elements"},
        {{"facts", ELEMENT_U64, many, 6}, "\"facts\": expected a depth"}};
    struct temp_store *t = *state;
    const struct dataset_delta delta = typed();
    refuse_each(t, &delta, cases, sizeof cases / sizeof *cases);
}

/* --- of many graphs --- */

/* Three graphs, of which one goes; of two nodes that come one begins another graph. */
static const uint32_t gone_graph[] = {1}, new_graph_of[] = {3, 2};
static const int64_t new_graph_id[] = {70};
static const uint32_t graph_label[] = {5};
static const uint8_t graph_split[] = {2};

static struct dataset_delta of_graphs(void)
{
    struct dataset_delta delta = known();
    delta.base_graphs = 3;
    delta.gone_graphs = delta.added_graphs = 1;
    delta.gone_graph = gone_graph;
    delta.new_graph_of = new_graph_of;
    delta.new_graph_id = new_graph_id;
    delta.new_label = graph_label;
    delta.new_split = graph_split;
    return delta;
}

static void graphs_read_back(void **state)
{
    static const uint32_t other_of[] = {2, 3};
    struct temp_store *t = *state;
    struct dataset_delta delta = of_graphs(), read;
    char plain[CHECKSUM_TEXT_SIZE], with[CHECKSUM_TEXT_SIZE];
    assert_int_equal(dataset_delta_targets(&delta), 1);
    assert_ok(dataset_delta_put(t->store, "g-1", &delta, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_true(read.base_graphs == 3 && read.gone_graphs == 1 && read.added_graphs == 1);
    assert_memory_equal(read.gone_graph, gone_graph, sizeof gone_graph);
    assert_memory_equal(read.new_graph_of, new_graph_of, sizeof new_graph_of);
    assert_memory_equal(read.new_graph_id, new_graph_id, sizeof new_graph_id);
    assert_memory_equal(read.new_label, graph_label, sizeof graph_label);
    assert_memory_equal(read.new_split, graph_split, sizeof graph_split);
    assert_true(read.relation_count == 0 && read.type_count == 0);
    store_release_record(&read.view);
    dataset_delta_content(&delta, plain);
    delta.new_graph_of = other_of;
    dataset_delta_content(&delta, with);
    assert_string_not_equal(plain, with);
}

static void graphs_that_cannot_be_are_refused(void **state)
{
    static const uint32_t beyond[] = {3}, again[] = {1, 1}, all[] = {0, 1, 2}, far[] = {3, 4},
                          of_gone[] = {3, 1}, empty[] = {2, 2};
    static const uint64_t none[] = {0, 1}, many[] = {7, 1}, new[] = {3, 3};
    static const struct bad_change cases[] = {
        {{"graphs", ELEMENT_U64, none, 2}, "\"graphs\": expected 1 to 6 graphs and at most 2 new"},
        {{"graphs", ELEMENT_U64, many, 2}, "found 7 and 1"},
        {{"graphs", ELEMENT_U64, new, 2}, "found 3 and 3"},
        {{"graphs", ELEMENT_UNKNOWN, NULL, 0}, "graphs"},
        {{"gone_graph", ELEMENT_U32, beyond, 1}, "entry 0: expected graphs below 3 that ascend"},
        {{"gone_graph", ELEMENT_U32, again, 2}, "\"gone_graph\" entry 1: expected graphs below 3"},
        {{"gone_graph", ELEMENT_U32, all, 3}, "expected a graph that stays, found none"},
        {{"new_graph_id", ELEMENT_I64, new_graph_id, 0}, "new_graph_id: expected 1 elements"},
        {{"new_graph_of", ELEMENT_U32, far, 2},
         "\"new_graph_of\" entry 1: expected a graph below 4"},
        {{"new_graph_of", ELEMENT_U32, of_gone, 2}, "that does not go, found 1"},
        {{"new_graph_of", ELEMENT_U32, empty, 2},
         "expected a node of each new graph, found none of 3"},
        {{"new_label", ELEMENT_U32, label, 2}, "new_label: expected 1 elements, found 2"},
        {{"new_split", ELEMENT_U8, split, 2}, "new_split: expected 1 elements, found 2"}};
    struct temp_store *t = *state;
    const struct dataset_delta delta = of_graphs();
    refuse_each(t, &delta, cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_delta_reads_back_as_written),
        test_with_store(held_out_edges_are_a_section_of_their_own),
        test_with_store(ids_may_be_text_and_all_else_nothing),
        cmocka_unit_test(content_is_told_apart),
        test_with_store(names_of_files_are_no_content),
        test_with_store(deltas_that_cannot_be_are_refused),
        test_with_store(types_and_relations_read_back),
        test_with_store(types_that_cannot_be_are_refused),
        test_with_store(graphs_read_back),
        test_with_store(graphs_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
