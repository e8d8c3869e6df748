#include "store/objects/keys.h"
#include "store/records/partition/partition_book.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static struct store *store;

static int set_up(void **state)
{
    const int failed = temp_store_setup(state);
    store = ((struct temp_store *)*state)->store;
    return failed;
}

static const uint32_t book[] = {0, 2, 2, 5};

static struct partition_book good_book(const char *id)
{
    struct partition_book out = {
        .dataset_id = "karate-1",
        .part_count = 3,
        .node_count = 5,
        .edge_count = 7,
        .self_loop_count = 1,
        .feature_dim = 8,
        .class_count = 2,
        .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_FEATURE] = 6}},
        .task = TASK_SINGLE_LABEL,
        .train_count = 3,
        .valid_count = 1,
        .test_count = 1,
        .book = book,
    };
    memcpy(out.id, id, strlen(id) + 1);
    return out;
}

static void a_book_reads_back_as_written(void **state)
{
    (void)state;
    struct error err = {0};
    const struct partition_book written = good_book("p-good");
    struct partition_book read;
    assert_ok(partition_book_put(store, &written, &err), &err);
    assert_ok(partition_book_get(store, "p-good", &read, &err), &err);
    assert_string_equal(read.id, "p-good");
    assert_string_equal(read.dataset_id, "karate-1");
    assert_int_equal(read.part_count, 3);
    assert_int_equal(read.node_count, 5);
    assert_int_equal(read.edge_count, 7);
    assert_int_equal(read.self_loop_count, 1);
    assert_int_equal(read.feature_dim, 8);
    assert_int_equal(read.class_count, 2);
    assert_true(edge_widths_equal(&read.edge_width, &written.edge_width));
    assert_int_equal(read.task, TASK_SINGLE_LABEL);
    assert_int_equal(read.train_count, 3);
    assert_int_equal(read.valid_count, 1);
    assert_int_equal(read.test_count, 1);
    assert_memory_equal(read.book, book, sizeof book);
    store_release_record(&read.view);
}

static const uint32_t type_start[] = {0, 1, 2, 2, 2, 2, 2, 4, 5};
static const uint32_t type_dim[] = {0, 4};
static const char type_name[2][RELATION_NAME_SIZE] = {"author", "paper"};
static const struct relation relation[] = {{"writes", 0, 1}, {"cites", 1, 1}, {"rev_writes", 1, 0}};

static struct partition_book typed_book(const char *id)
{
    struct partition_book out = good_book(id);
    out.type_count = 2;
    out.relation_count = 3;
    out.target_type = 1;
    out.type_start = type_start;
    out.type_name = type_name;
    out.type_dim = type_dim;
    out.relation = relation;
    return out;
}

static void types_and_relations_read_back(void **state)
{
    (void)state;
    struct error err = {0};
    struct partition_book written = good_book("p-plain"), read;
    assert_int_equal(partition_book_types(&written), 1);
    assert_int_equal(partition_book_relations(&written), 1);
    assert_int_equal(partition_book_dim(&written, 0), 8);
    const struct type_ranges plain = partition_book_ranges(&written);
    assert_int_equal(type_ranges_first(&plain, 2, 0), 2);
    assert_int_equal(type_ranges_count(&plain, 2, 0), 3);

    written = typed_book("p-typed");
    assert_ok(partition_book_put(store, &written, &err), &err);
    assert_ok(partition_book_get(store, "p-typed", &read, &err), &err);
    assert_int_equal(partition_book_types(&read), 2);
    assert_int_equal(partition_book_relations(&read), 3);
    assert_int_equal(read.target_type, 1);
    assert_string_equal(read.type_name[1], "paper");
    assert_string_equal(partition_book_relation(&read, 2)->name, "rev_writes");
    assert_int_equal(partition_book_relation(&read, 2)->source_type, 1);
    assert_int_equal(partition_book_relation(&read, 2)->target_type, 0);
    assert_int_equal(partition_book_dim(&read, 1), 4);
    assert_false(partition_book_has_shard(&read, 0));
    assert_true(partition_book_has_shard(&read, 1));
    const struct type_ranges ranges = partition_book_ranges(&read);
    uint32_t type_book[4];
    type_ranges_book(&ranges, 1, type_book);
    assert_memory_equal(type_book, ((const uint32_t[]){0, 1, 1, 2}), sizeof type_book);
    assert_int_equal(type_ranges_type(&ranges, 2, 3), 0);
    assert_int_equal(type_ranges_type(&ranges, 2, 4), 1);
    assert_int_equal(type_ranges_number(&ranges, type_book, 1, 4), 1);
    store_release_record(&read.view);
}

