#include "store/objects/keys.h"
#include "store/records/partition/node_permutation.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const uint32_t to_dataset[] = {4, 0, 3, 1, 2};
static const uint32_t to_partition[] = {1, 3, 4, 2, 0};
static const struct node_permutation good = {
    .node_count = 5, .to_dataset = to_dataset, .to_partition = to_partition};

static void a_permutation_reads_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct node_permutation read;
    assert_ok(node_permutation_put(t->store, "p-1", &good, &t->err), &t->err);
    assert_ok(node_permutation_get(t->store, "p-1", 5, &read, &t->err), &t->err);
    assert_int_equal(read.node_count, 5);
    assert_memory_equal(read.to_dataset, to_dataset, sizeof to_dataset);
    assert_memory_equal(read.to_partition, to_partition, sizeof to_partition);
    store_release_record(&read.view);
    assert_fails(node_permutation_get(t->store, "p-1", 6, &read, &t->err), ERROR_CORRUPT,
                 "expected 6 elements, found 5", &t->err);
    assert_fails(node_permutation_get(t->store, "p-2", 5, &read, &t->err), ERROR_NOT_FOUND, "p-2",
                 &t->err);
    assert_null(read.to_dataset);
}

static void maps_that_are_not_inverse_are_refused(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t twice[] = {4, 0, 3, 1, 1}, outside[] = {1, 3, 4, 2, 5};
    struct node_permutation bad = good, read;
    bad.to_dataset = twice;
    assert_fails(node_permutation_put(t->store, "p-1", &bad, &t->err), ERROR_CORRUPT,
                 "dataset node 2 is partition node 4, whose dataset node is 1", &t->err);
    bad = good;
    bad.to_partition = outside;
    assert_fails(node_permutation_put(t->store, "p-1", &bad, &t->err), ERROR_CORRUPT,
                 "to_partition of node 4 is 5, expected below 5", &t->err);
    assert_ok(node_permutation_put(t->store, "p-1", &good, &t->err), &t->err);
    const struct tamper change = {"to_partition", ELEMENT_U32, outside, 5};
    record_tamper(t->store, key_partition("p-1", "permutation").text, "p-1", &change);
    assert_fails(node_permutation_get(t->store, "p-1", 5, &read, &t->err), ERROR_CORRUPT,
                 "partition/p-1/permutation: to_partition of node 4", &t->err);
    assert_null(read.to_dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_permutation_reads_back_as_written),
        test_with_store(maps_that_are_not_inverse_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
