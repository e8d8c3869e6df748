/* Workers of a toy pipeline (toy_pipeline.h) do, repair, refuse and hand over units. */
#include "common/base/stop_signal.h"
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/engine/toy_pipeline.h"

static void workers_bring_a_run_to_its_end(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    run_pipeline(state, path, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));

    struct toy_worker late = worker_of(state, path, 0); /* begins when everything is done */
    (void)run_worker(&late);
    assert_ok(late.rc, &late.err);
}

/* Counts look-ups of steps of later rounds: filling an empty queue asks only for the first ones. */
static atomic_int looks;

static enum error_code count_looks(void *state, const char *key, bool *found, struct error *err)
{
    if (strstr(key, "round/0000000002/") || strstr(key, "round/0000000003/"))
        (void)atomic_fetch_add(&looks, 1);
    return memory_backend.has(state, key, found, err);
}

static void what_comes_first_is_not_looked_for_far_away(void **state)
{
    NEED_REDIS(state);
    static const char place[] = "far-away";
    struct object_backend far_away = memory_backend;
    struct toy_worker worker[WORKER_COUNT];
    const uint64_t expected = undisturbed(state);
    far_away.has = count_looks;
    toy_backend = &far_away;
    run_pipeline(state, place, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(place) == expected);
    assert_int_equal(atomic_load(&looks), 0);
    toy_backend = NULL;
    memory_store_forget(place);
}

/* The reader of a damaged round record notices the damage, and the stage that makes the record
 * makes it again. When a second reader looks, the record may be whole again. */
static void a_damaged_or_lost_record_is_made_again(void **state)
{
    NEED_REDIS(state);
    const enum mischief how[] = {TEAR_RECORD, LOSE_RECORD, MEET_MENDED_INPUT};
    for (size_t m = 0; m < sizeof how / sizeof *how; m++) {
        char path[FILE_PATH_SIZE];
        struct toy_worker worker[WORKER_COUNT];
        struct error err = {0};
        store_in(state, path);
        assert_ok(file_remove_all(path, &err), &err);
        atomic_store(&mischief, how[m]);
        run_pipeline(state, path, worker); /* the queue of the run before is out of date */
        for (int i = 0; i < WORKER_COUNT; i++)
            assert_ok(worker[i].rc, &worker[i].err);
        assert_int_equal(atomic_load(&mischief), DO_NOTHING);
        assert_true(result_of(path) == undisturbed(state));
    }
}

/* How often a worker preferred another unit. */
static atomic_int asked;

/* Prefers the last slots, and names units that do not wait. */
static int prefers_the_last(const struct stage_context *context, const void *opaque,
                            const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE])
{
    struct unit other = *unit;
    (void)opaque;
    if (unit->kind != UNIT_SAMPLE && unit->kind != UNIT_TRAIN_STEP)
        return 0;
    other.round = 999;
    unit_name(&other, wanted[0]);
    other.round = unit->round;
    other.slot = schedule_slot_count(context->schedule, unit->round) - 1;
    if (other.slot == unit->slot)
        return 0;
    unit_name(&other, wanted[1]);
    (void)atomic_fetch_add(&asked, 1);
    return 2;
}

/* A preferred unit comes first if it waits, a unit that nobody prefers is done all the same, and
 * the run ends with the same number. */
static void workers_that_prefer_other_units_leave_none(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    const uint64_t expected = undisturbed(state);
    store_in(state, path);
    atomic_store(&asked, 0);
    toy_prefers = prefers_the_last;
    run_pipeline(state, path, worker);
    toy_prefers = NULL;
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == expected);
    assert_true(atomic_load(&asked) > 0);
}

static void several_units_in_hand_change_nothing(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 20);
    atomic_store(&most_samples_in_hand, 0);
    run_pipeline_of(state, path, 3, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));
    assert_true(atomic_load(&most_samples_in_hand) > 1 && atomic_load(&most_samples_in_hand) <= 3);
}

/* The worker ends with the reason of the failed unit, not of the units that had to stop. */
static void one_failing_unit_of_several_in_hand_ends_the_worker(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, FAIL_FOR_GOOD);
    run_pipeline_of(state, path, 3, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        assert_non_null(strstr(worker[i].err.message, "row 7 is ragged"));
        met_it += worker[i].rc == ERROR_INPUT;
    }
    assert_int_equal(met_it, 1);
}

