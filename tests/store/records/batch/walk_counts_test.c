#include "store/objects/keys.h"
#include "store/records/batch/walk_counts.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const uint32_t node[] = {3, 0, 7}, edge[] = {1, 0, 0, 7};
static const struct walk_counts known = {
    .drawn = 7, .node_count = 3, .edge_count = 4, .node = node, .edge = edge};

static void counts_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct walk_counts read;
    assert_ok(walk_counts_put(t->store, "r", &known, &t->err), &t->err);
    assert_ok(walk_counts_get(t->store, "r", &read, &t->err), &t->err);
    assert_int_equal(read.drawn, 7);
    assert_int_equal(read.node_count, 3);
    assert_int_equal(read.edge_count, 4);
    assert_memory_equal(read.node, node, sizeof node);
    assert_memory_equal(read.edge, edge, sizeof edge);
    store_release_record(&read.view);
    assert_fails(walk_counts_get(t->store, "s", &read, &t->err), ERROR_NOT_FOUND,
                 "run/s/walk_counts", &t->err);
}

static void counts_that_cannot_be_are_refused(void **state)
{
    static const uint64_t none[] = {0}, fewer[] = {6};
    static const uint32_t above[] = {1, 8};
    static const struct {
        struct tamper change;
        const char *message;
    } cases[] = {{{"drawn", ELEMENT_U64, none, 1}, "\"drawn\": expected 1 or more, found 0"},
                 {{"drawn", ELEMENT_U64, fewer, 1}, "\"node\" entry 2: expected below 7"},
                 {{"drawn", ELEMENT_U64, fewer, 0}, "drawn: expected 1 elements, found 0"},
                 {{"edge", ELEMENT_U32, above, 2}, "\"edge\" entry 1: expected below 8"},
                 {{"node", ELEMENT_U64, none, 1}, "node"}};
    struct temp_store *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct walk_counts read;
        assert_ok(walk_counts_put(t->store, "r", &known, &t->err), &t->err);
        record_tamper(t->store, "run/r/walk_counts", "r", &cases[i].change);
        assert_fails(walk_counts_get(t->store, "r", &read, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        assert_ok(store_remove(t->store, "run/r/walk_counts", &t->err), &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(counts_read_back_as_written),
        test_with_store(counts_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
