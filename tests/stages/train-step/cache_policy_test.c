#include "stages/train-step/cache_policy.h"
#include "store/features/feature_shard.h"

#include "tests/stages/train-step/batch_fixture.h"
#include "tests/support/shard_damage.h"

enum { NODES = 64 * FEATURE_BLOCK_ROWS + 100, BATCHES = 8 };

static const uint32_t book[3] = {0, 5000, NODES};

static size_t choose(const uint8_t *count, size_t capacity, uint32_t *node)
{
    struct error err = {0};
    size_t chosen = 0;
    const struct use_counts use = {count, BATCHES, book, 2};
    double reads = 0;
    assert_ok(cache_policy_make(&use, capacity, node, &chosen, &reads, &err), &err);
    assert_true(chosen <= capacity);
    assert_true(reads >= 0 && reads <= 65);
    uint8_t *seen = memory_alloc(NODES, 1);
    for (size_t i = 0; i < chosen; i++)
        assert_true(node[i] < NODES && !seen[node[i]]++);
    memory_free(seen);
    return chosen;
}

static void where_few_rows_are_wanted_those_used_most_are_kept(void **state)
{
    static uint8_t count[NODES];
    static uint32_t node[NODES];
    (void)state;
    /* 2 or 3 rows of a block are used, some of them by all batches */
    for (uint32_t v = 0; v < NODES; v++)
        count[v] = v % 100 == 7 ? (uint8_t)(v % 300 == 7 ? BATCHES : 1) : 0;
    const size_t chosen = choose(count, 80, node);
    assert_int_equal(chosen, 80);
    for (size_t i = 0; i < chosen; i++)
        assert_true(i < 55 ? count[node[i]] == BATCHES : count[node[i]] >= 1);
    assert_true(choose(count, NODES, node) <= NODES);
    assert_int_equal(choose(count, 0, node), 0);
}

static void where_every_block_is_wanted_whole_blocks_are_kept(void **state)
{
    static uint8_t count[NODES];
    static uint32_t node[NODES];
    (void)state;
    for (uint32_t v = 0; v < NODES; v++)
        count[v] = (uint8_t)(v % 5 < 3 ? v % 3 : v % 2);
    const size_t chosen = choose(count, 10 * FEATURE_BLOCK_ROWS + 50, node);
    assert_in_range(chosen, 9 * FEATURE_BLOCK_ROWS, 10 * FEATURE_BLOCK_ROWS + 50);
    uint32_t kept[65] = {0}; /* rows kept of each block, of the first part and then of the second */
    for (size_t i = 0; i < chosen; i++)
        kept[node[i] < book[1] ? node[i] / FEATURE_BLOCK_ROWS
                               : 20 + (node[i] - book[1]) / FEATURE_BLOCK_ROWS]++;
    for (int b = 0; b < 65; b++)
        assert_true(kept[b] == 0 || kept[b] == FEATURE_BLOCK_ROWS || b == 19 || b == 64);
}

/* A third of the blocks fits. The first blocks are rarely used. */
static void blocks_that_are_kept_lie_all_over_those_wanted_most(void **state)
{
    static uint8_t count[NODES];
    static uint32_t node[NODES];
    (void)state;
    for (uint32_t v = 0; v < NODES; v++)
        count[v] = (uint8_t)(v < 1500 ? v % 256 == 3 : 2 + v % 2);
    const size_t chosen = choose(count, (size_t)20 * FEATURE_BLOCK_ROWS, node);
    assert_in_range(chosen, 19 * FEATURE_BLOCK_ROWS, 20 * FEATURE_BLOCK_ROWS);
    uint32_t kept[4] = {0}; /* rows kept in each quarter of the other blocks */
    for (size_t i = 0; i < chosen; i++) {
        assert_true(node[i] >= 1280);
        kept[4 * (uint64_t)(node[i] - 1280) / (NODES - 1280)]++;
    }
    for (int q = 0; q < 4; q++)
        assert_in_range(kept[q], 3 * FEATURE_BLOCK_ROWS, 7 * FEATURE_BLOCK_ROWS);
}