static void check_failure(void **state, enum mischief how, enum error_code code, const char *why)
{
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, how);
    run_pipeline(state, path, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        assert_non_null(strstr(worker[i].err.message, victim));
        assert_non_null(strstr(worker[i].err.message, why));
        met_it += worker[i].rc == code && strncmp(worker[i].err.message, victim, 5) == 0;
        assert_true(worker[i].rc == code || worker[i].rc == ERROR_CORRUPT);
    }
    assert_int_equal(met_it, 1);
    assert_true(result_of(path) == 0);
}

static void a_unit_that_fails_for_good_stops_all_workers_with_its_reason(void **state)
{
    NEED_REDIS(state);
    check_failure(state, FAIL_FOR_GOOD, ERROR_INPUT, "row 7 is ragged");
}

/* Runs workers that leave and read notices, until all have ended with the same sentence. */
static void check_notice(void **state, enum mischief how, enum error_code code,
                         const char *sentence, const char *from)
{
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    pthread_t thread[WORKER_COUNT];
    int first = 0;
    store_in(state, path);
    atomic_store(&mischief, how);
    atomic_store(&opened, 0);
    for (int i = 0; i < WORKER_COUNT; i++) {
        worker[i] = worker_of(state, path, i);
        worker[i].leaves_notice = true;
        assert_int_equal(pthread_create(&thread[i], NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < WORKER_COUNT; i++) {
        assert_non_null(strstr(worker[i].err.message, sentence));
        if (strncmp(worker[i].err.message, from, strlen(from)) == 0)
            assert_int_equal(worker[i].rc, ERROR_INPUT);
        else
            assert_int_equal(worker[i].rc, (first++, code));
    }
    assert_int_equal(first, 1);
}

static void a_notice_in_the_store_ends_all_with_the_same_status_and_sentence(void **state)
{
    NEED_REDIS(state);
    check_notice(state, FAIL_FOR_GOOD, ERROR_INPUT, "train-step/1/0: row 7 is ragged",
                 "train-step failed for good: ");
}

static void a_stage_that_cannot_open_its_data_ends_all(void **state)
{
    NEED_REDIS(state);
    check_notice(state, FAIL_OPENING, ERROR_CORRUPT,
                 "artifact partition/p/part/0/topology: its hash is wrong",
                 "sample failed for good: ");
}

static void a_missing_input_that_nothing_makes_again_is_a_failure(void **state)
{
    NEED_REDIS(state);
    check_failure(state, LOSE_INPUT_FOR_EVER, ERROR_NOT_FOUND, "topology of part 3 is gone");
}

static void trouble_of_one_host_ends_one_worker(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, BREAK_HOST);
    run_pipeline(state, path, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        met_it += worker[i].rc == ERROR_IO;
        if (worker[i].rc == ERROR_IO)
            assert_string_equal(worker[i].err.message,
                                "train-step/1/0: the disk of this host is broken");
        else
            assert_ok(worker[i].rc, &worker[i].err);
    }
    assert_int_equal(met_it, 1);
    assert_true(result_of(path) == undisturbed(state));
}

static void a_full_disk_is_a_pause(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&full_tries, 6);
    atomic_store(&mischief, FILL_DISK);
    run_pipeline(state, path, worker);
    assert_true(atomic_load(&full_tries) <= 0);
    expect_undisturbed(state, path, worker);
}

static void a_stop_signal_ends_a_worker_soon(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    pthread_t thread;
    store_in(state, path);
    struct toy_worker worker = worker_of(state, path, 4); /* a worker of checkpoint, which has
                                                           * nothing to do */
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &worker), 0);
    clock_sleep_ms(300);
    const int64_t from = clock_ms();
    stop_signal_set(true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_signal_set(false);
    assert_int_equal(worker.rc, ERROR_UNAVAILABLE);
    assert_string_equal(worker.err.message, "asked to stop");
    assert_true(clock_ms() - from < 3000);
}

static void a_worker_gives_up_when_redis_stays_away(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    store_in(state, path);
    struct toy_worker worker = worker_of(state, path, 0);
    worker.url = "unix:/nowhere/redis.sock";
    worker.idle_exit_ms = 300;
    (void)run_worker(&worker);
    assert_int_equal(worker.rc, ERROR_UNAVAILABLE);
    assert_non_null(strstr(worker.err.message, "given up after 300 ms"));
    assert_non_null(strstr(worker.err.message, "/nowhere/redis.sock"));
}

