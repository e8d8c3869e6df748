#include "store/records/dataset/node_times.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 3 };

static const char key[] = "dataset/d-1/node_times";
static const int64_t time[NODES] = {INT64_MIN, -5, 1 << 20};

static void put(struct temp_store *t)
{
    const struct node_times times = {.node_count = NODES, .time = time};
    assert_ok(node_times_put(t->store, "d-1", &times, &t->err), &t->err);
}

static void reads_back_what_was_put(void **state)
{
    struct temp_store *t = *state;
    struct node_times times;
    put(t);
    assert_ok(node_times_get(t->store, "d-1", NODES, &times, &t->err), &t->err);
    assert_int_equal(times.node_count, NODES);
    assert_memory_equal(times.time, time, sizeof time);
    store_release_record(&times.view);
    assert_fails(node_times_get(t->store, "d-2", NODES, &times, &t->err), ERROR_NOT_FOUND,
                 "dataset/d-2/node_times", &t->err);
}

static void another_number_of_nodes_is_damage(void **state)
{
    static const int64_t fewer[NODES - 1] = {1, 2};
    static const struct tamper change = {"time", ELEMENT_I64, fewer, NODES - 1};
    struct temp_store *t = *state;
    struct node_times times;
    put(t);
    record_tamper(t->store, key, "d-1", &change);
    assert_fails(node_times_get(t->store, "d-1", NODES, &times, &t->err), ERROR_CORRUPT,
                 "section time: expected 3 elements, found 2", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(reads_back_what_was_put),
        test_with_store(another_number_of_nodes_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