static void stored_batches_decide_and_change_no_row(void **state)
{
    struct temp_store *temp = *state;
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    struct cache_policy choice = {0};
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    batch_fixture_open(&f, temp->store, LAYER_SAGE, 32, 200000);
    for (int64_t round = 0; round < 3; round++)
        batch_fixture_put(&f, round, true);
    for (int unit = 0; unit < 20; unit++) {
        assert_ok(prepared_batch_read(&f.preparer, &batch, &key, &f.err), &f.err);
        assert_ok(prepared_batch_fill(&f.preparer, &batch, NULL, &f.err), &f.err);
        batch_fixture_check(&f, &batch);
        assert_true(batch_fixture_bytes(&f) <= 200000);
        if (unit > 0)
            assert_true(feature_source_cached(batch_fixture_source(&f)) > 500);
        cache_policy_refresh(&choice, &f.preparer, batch.area.bytes, 0);
        assert_int_equal(choice.seen, 3);
    }
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

/* A batch that exceeds the budget, with its rows, and a policy that has not chosen yet. */
struct chooser {
    struct batch_fixture f;
    struct prepared_batch batch;
    struct cache_policy choice;
};

static void chooser_open(struct chooser *c, struct store *store)
{
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    *c = (struct chooser){0};
    batch_fixture_open(&c->f, store, LAYER_SAGE, 32, 200000);
    batch_fixture_put(&c->f, 0, true);
    assert_ok(prepared_batch_read(&c->f.preparer, &c->batch, &key, &c->f.err), &c->f.err);
    assert_ok(prepared_batch_fill(&c->f.preparer, &c->batch, NULL, &c->f.err), &c->f.err);
}

static void chooser_close(struct chooser *c)
{
    prepared_batch_release(&c->f.preparer, &c->batch);
    batch_fixture_close(&c->f);
}

/* Checks the choice with areas of `area_bytes`. Returns how many rows are cached then. */
static uint32_t look(struct chooser *c, uint64_t area_bytes)
{
    cache_policy_refresh(&c->choice, &c->f.preparer, area_bytes, 0);
    return feature_source_cached(batch_fixture_source(&c->f));
}

static void more_rows_are_kept_when_there_is_room_for_them_later(void **state)
{
    struct chooser c;
    chooser_open(&c, ((struct temp_store *)*state)->store);
    const uint32_t kept = look(&c, 100000);
    for (int unit = 1; unit < 20; unit++)
        assert_int_equal(look(&c, 100000), kept);
    for (int unit = 20; unit < 40; unit++)
        (void)look(&c, c.batch.area.bytes);
    assert_true(feature_source_cached(batch_fixture_source(&c.f)) > kept);
    chooser_close(&c);
}

static void a_little_room_is_used_at_the_first_look(void **state)
{
    struct chooser c;
    chooser_open(&c, ((struct temp_store *)*state)->store);
    uint32_t kept = 0;
    for (uint64_t area = 200000; kept == 0 && area > c.batch.area.bytes; area -= 1000) {
        c.choice = (struct cache_policy){0};
        kept = look(&c, area);
    }
    assert_in_range(kept, 1, 100); /* in 16 blocks, too few to save a good deal */
    chooser_close(&c);
}

static void a_second_look_that_saves_nothing_reads_nothing(void **state)
{
    struct chooser c;
    chooser_open(&c, ((struct temp_store *)*state)->store);
    const uint32_t kept = look(&c, c.batch.area.bytes);
    assert_true(kept > 0);
    for (int part = 0; part < 2; part++) /* a choice that reads a shard fails and caches nothing */
        shard_damage_empty_tables(c.f.store, key_part(FIXTURE_PARTITION, part, "shard"));
    for (int unit = 1; unit < 40; unit++)
        (void)look(&c, c.batch.area.bytes);
    assert_true(c.choice.looked);
    assert_int_equal(feature_source_cached(batch_fixture_source(&c.f)), kept);
    chooser_close(&c);
}

static void a_refused_allocation_leaves_nothing_kept(void **state)
{
    struct temp_store *temp = *state;
    struct batch_fixture f;
    struct prepared_batch batch = {0};
    const struct key key = key_mini_batch(FIXTURE_RUN, 0, 0);
    batch_fixture_open(&f, temp->store, LAYER_SAGE, 32, 200000);
    batch_fixture_put(&f, 0, true);
    for (long n = 0; n < 3; n++) {
        struct cache_policy choice = {0};
        assert_ok(prepared_batch_read(&f.preparer, &batch, &key, &f.err), &f.err);
        memory_fail_after(n);
        cache_policy_refresh(&choice, &f.preparer, 0, 0);
        memory_fail_after(-1);
        assert_int_equal(feature_source_cached(batch_fixture_source(&f)), 0);
    }
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_few_rows_are_wanted_those_used_most_are_kept),
        cmocka_unit_test(where_every_block_is_wanted_whole_blocks_are_kept),
        cmocka_unit_test(blocks_that_are_kept_lie_all_over_those_wanted_most),
        cmocka_unit_test_setup_teardown(stored_batches_decide_and_change_no_row, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(more_rows_are_kept_when_there_is_room_for_them_later,
                                        temp_store_setup, temp_store_teardown),
        test_with_store(a_little_room_is_used_at_the_first_look),
        cmocka_unit_test_setup_teardown(a_second_look_that_saves_nothing_reads_nothing,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_refused_allocation_leaves_nothing_kept, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