/* Redis is stopped once nothing is left to do; not every worker has seen that by then. */
static void a_worker_without_redis_ends_when_the_run_is_finished(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    pthread_t thread;
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    struct toy_worker lonely = worker_of(state, path, 0);
    lonely.url = "unix:/nowhere/redis.sock";
    lonely.idle_exit_ms = HANG_MS;
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &lonely), 0);
    run_pipeline(state, path, worker);
    expect_undisturbed(state, path, worker);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ok(lonely.rc, &lonely.err);
}

/* A unit that takes several leases stays with its worker, whose heartbeat names it. */
static void a_long_unit_keeps_its_lease_and_shows_in_the_heartbeat(void **state)
{
    NEED_REDIS(state);
    const struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    pthread_t thread;
    struct error err = {0};
    struct work_queue *queue = NULL;
    struct worker_beat beat[4];
    struct stage_counts counts = {0};
    struct store *store = NULL;
    char store_id[STORE_IDENTITY_SIZE];
    int count = 0;
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 2000);
    struct toy_worker worker = worker_of(state, path, 0);
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &worker), 0);
    const struct work_queue_config config = {.url = redis_server_url(fixture->server),
                                             .store_id = store_id,
                                             .run_id = run_id,
                                             .worker = "thief",
                                             .stage = "sample",
                                             .lease_ms = 600};
    clock_sleep_ms(1500);
    assert_ok(store_open(path, 0, &store, &err), &err);
    assert_ok(store_identity(store, store_id, &err), &err);
    store_close(store);
    assert_ok(work_queue_open(&config, &queue, &err), &err);
    assert_ok(work_queue_beats(queue, beat, 4, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_string_equal(beat[0].worker, "sample-0");
    assert_string_equal(beat[0].stage, "sample");
    assert_non_null(strstr(beat[0].unit, "sample"));
    assert_int_equal(beat[0].pid, getpid());
    assert_true(beat[0].memory_bytes > 100000);
    assert_true(beat[0].busy_share > 0.5 && beat[0].busy_share <= 1.0);
    assert_ok(work_queue_counts(queue, "sample", &counts, &err), &err);
    assert_int_equal(counts.leased, 1);
    for (int64_t left = counts.waiting; left > 0; left--) { /* only a unit that nobody holds can be
                                                             * claimed */
        enum claim_result result = CLAIM_NOTHING;
        struct work_claim claim;
        assert_ok(work_queue_claim(queue, 0, &result, &claim, &err), &err);
        assert_int_equal(claim.delivery_count, 1);
        assert_string_not_equal(claim.unit, beat[0].unit);
    }
    stop_signal_set(true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_signal_set(false);
    work_queue_close(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(workers_bring_a_run_to_its_end),
        WITH_REDIS(what_comes_first_is_not_looked_for_far_away),
        WITH_REDIS(a_damaged_or_lost_record_is_made_again),
        WITH_REDIS(workers_that_prefer_other_units_leave_none),
        WITH_REDIS(several_units_in_hand_change_nothing),
        WITH_REDIS(one_failing_unit_of_several_in_hand_ends_the_worker),
        WITH_REDIS(a_unit_that_fails_for_good_stops_all_workers_with_its_reason),
        WITH_REDIS(a_notice_in_the_store_ends_all_with_the_same_status_and_sentence),
        WITH_REDIS(a_stage_that_cannot_open_its_data_ends_all),
        WITH_REDIS(a_missing_input_that_nothing_makes_again_is_a_failure),
        WITH_REDIS(trouble_of_one_host_ends_one_worker),
        WITH_REDIS(a_full_disk_is_a_pause),
        WITH_REDIS(a_stop_signal_ends_a_worker_soon),
        WITH_REDIS(a_worker_gives_up_when_redis_stays_away),
        WITH_REDIS(a_worker_without_redis_ends_when_the_run_is_finished),
        WITH_REDIS(a_long_unit_keeps_its_lease_and_shows_in_the_heartbeat),
    };
    log_open("work_loop_test", LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