static void types_and_relations_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const uint32_t short_of[] = {0, 1, 2, 2, 2, 2, 2, 4, 4},
                          back[] = {0, 3, 2, 2, 2, 2, 2, 4, 5};
    static const struct relation nowhere[] = {{"writes", 0, 2}};
    static struct relation endless[1];
    struct error err = {0};
    struct partition_book bad = typed_book("p-bad");
    bad.type_start = short_of;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "the types of part 2 are nodes 2 to 4, expected 2 to 5", &err);
    bad.type_start = back;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "type 1 of part 0 ends at node 2, before its start 3", &err);
    bad = typed_book("p-bad");
    bad.target_type = 2;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "the target type is 2, expected below 2", &err);
    bad = typed_book("p-bad");
    bad.relation = nowhere;
    bad.relation_count = 1;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "relation writes goes from type 0 to type 2, expected below 2", &err);
    memset(endless[0].name, 'x', sizeof endless[0].name);
    bad.relation = endless;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "the name of relation 0 has no end", &err);
}

static void a_book_whose_ranges_do_not_ascend_is_refused(void **state)
{
    (void)state;
    static const uint32_t late[] = {1, 2, 2, 5}, back[] = {0, 3, 2, 5}, early[] = {0, 2, 2, 4};
    struct error err = {0};
    struct partition_book bad = good_book("p-ranges");
    bad.book = late;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "partition/p-ranges/book: part 0 starts at node 1, expected 0", &err);
    bad.book = back;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "part 1 ends at node 2, before its start 3", &err);
    bad.book = early;
    assert_fails(partition_book_put(store, &bad, &err), ERROR_CORRUPT,
                 "the last part ends at node 4, expected 5", &err);
}

/* A record that has the right hashes and the wrong content, as a faulty writer would make. */
static void put_raw(const char *id, const uint32_t *ranges, uint64_t parts, const char *task,
                    const uint64_t facts[7])
{
    struct error err = {0};
    struct record record = {.kind = RECORD_PARTITION_BOOK, .version = 4};
    record_add(&record, "book", ELEMENT_U32, ranges, parts + 1);
    record_add_text(&record, "dataset", "karate-1");
    record_add_text(&record, "task", task);
    record_add(&record, "facts", ELEMENT_U64, facts, 7);
    assert_ok(store_put(store, key_partition(id, "book").text, id, &record, STORE_DURABLE, &err),
              &err);
}

static void a_stored_book_is_checked_when_it_is_read(void **state)
{
    (void)state;
    static const uint64_t facts[7] = {7, 1, 8, 2, 3, 1, 1},
                          wide[7] = {7, 1, 1ULL << 32, 2, 3, 1, 1};
    static const uint32_t falling[] = {0, 3, 2, 5}, empty[] = {0, 0, 0, 0};
    struct error err = {0};
    struct partition_book read;
    put_raw("p-1", falling, 3, "single_label", facts);
    assert_fails(partition_book_get(store, "p-1", &read, &err), ERROR_CORRUPT,
                 "partition/p-1/book: part 1 ends at node 2", &err);
    put_raw("p-2", empty, 3, "single_label", facts);
    assert_fails(partition_book_get(store, "p-2", &read, &err), ERROR_CORRUPT, "3 parts of 0 nodes",
                 &err);
    put_raw("p-4", book, 3, "haruspicy", facts);
    assert_fails(partition_book_get(store, "p-4", &read, &err), ERROR_CORRUPT, "task is haruspicy",
                 &err);
    put_raw("p-5", book, 3, "single_label", wide);
    assert_fails(partition_book_get(store, "p-5", &read, &err), ERROR_CORRUPT,
                 "\"facts\" columns: expected 0 to 4294967295, found 4294967296", &err);
    put_raw("p-6", book, 0, "single_label", facts);
    assert_fails(partition_book_get(store, "p-6", &read, &err), ERROR_CORRUPT,
                 "\"book\" length: expected 2 to 2147483647, found 1", &err);
    assert_fails(partition_book_get(store, "p-none", &read, &err), ERROR_NOT_FOUND, "p-none", &err);
    assert_null(read.book);
}

