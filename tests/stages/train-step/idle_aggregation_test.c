#include "common/base/clock.h"
#include "stages/train-step/idle_aggregation.h"

#include "tests/stages/train-step/batch_fixture.h"

enum {
    ROUNDS = 6,
    TURNS = 200,
    THREADS = 2,
    ROOM = 1 << 24,
    ALL_FIT = 1 << 20,
    NOT_ALL_FIT = 130000
};

static struct key key_of(int64_t round)
{
    return key_mini_batch(FIXTURE_RUN, round, 0);
}

struct idle_fixture {
    struct batch_fixture f;
    struct thread_pool *pool;
    struct batch_reader *reader;
    struct idle_aggregation *idle;
    struct arena arena;
    struct prepared_batch batch; /* the batch taken last from the reader */
};

static void open_fixture(struct idle_fixture *i, struct store *store, uint64_t budget)
{
    *i = (struct idle_fixture){0};
    batch_fixture_open(&i->f, store, LAYER_SAGE, 32, budget);
    for (int64_t round = 0; round < ROUNDS; round++)
        batch_fixture_put(&i->f, round, true);
    assert_ok(thread_pool_new(THREADS, &i->pool, &i->f.err), &i->f.err);
    assert_ok(batch_reader_new(&i->f.preparer, &i->reader, &i->f.err), &i->f.err);
    const struct idle_config config = {
        .model = &i->f.model, .reader = i->reader, .pool = i->pool, .context = &i->f.context};
    assert_ok(idle_aggregation_new(&config, &i->idle, &i->f.err), &i->f.err);
}

static void close_fixture(struct idle_fixture *i)
{
    idle_aggregation_free(i->idle);
    batch_reader_free(i->reader);
    thread_pool_free(i->pool);
    prepared_batch_release(&i->f.preparer, &i->batch);
    arena_release(&i->arena);
    batch_fixture_close(&i->f);
}

static void read_ahead(struct idle_fixture *i, int64_t round)
{
    const struct key key = key_of(round);
    batch_reader_begin(i->reader, &key, true);
}

/* Checks that the aggregated rows equal a gather. */
static void check_aggregated(struct idle_fixture *i, const struct step_batch *aggregated,
                             int64_t round)
{
    const struct key key = key_of(round);
    assert_true(batch_reader_take(i->reader, &key, &i->batch));
    struct prepared_batch as_if = i->batch;
    assert_non_null(aggregated->aggregated);
    assert_true(aggregated->aggregated_count == 0 ||
                aggregated->aggregated_count == FIXTURE_DESTINATIONS);
    as_if.aggregated = aggregated->aggregated;
    if (aggregated->aggregated_count)
        batch_fixture_check(&i->f, &as_if);
}

static void what_is_aggregated_in_between_is_what_is_gathered(void **state)
{
    struct temp_store *temp = *state;
    struct idle_fixture i;
    int finished = 0;
    open_fixture(&i, temp->store, ALL_FIT);
    for (int64_t turn = 0; turn < TURNS; turn++) {
        struct idle_span span = {0, 0};
        read_ahead(&i, turn % ROUNDS);
        if (turn % 3)
            (void)batch_reader_settle(i.reader);
        idle_aggregation_begin(i.idle, &i.arena, ROOM);
        if (turn % 2)
            clock_sleep_ms(turn % 4);
        const struct key key = key_of(turn % ROUNDS);
        struct step_batch aggregated = {0};
        if (idle_aggregation_end(i.idle, &key, 0, &aggregated,
                                 &span)) { /* otherwise the time was too short to begin */
            check_aggregated(&i, &aggregated, turn % ROUNDS);
            assert_true(span.ended >= span.began && span.began > 0);
        }
        finished += aggregated.aggregated_count > 0;
        /* the result is given once */
        assert_false(idle_aggregation_end(i.idle, &key, 0, &aggregated, &span));
    }
    assert_true(finished > 0);
    read_ahead(&i, 0);
    idle_aggregation_begin(i.idle, &i.arena, ROOM);
    close_fixture(&i); /* the thread may still be aggregating */
}

static void another_batch_gets_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct step_batch batch;
    struct idle_fixture i;
    struct idle_span span;
    open_fixture(&i, temp->store, ALL_FIT);
    const struct key right = key_of(1), wrong = key_of(2);
    read_ahead(&i, 1);
    idle_aggregation_begin(i.idle, &i.arena, ROOM);
    clock_sleep_ms(5);
    assert_false(idle_aggregation_end(i.idle, &wrong, 0, &batch, &span));
    /* The arena may have another user by now. */
    assert_false(idle_aggregation_end(i.idle, &right, 0, &batch, &span));
    close_fixture(&i);
}

static void check_that_nothing_is_aggregated(struct idle_fixture *i, size_t room)
{
    struct step_batch batch;
    struct idle_span span;
    const struct key key = key_of(0);
    read_ahead(i, 0);
    idle_aggregation_begin(i->idle, &i->arena, room);
    clock_sleep_ms(5);
    assert_false(idle_aggregation_end(i->idle, &key, 0, &batch, &span));
}

static void out_of_the_budget_rows_are_aggregated_already(void **state)
{
    struct temp_store *temp = *state;
    struct idle_fixture i;
    open_fixture(&i, temp->store, NOT_ALL_FIT);
    check_that_nothing_is_aggregated(&i, ROOM);
    assert_non_null(batch_reader_settle(i.reader)->aggregated);
    close_fixture(&i);
}

static void a_batch_too_large_for_the_arena_is_left_to_the_step(void **state)
{
    struct temp_store *temp = *state;
    struct idle_fixture i;
    open_fixture(&i, temp->store, ALL_FIT);
    check_that_nothing_is_aggregated(&i, 4096);
    assert_int_equal(i.arena.limit, 0); /* the limit is restored */
    close_fixture(&i);
}

static void a_batch_that_is_not_there_is_none(void **state)
{
    struct temp_store *temp = *state;
    struct step_batch batch;
    struct idle_fixture i;
    struct idle_span span;
    const struct key key = key_of(ROUNDS);
    open_fixture(&i, temp->store, ALL_FIT);
    read_ahead(&i, ROUNDS);
    idle_aggregation_begin(i.idle, &i.arena, ROOM);
    clock_sleep_ms(5);
    assert_false(idle_aggregation_end(i.idle, &key, 0, &batch, &span));
    close_fixture(&i);
}

static void without_memory_there_is_none(void **state)
{
    struct error err = {0};
    const struct idle_config config = {0};
    struct idle_aggregation *idle = NULL;
    (void)state;
    const long blocks = memory_live_blocks();
    memory_fail_after(0);
    assert_int_equal(idle_aggregation_new(&config, &idle, &err), ERROR_NO_MEMORY);
    memory_fail_after(-1);
    assert_null(idle);
    idle_aggregation_free(idle);
    assert_int_equal(memory_live_blocks(), blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_aggregated_in_between_is_what_is_gathered,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(another_batch_gets_nothing, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(out_of_the_budget_rows_are_aggregated_already,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_batch_that_is_not_there_is_none, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_batch_too_large_for_the_arena_is_left_to_the_step,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test(without_memory_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
