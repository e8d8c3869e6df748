#include "store/records/dataset/dataset_merge.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const uint32_t first[] = {0, 4, 9}, base_first[] = {0, 8};

static struct dataset_merge known(void)
{
    return (struct dataset_merge){.base = "g-0",
                                  .removes_repeated = true,
                                  .chunk_count = 2,
                                  .base_chunk_count = 1,
                                  .first_node = first,
                                  .base_first = base_first};
}

static void it_reads_back_as_written(void **state)
{
    struct temp_store *t = *state;
    const struct dataset_merge merge = known();
    struct dataset_merge read;
    char base[ID_SIZE];
    assert_ok(dataset_merge_put(t->store, "g-1", &merge, &t->err), &t->err);
    assert_ok(dataset_merge_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_string_equal(read.base, "g-0");
    assert_true(read.removes_repeated);
    assert_false(read.skips_self_loops);
    assert_int_equal(read.chunk_count, 2);
    assert_int_equal(read.base_chunk_count, 1);
    assert_memory_equal(read.first_node, first, sizeof first);
    assert_memory_equal(read.base_first, base_first, sizeof base_first);
    store_release_record(&read.view);
    assert_ok(dataset_merge_base(t->store, "g-1", base, &t->err), &t->err);
    assert_string_equal(base, "g-0");
    assert_int_equal(read.class_count, 0);
}

static void classes_of_edges_read_back(void **state)
{
    static const uint64_t classes[] = {7, 0, UINT64_MAX};
    struct temp_store *t = *state;
    struct dataset_merge read, merge = known();
    merge.class_count = 3;
    merge.train_class = classes;
    assert_ok(dataset_merge_put(t->store, "g-1", &merge, &t->err), &t->err);
    assert_ok(dataset_merge_get(t->store, "g-1", &read, &t->err), &t->err);
    assert_int_equal(read.class_count, 3);
    assert_memory_equal(read.train_class, classes, sizeof classes);
    assert_int_equal(read.chunk_count, 2);
    store_release_record(&read.view);
}

static void a_whole_dataset_has_none(void **state)
{
    struct temp_store *t = *state;
    struct dataset_merge read;
    char base[ID_SIZE];
    assert_fails(dataset_merge_get(t->store, "g-0", &read, &t->err), ERROR_NOT_FOUND,
                 "dataset/g-0/merge", &t->err);
    assert_ok(dataset_merge_base(t->store, "g-0", base, &t->err), &t->err);
    assert_string_equal(base, "");
}

static void bounds_that_do_not_ascend_are_refused(void **state)
{
    static const uint32_t late[] = {1, 4}, back[] = {0, 5, 5};
    struct temp_store *t = *state;
    struct dataset_merge read, merge = known();
    merge.base_first = late;
    assert_ok(dataset_merge_put(t->store, "g-1", &merge, &t->err), &t->err);
    assert_fails(dataset_merge_get(t->store, "g-1", &read, &t->err), ERROR_CORRUPT,
                 "dataset/g-1/merge: \"base_first\" entry 0: expected 0, found 1", &t->err);
    merge = known();
    merge.first_node = back;
    assert_ok(dataset_merge_put(t->store, "g-2", &merge, &t->err), &t->err);
    assert_fails(dataset_merge_get(t->store, "g-2", &read, &t->err), ERROR_CORRUPT,
                 "\"first_node\" entry 2: expected above 5, found 5", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(it_reads_back_as_written),
        test_with_store(classes_of_edges_read_back),
        test_with_store(a_whole_dataset_has_none),
        test_with_store(bounds_that_do_not_ascend_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
