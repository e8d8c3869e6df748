#include "common/base/memory.h"

#include "tests/store/features/feature_source_fixture.h"
#include "tests/support/shard_damage.h"

#include <stdio.h>

struct seen {
    const uint32_t *node;
    size_t count;
    uint32_t last;
    bool *found; /* [count] */
};

static void see(void *context, const struct feature_visit *visit)
{
    struct seen *seen = context;
    assert_in_range(visit->count, 1, FEATURE_VISIT_MAX);
    for (uint32_t i = 0; i < visit->count; i++) {
        assert_true(visit->place[i] < seen->count && !seen->found[visit->place[i]]);
        seen->found[visit->place[i]] = true;
        const uint32_t node = seen->node[visit->place[i]];
        assert_true(node >= seen->last);
        seen->last = node;
        float row[DIM]; /* the row may be unaligned */
        memcpy(row, visit->row[i], sizeof row);
        for (uint32_t c = 0; c < DIM; c++)
            assert_true(row[c] == value_of(node, c));
    }
}

static void visit_batches(struct fixture *f, struct feature_source *source)
{
    uint32_t node[BATCH_SIZE_MAX];
    for (uint64_t b = 0; b < 30; b++) {
        bool found[BATCH_SIZE_MAX] = {false};
        struct seen seen = {node, make_batch(b, b % 2 ? 20 : BATCH_SIZE_MAX, node), 0, found};
        assert_ok(feature_source_visit(source, node, seen.count, see, &seen, NULL, &f->err),
                  &f->err);
        for (size_t i = 0; i < seen.count; i++)
            assert_true(found[i]);
    }
}

static void a_visit_shows_each_row_in_the_order_of_nodes(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    static uint32_t same[700]; /* zeros: more repeats than a visit holds */
    bool found[700] = {false};
    struct seen seen = {same, 700, 0, found};
    struct feature_source *source = open_source(&f, 40000);
    visit_batches(&f, source);
    assert_ok(feature_source_visit(source, same, 700, see, &seen, NULL, &f.err), &f.err);
    assert_ok(feature_source_visit(source, same, 0, see, &seen, NULL, &f.err), &f.err);
    feature_source_close(source);
    close_fixture(&f);
}

static void cached_rows_change_nothing_but_the_reads(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    uint32_t node[NODE_COUNT];
    const uint64_t budget = 57000;
    const long blocks = memory_live_blocks();
    struct feature_source *source = open_source(&f, budget);
    for (uint32_t i = 0; i < NODE_COUNT; i++)
        node[i] = (i * 1999 + 7) % NODE_COUNT; /* 1999 is prime, so each node occurs once */
    for (size_t count = 1; count <= NODE_COUNT; count += 333) {
        assert_ok(feature_source_cache(source, node, count, budget, &f.err), &f.err);
        assert_true(feature_source_bytes(source) <= budget);
        const size_t most = feature_source_cache_capacity(source, budget);
        assert_in_range(feature_source_cached(source), 1, count < most ? count : most);
        visit_batches(&f, source);
        assert_true(feature_source_bytes(source) <= budget);
    }
    fetch_batches(&f, source, budget, BATCH_SIZE_MAX);
    const uint32_t kept = feature_source_cached(source);
    feature_source_limit(source, 30000);
    assert_true(feature_source_bytes(source) <= 30000);
    assert_true(feature_source_cached(source) < kept);
    fetch_batches(&f, source, 30000, 200);
    assert_ok(feature_source_cache(source, node, 100, 0, &f.err), &f.err);
    assert_int_equal(feature_source_cached(source), 0);
    feature_source_close(source);
    assert_int_equal(memory_live_blocks(), blocks);
    close_fixture(&f);
}

static void a_visit_that_is_told_to_stop_stops(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    uint32_t node[2] = {5, 2900};
    bool found[2] = {false};
    atomic_bool stop = true;
    struct seen seen = {node, 2, 0, found};
    struct feature_source *source = open_source(&f, 40000);
    assert_fails(feature_source_visit(source, node, 2, see, &seen, &stop, &f.err), ERROR_BUSY,
                 "told to stop", &f.err);
    assert_false(found[0] || found[1]);
    atomic_store(&stop, false);
    assert_ok(feature_source_visit(source, node, 2, see, &seen, &stop, &f.err), &f.err);
    feature_source_close(source);
    close_fixture(&f);
}

static void a_visit_of_cached_rows_reads_no_block(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    uint32_t node[200];
    bool found[200] = {false};
    struct seen seen = {node, 200, 0, found};
    struct feature_rows rows;
    struct feature_source *source = open_source(&f, 40000);
    for (uint32_t i = 0; i < 200; i++)
        node[i] = 600 + 3 * (199 - i);
    assert_ok(feature_source_cache(source, node, 200, 40000, &f.err), &f.err);
    assert_int_equal(feature_source_cached(source), 200);
    shard_damage_empty_tables(f.store, key_part("p", 5, "shard"));
    assert_ok(feature_source_visit(source, node, 200, see, &seen, NULL, &f.err), &f.err);
    node[0]++;
    assert_fails(feature_source_fetch(source, node, 200, &rows, &f.err), ERROR_CORRUPT,
                 "partition/p/part/0000000005/shard", &f.err);
    feature_source_close(source);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_visit_shows_each_row_in_the_order_of_nodes),
        cmocka_unit_test(cached_rows_change_nothing_but_the_reads),
        cmocka_unit_test(a_visit_of_cached_rows_reads_no_block),
        cmocka_unit_test(a_visit_that_is_told_to_stop_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