/* What every process reads stays small whatever the graph is. */
static void a_book_has_a_size_of_its_parts_alone(void **state)
{
    (void)state;
    static const uint32_t big[] = {0, 2, 2, 4000000000U};
    struct error err = {0};
    struct partition_book written = good_book("p-big"), read;
    written.book = big;
    written.node_count = 4000000000U;
    assert_ok(partition_book_put(store, &written, &err), &err);
    assert_ok(partition_book_get(store, "p-big", &read, &err), &err);
    assert_int_equal(read.node_count, 4000000000U);
    assert_true(read.view.size < 1024);
    store_release_record(&read.view);
}

static void an_assignment_reads_back_as_written(void **state)
{
    (void)state;
    static const uint32_t part[] = {2, 0, 1, 1};
    struct error err = {0};
    struct record_view view = {0};
    const uint32_t *read = NULL;
    uint32_t count = 0;
    static const char *const methods[] = {NULL, "fennel"};
    for (int m = 0; m < 2; m++) {
        const char *id = m ? "p-chosen" : "p-assigned";
        char method[16];
        assert_ok(assignment_put(store, id, part, 4, methods[m], &err), &err);
        assert_ok(assignment_get(store, id, &read, &count, &view, &err), &err);
        assert_int_equal(count, 4);
        assert_memory_equal(read, part, sizeof part);
        assert_ok(assignment_method(&view, method, sizeof method, &err), &err);
        assert_string_equal(method, m ? "fennel" : "");
        store_release_record(&view);
    }
    double cut = 0.0;
    assert_ok(assignment_put_kept(store, "p-kept", part, 4, "placed", 0.25, &err), &err);
    assert_ok(assignment_get(store, "p-kept", &read, &count, &view, &err), &err);
    assert_ok(assignment_full_cut(&view, &cut, &err), &err);
    assert_true(cut > 0.24 && cut < 0.26);
    store_release_record(&view);
    assert_ok(assignment_get(store, "p-chosen", &read, &count, &view, &err), &err);
    assert_ok(assignment_full_cut(&view, &cut, &err), &err);
    assert_true(cut < 0.0);
    store_release_record(&view);
    assert_ok(assignment_put_kept(store, "p-wrong", part, 4, "placed", 1.25, &err), &err);
    assert_ok(assignment_get(store, "p-wrong", &read, &count, &view, &err), &err);
    assert_fails(assignment_full_cut(&view, &cut, &err), ERROR_CORRUPT,
                 "\"full_cut\": expected a share from 0 to 1, found 1.25", &err);
    store_release_record(&view);
    assert_fails(assignment_get(store, "p-other", &read, &count, &view, &err), ERROR_NOT_FOUND,
                 "p-other", &err);
}

static void an_assignment_of_edges_reads_back_and_is_checked(void **state)
{
    (void)state;
    static const uint32_t part[] = {1, 0};
    static const uint16_t edges[] = {0, 1, 1};
    struct error err = {0};
    struct record_view view = {0};
    const uint32_t *nodes = NULL;
    const uint16_t *read = NULL;
    uint32_t count = 0;
    assert_ok(assignment_put_edges(store, "p-cut", part, 2, edges, 3, &err), &err);
    assert_ok(assignment_get(store, "p-cut", &nodes, &count, &view, &err), &err);
    assert_ok(assignment_edges(&view, 3, 2, &read, &err), &err);
    assert_memory_equal(read, edges, sizeof edges);
    assert_fails(assignment_edges(&view, 4, 2, &read, &err), ERROR_CORRUPT, "edge_part", &err);
    assert_fails(assignment_edges(&view, 3, 1, &read, &err), ERROR_CORRUPT,
                 "edge 1 is in part 1, expected 0 to 0", &err);
    store_release_record(&view);
    assert_ok(assignment_put(store, "p-nodes", part, 2, NULL, &err), &err);
    assert_ok(assignment_get(store, "p-nodes", &nodes, &count, &view, &err), &err);
    assert_fails(assignment_edges(&view, 3, 2, &read, &err), ERROR_CORRUPT, "edge_part", &err);
    store_release_record(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_book_reads_back_as_written),
        cmocka_unit_test(types_and_relations_read_back),
        cmocka_unit_test(types_and_relations_that_do_not_fit_are_refused),
        cmocka_unit_test(a_book_whose_ranges_do_not_ascend_is_refused),
        cmocka_unit_test(a_book_has_a_size_of_its_parts_alone),
        cmocka_unit_test(a_stored_book_is_checked_when_it_is_read),
        cmocka_unit_test(an_assignment_reads_back_as_written),
        cmocka_unit_test(an_assignment_of_edges_reads_back_and_is_checked),
    };
    return cmocka_run_group_tests(tests, set_up, temp_store_teardown);
}
