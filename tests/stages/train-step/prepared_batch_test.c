#include "stages/train-step/prepared_batch.h"

#include "tests/stages/train-step/batch_fixture.h"

static const uint64_t all_bytes = (uint64_t)FIXTURE_NODES * FIXTURE_DIM * sizeof(float);

static void prepare(struct batch_fixture *f, struct prepared_batch *batch, int64_t round)
{
    const struct key key = key_mini_batch(FIXTURE_RUN, round, 0);
    assert_ok(prepared_batch_read(&f->preparer, batch, &key, &f->err), &f->err);
    assert_ok(prepared_batch_fill(&f->preparer, batch, NULL, &f->err), &f->err);
    assert_true(batch_fixture_bytes(f) <= f->preparer.budget_bytes);
    batch_fixture_check(f, batch);
}

static void rows_are_the_same_whatever_the_budget(void **state)
{
    const long blocks = memory_live_blocks();
    for (uint64_t budget = 60000; budget <= all_bytes; budget += all_bytes - 60000)
        for (int kind = LAYER_SAGE; kind <= LAYER_GCN; kind++) {
            struct batch_fixture f;
            struct prepared_batch batch = {0};
            batch_fixture_open(&f, ((struct temp_store *)*state)->store, (enum layer_kind)kind, 32,
                               budget);
            for (int64_t round = 0; round < 3; round++) {
                batch_fixture_put(&f, round, true);
                prepare(&f, &batch, round);
                assert_true((batch.aggregated != NULL) == (budget < all_bytes));
            }
            prepared_batch_release(&f.preparer, &batch);
            assert_int_equal(f.preparer.area_bytes, 0);
            batch_fixture_close(&f);
        }
    assert_int_equal(memory_live_blocks(), blocks);
}

static void rows_that_cannot_be_aggregated_ahead_are_copied(void **state)
{
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 100000);
    batch_fixture_put(&f, 0, false); /* neighbours do not ascend */
    prepare(&f, &batch, 0);
    assert_null(batch.aggregated);
    batch_fixture_put(&f, 1, true);
    prepare(&f, &batch, 1);
    assert_non_null(batch.aggregated);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_GCN, 8,
                       100000); /* projects before it aggregates */
    prepare(&f, &batch, 1);
    assert_null(batch.aggregated);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void rows_that_are_mostly_zero_are_copied_and_said_to_be(void **state)
{
    for (uint64_t budget = 100000; budget <= all_bytes; budget += all_bytes - 100000) {
        struct batch_fixture f;
        struct prepared_batch batch = {0};
        batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, budget);
        f.features.mostly_zero[0] = true;
        batch_fixture_put(&f, 0, true);
        prepare(&f, &batch, 0);
        assert_null(batch.aggregated);
        assert_true(batch.rows[0].mostly_zero);
        prepared_batch_release(&f.preparer, &batch);
        batch_fixture_close(&f);
    }
}

static void cached_rows_make_way_for_a_batch(void **state)
{
    static uint32_t node[FIXTURE_NODES];
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 240000);
    batch_fixture_put(&f, 0, true);
    for (uint32_t i = 0; i < FIXTURE_NODES; i++)
        node[i] = i;
    assert_ok(feature_source_cache(batch_fixture_source(&f), node, FIXTURE_NODES, 240000, &f.err),
              &f.err);
    const uint32_t kept = feature_source_cached(batch_fixture_source(&f));
    prepare(&f, &batch, 0);
    assert_in_range(feature_source_cached(batch_fixture_source(&f)), 1, kept - 1);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void an_area_can_be_lent(void **state)
{
    struct batch_fixture f;
    struct prepared_batch first = {0}, second = {0};
    const struct key key = key_mini_batch(FIXTURE_RUN, 1, 0);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 60000);
    batch_fixture_put(&f, 0, true);
    batch_fixture_put(&f, 1, true);
    prepare(&f, &first, 0);
    const float *area = first.area.data;
    prepared_batch_lend(&first, &second);
    assert_false(first.has_rows);
    assert_true(first.has_record);
    assert_ok(prepared_batch_read(&f.preparer, &second, &key, &f.err), &f.err);
    assert_ok(prepared_batch_fill(&f.preparer, &second, NULL, &f.err), &f.err);
    batch_fixture_check(&f, &second);
    assert_ptr_equal(second.area.data, area);
    prepared_batch_release(&f.preparer, &first);
    prepared_batch_release(&f.preparer, &second);
    batch_fixture_close(&f);
}

/* A relation with a name must list the rows that have edges. */
static void rows_of_a_named_relation_have_to_be_listed(void **state)
{
    static const struct relation knows = {.name = "knows"};
    static const char name[1][RELATION_NAME_SIZE] = {"person"};
    static const uint32_t dim = FIXTURE_DIM;
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 100000);
    batch_fixture_put(&f, 0, true);
    f.book.type_count = f.book.relation_count = 1;
    f.book.relation = &knows;
    f.book.type_name = name;
    f.book.type_dim = &dim;
    assert_fails(prepared_batch_read(&f.preparer, &batch, &key, &f.err), ERROR_CORRUPT,
                 "expected a section row, found none", &f.err);
    assert_false(batch.has_record);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void a_budget_that_is_too_small_is_named(void **state)
{
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 24000);
    batch_fixture_put(&f, 0, true);
    assert_ok(prepared_batch_read(&f.preparer, &batch, &key, &f.err), &f.err);
    assert_fails(prepared_batch_fill(&f.preparer, &batch, NULL, &f.err), ERROR_NO_MEMORY,
                 "the rows of a mini-batch of 900 nodes want ", &f.err);
    assert_non_null(strstr(f.err.message, "the budget of features is 24000 bytes"));
    assert_false(batch.has_rows);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void every_refused_allocation_leaves_a_batch_that_can_be_tried_again(void **state)
{
    struct batch_fixture f;
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_GCN, 32, 60000);
    batch_fixture_put(&f, 0, true);
    struct prepared_batch first = {0}; /* opens the shards, which stay open */
    prepare(&f, &first, 0);
    prepared_batch_release(&f.preparer, &first);
    batch_preparer_release(&f.preparer);
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct prepared_batch batch = {0};
        memory_fail_after(n);
        rc = prepared_batch_read(&f.preparer, &batch, &key, &f.err);
        if (rc == ERROR_NONE)
            rc = prepared_batch_fill(&f.preparer, &batch, NULL, &f.err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_true(n < 1000);
        prepare(&f, &batch, 0);
        prepared_batch_release(&f.preparer, &batch);
        batch_preparer_release(&f.preparer);
    }
    assert_in_range(memory_live_blocks(), blocks, blocks + 3); /* the sorted order of a batch */
    batch_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_the_same_whatever_the_budget, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(rows_that_cannot_be_aggregated_ahead_are_copied,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(rows_that_are_mostly_zero_are_copied_and_said_to_be,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(cached_rows_make_way_for_a_batch, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(an_area_can_be_lent, temp_store_setup, temp_store_teardown),
        test_with_store(rows_of_a_named_relation_have_to_be_listed),
        cmocka_unit_test_setup_teardown(a_budget_that_is_too_small_is_named, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(
            every_refused_allocation_leaves_a_batch_that_can_be_tried_again, temp_store_setup,
            temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
