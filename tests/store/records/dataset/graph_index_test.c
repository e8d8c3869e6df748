#include "store/objects/keys.h"
#include "store/records/dataset/graph_index.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const uint32_t graph_of[] = {0, 2, 0, 1, 2}, first[] = {0, 2, 3, 5};
static const struct graph_index of_dataset = {
    .node_count = 5, .graph_count = 3, .first_id = 1, .graph_of = graph_of};
static const struct graph_index of_partition = {
    .node_count = 5, .graph_count = 3, .first_id = 1, .first = first};

static void put_both(struct temp_store *t)
{
    assert_ok(
        graph_index_put(t->store, key_dataset("d-1", "graphs").text, "d-1", &of_dataset, &t->err),
        &t->err);
    assert_ok(graph_index_put(t->store, key_partition("p-1", "graphs").text, "p-1", &of_partition,
                              &t->err),
              &t->err);
}

static void both_forms_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct graph_index read;
    put_both(t);
    assert_ok(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), &t->err);
    assert_true(read.graph_count == 3 && read.first_id == 1 && !read.first);
    assert_memory_equal(read.graph_of, graph_of, sizeof graph_of);
    store_release_record(&read.view);
    assert_ok(graph_index_of_partition(t->store, "p-1", 5, &read, &t->err), &t->err);
    assert_true(read.graph_count == 3 && !read.graph_of);
    assert_memory_equal(read.first, first, sizeof first);
    static const uint32_t wanted[] = {0, 0, 1, 2, 2};
    for (uint32_t node = 0; node < 5; node++)
        assert_int_equal(graph_index_find(&read, node), wanted[node]);
    assert_int_equal(graph_index_largest(&read), 2);
    store_release_record(&read.view);
    assert_fails(graph_index_of_partition(t->store, "p-2", 5, &read, &t->err), ERROR_NOT_FOUND,
                 "p-2", &t->err);
}

/* Graphs of a version are called what they were. */
static void names_of_graphs_read_back(void **state)
{
    static const int64_t id[] = {1, 7, -3};
    struct temp_store *t = *state;
    struct graph_index named = of_dataset, read;
    struct node_ids ids;
    uint32_t from = 9;
    const char *key = key_dataset("d-1", "graphs").text;
    named.id = id;
    assert_ok(graph_index_put(t->store, key_dataset("d-1", "graphs").text, "d-1", &named, &t->err),
              &t->err);
    assert_ok(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), &t->err);
    assert_memory_equal(read.id, id, sizeof id);
    assert_int_equal(graph_index_id(&read, 2), -3);
    ids = graph_index_ids(&read, &from);
    assert_true(from == 0 && ids.node_count == 3 && ids.integer == read.id);
    store_release_record(&read.view);
    assert_int_equal(graph_index_id(&of_dataset, 2), 3);
    ids = graph_index_ids(&of_dataset, &from);
    assert_true(from == 1 && !ids.integer);
    record_tamper(t->store, key, "d-1", &(struct tamper){"id", ELEMENT_I64, id, 2});
    assert_fails(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "id: expected 3 elements, found 2", &t->err);
}

/* One is not taken for the other. */
static void the_form_is_expected(void **state)
{
    struct temp_store *t = *state;
    struct graph_index read;
    assert_ok(
        graph_index_put(t->store, key_dataset("d-1", "graphs").text, "d-1", &of_partition, &t->err),
        &t->err);
    assert_fails(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "dataset/d-1/graphs: expected a section \"graph_of\", found none", &t->err);
    const struct tamper both = {"graph_of", ELEMENT_U32, graph_of, 5};
    record_tamper(t->store, key_dataset("d-1", "graphs").text, "d-1", &both);
    assert_fails(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "expected one of \"graph_of\" and \"first\", found both", &t->err);
}

static void refuse(struct temp_store *t, const struct tamper *change, const char *message)
{
    struct graph_index read;
    assert_ok(graph_index_put(t->store, key_partition("p-3", "graphs").text, "p-3", &of_partition,
                              &t->err),
              &t->err);
    record_tamper(t->store, key_partition("p-3", "graphs").text, "p-3", change);
    assert_fails(graph_index_of_partition(t->store, "p-3", 5, &read, &t->err), ERROR_CORRUPT,
                 message, &t->err);
    assert_ok(store_remove(t->store, key_partition("p-3", "graphs").text, &t->err), &t->err);
}

static void wrong_numbers_are_refused(void **state)
{
    struct temp_store *t = *state;
    struct graph_index read;
    static const uint32_t late[] = {1, 2, 3, 5}, early[] = {0, 2, 3, 4}, empty[] = {0, 3, 3, 5};
    static const uint64_t none[] = {0, 0}, many[] = {6, 0};
    put_both(t);
    refuse(t, &(struct tamper){"first", ELEMENT_U32, late, 4},
           "\"first\" entry 0: expected 0, found 1");
    refuse(t, &(struct tamper){"first", ELEMENT_U32, early, 4},
           "\"first\" entry 3: expected 5, found 4");
    refuse(t, &(struct tamper){"first", ELEMENT_U32, empty, 4},
           "\"first\" entry 2: expected above 3, found 3");
    refuse(t, &(struct tamper){"first", ELEMENT_U32, first, 3}, "first: expected 4 elements");
    refuse(t, &(struct tamper){"facts", ELEMENT_U64, none, 2},
           "\"facts\" graphs: expected 1 to 4294967295, found 0");
    refuse(t, &(struct tamper){"facts", ELEMENT_U64, many, 2}, "expected 1 to 5 graphs, found 6");
    assert_fails(graph_index_of_dataset(t->store, "d-1", 6, &read, &t->err), ERROR_CORRUPT,
                 "graph_of: expected 6 elements, found 5", &t->err);
    static const uint32_t beyond[] = {0, 2, 0, 1, 3};
    record_tamper(t->store, key_dataset("d-1", "graphs").text, "d-1",
                  &(struct tamper){"graph_of", ELEMENT_U32, beyond, 5});
    assert_fails(graph_index_of_dataset(t->store, "d-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "\"graph_of\" entry 4: expected below 3, found 3", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(both_forms_read_back_as_written),
        test_with_store(names_of_graphs_read_back),
        test_with_store(the_form_is_expected),
        test_with_store(wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
