#include "stages/partition/check/partition_check.h"
#include "store/records/dataset/edge_chunk.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/edge_values.h"
#include "tests/support/random_edges.h"
#include "tests/support/record_tamper.h"

enum { NODES = 40, EDGES = 200, MEMORY = 1 << 30 };

static uint32_t source_node[EDGES], target_node[EDGES];
static float weight[EDGES];
static int64_t edge_time[EDGES];
static uint16_t edge_type[EDGES];

/* Makes a partition of a dataset that has everything, opens its book and expects the check to
 * pass. */
static void make_partition(struct temp_store *t, enum task_kind task, struct dataset_schema *schema,
                           struct partition_book *book)
{
    const struct pipeline_settings settings = settings_of("checked", PARTITION_HASH, 3);
    random_edges_fill(6, NODES, EDGES, source_node, target_node);
    const struct small_dataset dataset = {.id = "checked-1",
                                          .name = "checked",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source_node,
                                          .target = target_node,
                                          .columns = edge_values(weight, edge_time, edge_type),
                                          .feature_dim = 4,
                                          .task = task,
                                          .class_count = 5};
    write_dataset(t->store, &dataset);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    assert_ok(dataset_schema_get(t->store, "checked-1", schema, &t->err), &t->err);
    open_book(t->store, &settings, book);
}

static enum error_code check_with(struct temp_store *t, const struct dataset_schema *schema,
                                  const struct partition_book *book,
                                  const struct node_permutation *permutation)
{
    const struct partition_check check = {.store = t->store,
                                          .schema = schema,
                                          .book = book,
                                          .permutation = permutation,
                                          .feature_type = TENSOR_F32};
    return partition_check(&check, &t->err);
}

static enum error_code check_it(struct temp_store *t, const struct dataset_schema *schema,
                                const struct partition_book *book)
{
    struct node_permutation permutation;
    enum error_code rc =
        node_permutation_get(t->store, book->id, book->node_count, &permutation, &t->err);
    if (rc == ERROR_NONE)
        rc = check_with(t, schema, book, &permutation);
    store_release_record(&permutation.view);
    return rc;
}

/* Changes the dataset after it was partitioned: one element in `section` of its record `what`. */
static void change_dataset(struct temp_store *t, const char *what, const char *section,
                           enum element_type type, size_t at, const void *value)
{
    static uint8_t copy[1 << 14];
    const struct key key = key_dataset("checked-1", what);
    struct record_view view;
    const void *data = NULL;
    uint64_t count = 0;
    assert_ok(store_get(t->store, key.text, NULL, &view, &t->err), &t->err);
    assert_ok(record_section_get(&view, section, type, -1, &data, &count, &t->err), &t->err);
    assert_true(count * element_size(type) <= sizeof copy && at < count);
    memcpy(copy, data, count * element_size(type));
    memcpy(copy + at * element_size(type), value, element_size(type));
    store_release_record(&view);
    const struct tamper change = {.section = section, .type = type, .data = copy, .count = count};
    record_tamper(t->store, key.text, "checked-1", &change);
}

static void a_change_of_any_edge_is_noticed(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t lowest = 0;
    static const float heavier = 3.0F;
    static const int64_t later = INT64_MAX;
    static const uint16_t type = 1;
    struct dataset_schema schema;
    struct partition_book book;
    const char *chunk = "edges/0000000000";
    make_partition(t, TASK_SINGLE_LABEL, &schema, &book);
    assert_ok(check_it(t, &schema, &book), &t->err);
    /* The first source of some row becomes node 0, so the row still ascends. */
    struct edge_chunk before;
    size_t row = 0;
    assert_ok(edge_chunk_get(t->store, "checked-1", 0, &before, &t->err), &t->err);
    while (before.row_start[row] == before.row_start[row + 1] ||
           before.neighbor[before.row_start[row]] == lowest)
        row++;
    const size_t first = (size_t)before.row_start[row];
    const uint32_t source = before.neighbor[first];
    store_release_record(&before.view);
    const struct {
        const char *section;
        enum element_type type;
        size_t at;
        const void *changed, *right;
    } cases[] = {{"neighbor", ELEMENT_U32, first, &lowest, &source},
                 {"weight", ELEMENT_F32, 17, &heavier, &weight[0]},
                 {"time64", ELEMENT_I64, EDGES - 1, &later, &edge_time[0]},
                 {"edge_type", ELEMENT_U16, 100, &type, &edge_type[0]}};
    for (size_t i = 0; i < 4; i++) {
        change_dataset(t, chunk, cases[i].section, cases[i].type, cases[i].at, cases[i].changed);
        assert_fails(check_it(t, &schema, &book), ERROR_CORRUPT,
                     "the edges of the parts sum to hash", &t->err);
        change_dataset(t, chunk, cases[i].section, cases[i].type, cases[i].at, cases[i].right);
        assert_ok(check_it(t, &schema, &book), &t->err);
    }
    store_release_record(&book.view);
}

