#include "store/objects/keys.h"
#include "store/records/dataset/wanted_nodes.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const uint32_t node[] = {2, 3, 9};
static const struct wanted_nodes known = {.count = 3, .node = node};

static void nodes_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct wanted_nodes read;
    assert_ok(wanted_nodes_put(t->store, "r", &known, &t->err), &t->err);
    assert_ok(wanted_nodes_get(t->store, "r", 10, &read, &t->err), &t->err);
    assert_int_equal(read.count, 3);
    assert_memory_equal(read.node, node, sizeof node);
    store_release_record(&read.view);
    assert_fails(wanted_nodes_get(t->store, "s", 10, &read, &t->err), ERROR_NOT_FOUND,
                 "run/s/wanted_nodes", &t->err);
}

static void nodes_that_cannot_be_are_refused(void **state)
{
    static const uint32_t falling[] = {3, 2}, twice[] = {3, 3}, beyond[] = {1, 10};
    static const struct {
        struct tamper change;
        const char *message;
    } cases[] = {{{"node", ELEMENT_U32, falling, 2}, "entry 1: expected above 3, found 2"},
                 {{"node", ELEMENT_U32, twice, 2}, "entry 1: expected above 3, found 3"},
                 {{"node", ELEMENT_U32, beyond, 2}, "below 10, found 10"},
                 {{"node", ELEMENT_U32, beyond, 0}, "length: expected 1 to 4294967295, found 0"}};
    struct temp_store *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wanted_nodes read;
        assert_ok(wanted_nodes_put(t->store, "r", &known, &t->err), &t->err);
        record_tamper(t->store, "run/r/wanted_nodes", "r", &cases[i].change);
        assert_fails(wanted_nodes_get(t->store, "r", 10, &read, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        assert_ok(store_remove(t->store, "run/r/wanted_nodes", &t->err), &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(nodes_read_back_as_written),
        test_with_store(nodes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
