#include "common/parallel/thread_pool.h"
#include "stages/train-step/rows/row_pipe.h"

#include "tests/stages/train-step/batch_fixture.h"
#include "tests/support/shard_damage.h"

enum { MOST = 3 * FIXTURE_NODES, MOST_THREADS = 4 };

/* The rows of one visit, in the order in which they were seen. */
struct seen {
    size_t count;
    uint32_t place[MOST];
    float row[MOST][FIXTURE_DIM];
};

/* Records the rows. It runs on a thread of the pool, where a failed assert_ could not jump out. */
static void see(void *context, const struct feature_visit *visit)
{
    struct seen *seen = context;
    must(visit->count >= 1 && visit->count <= MOST - seen->count);
    for (uint32_t i = 0; i < visit->count; i++, seen->count++) {
        seen->place[seen->count] = visit->place[i];
        memcpy(seen->row[seen->count], visit->row[i], sizeof *seen->row);
    }
}

static struct thread_pool *new_pool(int threads)
{
    struct thread_pool *pool = NULL;
    struct error err;
    assert_ok(thread_pool_new(threads, &pool, &err), &err);
    return pool;
}

/* Fills in some nodes, in no order, some of them more than once. */
static void draw_nodes(uint32_t *node, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        node[i] = (uint32_t)((i * 1999 + seed * 7919 + i * i % 31) % FIXTURE_NODES);
}

/* Checks that a visit by the pipe equals a plain visit. */
static void check_visit(struct batch_fixture *f, const uint32_t *node, size_t count)
{
    static struct seen plain, piped;
    struct feature_source *features = batch_fixture_source(f);
    plain.count = 0;
    assert_ok(feature_source_visit(features, node, count, see, &plain, NULL, &f->err), &f->err);
    assert_int_equal(plain.count, count);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        struct thread_pool *pool = new_pool(threads);
        piped.count = 0;
        assert_ok(row_pipe_visit(features, node, count, see, &piped, pool, &f->err), &f->err);
        thread_pool_free(pool);
        assert_int_equal(piped.count, count);
        assert_memory_equal(piped.place, plain.place, count * sizeof *plain.place);
        assert_memory_equal(piped.row, plain.row, count * sizeof *plain.row);
    }
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(piped.row[i], f->feature + (size_t)node[piped.place[i]] * FIXTURE_DIM,
                            sizeof *piped.row);
}

static void rows_come_in_the_same_order_as_without_it(void **state)
{
    const size_t counts[] = {0, 1, 255, 900, FIXTURE_NODES, MOST};
    static uint32_t node[MOST];
    const long blocks = memory_live_blocks();
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        draw_nodes(node, counts[c], c);
        check_visit(&f, node, counts[c]);
    }
    for (size_t i = 0; i < MOST; i++) /* one node more often than a slot has rows */
        node[i] = i % 2 ? 77 : (uint32_t)i / 4;
    check_visit(&f, node, MOST);
    batch_fixture_close(&f);
    assert_int_equal(memory_live_blocks(), blocks);
}

static void cached_rows_come_in_their_turn(void **state)
{
    static uint32_t node[MOST], kept[FIXTURE_NODES / 3];
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 240000);
    for (uint32_t i = 0; i < FIXTURE_NODES / 3; i++)
        kept[i] = 3 * i;
    assert_ok(
        feature_source_cache(batch_fixture_source(&f), kept, FIXTURE_NODES / 3, 240000, &f.err),
        &f.err);
    draw_nodes(node, 900, 4);
    check_visit(&f, node, 900);
    assert_true(feature_source_cached(batch_fixture_source(&f)) > 0);
    batch_fixture_close(&f);
}

static void what_the_order_of_a_batch_meets_is_told(void **state)
{
    static struct seen seen;
    static uint32_t node[MOST];
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    draw_nodes(node, MOST, 1);
    node[MOST / 2] = FIXTURE_NODES;
    seen.count = 0;
    assert_fails(row_pipe_visit(batch_fixture_source(&f), node, MOST, see, &seen, NULL, &f.err),
                 ERROR_CORRUPT, "tensor features: expected node ids below 4000, found 4000",
                 &f.err);
    assert_int_equal(seen.count, 0);
    draw_nodes(node, MOST, 1);
    feature_source_limit(batch_fixture_source(&f), 1000);
    assert_fails(row_pipe_visit(batch_fixture_source(&f), node, MOST, see, &seen, NULL, &f.err),
                 ERROR_NO_MEMORY, "tensor features: 12000 rows want", &f.err);
    batch_fixture_close(&f);
}

/* The shard of the second part is missing: the rows before it are seen in order, and nothing
 * after it. */
static void what_a_reading_thread_meets_is_told(void **state)
{
    static struct seen seen;
    static uint32_t node[MOST];
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    shard_damage_empty_tables(f.store, key_part(FIXTURE_PARTITION, 1, "shard"));
    draw_nodes(node, MOST, 1);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        struct thread_pool *pool = new_pool(threads);
        seen.count = 0;
        assert_fails(row_pipe_visit(batch_fixture_source(&f), node, MOST, see, &seen, pool, &f.err),
                     ERROR_CORRUPT, "partition/partition-1/part/0000000001/shard", &f.err);
        thread_pool_free(pool);
        assert_in_range(seen.count, 0, MOST / 2);
        for (size_t i = 0; i < seen.count; i++)
            assert_true(node[seen.place[i]] < f.parts[1] &&
                        (!i || node[seen.place[i]] >= node[seen.place[i - 1]]));
    }
    batch_fixture_close(&f);
}

static void refused_memory_leaves_nothing(void **state)
{
    static struct seen seen;
    static uint32_t node[900];
    struct batch_fixture f;
    enum error_code rc = ERROR_NO_MEMORY;
    struct thread_pool *pool = new_pool(2);
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    draw_nodes(node, 900, 1);
    check_visit(&f, node, 900); /* memory for the order of a batch is allocated now */
    const long blocks = memory_live_blocks();
    for (long n = 0; rc != ERROR_NONE; n++) {
        assert_in_range(n, 0, 20);
        seen.count = 0;
        memory_fail_after(n);
        rc = row_pipe_visit(batch_fixture_source(&f), node, 900, see, &seen, pool, &f.err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    assert_int_equal(seen.count, 900);
    batch_fixture_close(&f);
    thread_pool_free(pool);
}

static void it_takes_what_it_says(void **state)
{
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    const uint64_t block = (uint64_t)FEATURE_BLOCK_ROWS * FIXTURE_DIM * sizeof(float);
    assert_in_range(row_pipe_bytes(batch_fixture_source(&f)), 2 * block, 1000 * block);
    batch_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_in_the_same_order_as_without_it, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(cached_rows_come_in_their_turn, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_the_order_of_a_batch_meets_is_told, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_a_reading_thread_meets_is_told, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(refused_memory_leaves_nothing, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(it_takes_what_it_says, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