static void a_change_of_features_labels_or_splits_is_noticed(void **state)
{
    struct temp_store *t = *state;
    static const float feature = 0.5F;
    static const int32_t label = 4;
    static const uint32_t node = 5; /* instead of 4, which is a training node by v % 4 */
    struct dataset_schema schema;
    struct partition_book book;
    make_partition(t, TASK_SINGLE_LABEL, &schema, &book);
    change_dataset(t, "splits", "train", ELEMENT_U32, 1, &node);
    assert_true(check_it(t, &schema, &book) == ERROR_CORRUPT); /* the node is then in two splits,
                                                                * which is refused, too */
    change_dataset(t, "splits", "train", ELEMENT_U32, 1, &(uint32_t){3});
    assert_fails(check_it(t, &schema, &book), ERROR_CORRUPT, "of split 0 is node", &t->err);
    change_dataset(t, "splits", "train", ELEMENT_U32, 1, &(uint32_t){4});
    assert_ok(check_it(t, &schema, &book), &t->err);
    change_dataset(t, "labels", "label", ELEMENT_I32, 7, &label);
    assert_fails(check_it(t, &schema, &book), ERROR_CORRUPT, "the labels of node", &t->err);
    assert_non_null(strstr(t->err.message, "differ from those of dataset node 7"));
    change_dataset(t, "labels", "label", ELEMENT_I32, 7, &(int32_t){7 % 5});
    assert_ok(check_it(t, &schema, &book), &t->err);
    change_dataset(t, "features/0000000000", "row", ELEMENT_F32, 4 * 11 + 3, &feature);
    assert_fails(check_it(t, &schema, &book), ERROR_CORRUPT, "differ from those of dataset node 11",
                 &t->err);
    store_release_record(&book.view);
}

static void a_change_of_several_labels_is_noticed(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct partition_book book;
    make_partition(t, TASK_MULTI_LABEL, &schema, &book);
    assert_ok(check_it(t, &schema, &book), &t->err);
    const float other = 1.0F - small_dataset_multi_label(39, 5, 4);
    change_dataset(t, "labels", "label", ELEMENT_F32, 39 * 5 + 4, &other);
    assert_fails(check_it(t, &schema, &book), ERROR_CORRUPT, "differ from those of dataset node 39",
                 &t->err);
    store_release_record(&book.view);
}

static void another_map_or_other_ranges_than_were_written_are_noticed(void **state)
{
    struct temp_store *t = *state;
    uint32_t to_dataset[NODES], ranges[4];
    struct dataset_schema schema;
    struct partition_book book;
    make_partition(t, TASK_NONE, &schema, &book);
    assert_ok(check_it(t, &schema, &book), &t->err);
    struct node_permutation map;
    assert_ok(node_permutation_get(t->store, book.id, NODES, &map, &t->err), &t->err);
    memcpy(to_dataset, map.to_dataset, sizeof to_dataset);
    to_dataset[0] = map.to_dataset[1];
    to_dataset[1] = map.to_dataset[0];
    struct node_permutation swapped = map;
    swapped.to_dataset = to_dataset;
    assert_fails(check_with(t, &schema, &book, &swapped), ERROR_CORRUPT,
                 "the edges of the parts sum", &t->err);
    store_release_record(&map.view);
    memcpy(ranges, book.book, sizeof ranges);
    ranges[1]--;
    struct partition_book changed = book;
    changed.book = ranges;
    assert_int_equal(check_it(t, &schema, &changed), ERROR_CORRUPT);
    store_release_record(&book.view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_change_of_any_edge_is_noticed),
        test_with_store(a_change_of_features_labels_or_splits_is_noticed),
        test_with_store(a_change_of_several_labels_is_noticed),
        test_with_store(another_map_or_other_ranges_than_were_written_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
