#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "store/queue/work_queue.h"
#include "store/redis/redis_connection.h"

#include "tests/store/queue/work_queue_fixture.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void a_queue_that_was_never_filled_is_lost(void **state)
{
    NEED_REDIS(state);
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    assert_int_equal(claim(queue, &got), CLAIM_LOST);
    fill(queue, 0);
    assert_int_equal(claim(queue, &got), CLAIM_NOTHING);
    work_queue_close(queue);
}

static void units_come_once_and_in_order(void **state)
{
    NEED_REDIS(state);
    struct work_queue *a = open_queue(state, "a", "sample", 0);
    struct work_queue *b = open_queue(state, "b", "sample", 0);
    struct work_claim x = {0}, y = {0}, z = {0};
    fill(a, 2);
    assert_int_equal(claim(a, &x), CLAIM_UNIT);
    assert_int_equal(claim(b, &y), CLAIM_UNIT);
    assert_string_equal(x.unit, "sample/0/0");
    assert_string_equal(y.unit, "sample/0/1");
    assert_int_equal(x.delivery_count, 1);
    assert_int_equal(claim(a, &z), CLAIM_NOTHING);
    assert_int_equal(counts_of(a, "sample").leased, 2);
    assert_true(complete(a, &x, NULL, 0));
    assert_true(complete(b, &y, NULL, 0));
    assert_false(complete(b, &y, NULL, 0)); /* it is done, so nothing is held */
    assert_true(idle(a));
    const struct stage_counts counts = counts_of(a, "sample");
    assert_int_equal(counts.waiting, 0);
    assert_int_equal(counts.leased, 0);
    assert_int_equal(counts.done, 2);
    assert_int_equal(counts.retried, 0);
    work_queue_close(a);
    work_queue_close(b);
}

/* Threads that race for units and check that no other thread has theirs. */
struct race {
    void **state;
    atomic_int *holders; /* [RACE_UNITS] */
    atomic_int *finished;
    int number;
};
enum { RACE_UNITS = 400, RACE_WORKERS = 4 };

static void *race(void *context)
{
    const struct race *race = context;
    const struct redis_fixture *fixture = *race->state;
    char worker[16];
    (void)snprintf(worker, sizeof worker, "racer-%d", race->number);
    const struct work_queue_config config = {.url = redis_server_url(fixture->server),
                                             .store_id = "store-1",
                                             .run_id = "cora-1",
                                             .worker = worker,
                                             .stage = "sample"};
    struct work_queue *queue = NULL;
    must(work_queue_open(&config, &queue, NULL) == ERROR_NONE);
    for (;;) {
        enum claim_result result = CLAIM_NOTHING;
        struct work_claim got = {0};
        int64_t done_count = 0;
        must(work_queue_claim(queue, 0, &result, &got, NULL) == ERROR_NONE);
        if (result != CLAIM_UNIT)
            break;
        const long unit = strtol(got.unit + strlen("sample/0/"), NULL, 10);
        must(atomic_fetch_add(&race->holders[unit], 1) == 0);
        must(work_queue_complete(queue, &got, NULL, 0, &done_count, NULL) == ERROR_NONE &&
             done_count);
        (void)atomic_fetch_add(race->finished, 1);
    }
    work_queue_close(queue);
    return NULL;
}

static void two_workers_never_hold_one_unit(void **state)
{
    NEED_REDIS(state);
    static atomic_int holders[RACE_UNITS];
    static atomic_int finished;
    pthread_t thread[RACE_WORKERS];
    struct race races[RACE_WORKERS];
    struct work_queue *queue = open_queue(state, "filler", NULL, 0);
    fill(queue, RACE_UNITS);
    for (int i = 0; i < RACE_WORKERS; i++) {
        races[i] = (struct race){state, holders, &finished, i};
        assert_int_equal(pthread_create(&thread[i], NULL, race, &races[i]), 0);
    }
    for (int i = 0; i < RACE_WORKERS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&finished), RACE_UNITS);
    for (int i = 0; i < RACE_UNITS; i++)
        assert_int_equal(atomic_load(&holders[i]), 1);
    assert_int_equal(counts_of(queue, "sample").done, RACE_UNITS);
    assert_true(idle(queue));
    work_queue_close(queue);
}

/* Finishes four prerequisites in random order, and reports some of them twice. */
static void a_join_queues_its_unit_exactly_once(void **state)
{
    NEED_REDIS(state);
    enum { PREREQUISITES = 4, TRIALS = 20 };
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    const struct work_successor join = unit_of("aggregate/0", "aggregate", PREREQUISITES);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct error err = {0};
        struct work_claim got[PREREQUISITES];
        assert_ok(work_queue_wipe(queue, &err), &err);
        fill(queue, PREREQUISITES);
        for (int i = 0; i < PREREQUISITES; i++)
            assert_int_equal(claim(queue, &got[i]), CLAIM_UNIT);
        for (int i = PREREQUISITES - 1, draw = trial; i >= 0; i--) {
            const int pick = draw % (i + 1);
            draw /= i + 1;
            assert_int_equal(counts_of(queue, "aggregate").waiting, 0);
            if (trial % 3 == 0) { /* what a rebuild does beside live workers */
                const char done[1][QUEUE_UNIT_SIZE] = {"sample/0/0"};
                if (strcmp(got[pick].unit, done[0]) == 0)
                    assert_ok(work_queue_restore(queue, &join, done, 1, &err), &err);
            }
            assert_true(complete(queue, &got[pick], &join, 1));
            got[pick] = got[i];
        }
        assert_int_equal(counts_of(queue, "aggregate").waiting, 1);
        for (int i = 0; i < PREREQUISITES; i++) { /* reported again while the unit is queued */
            char done[1][QUEUE_UNIT_SIZE];
            (void)snprintf(done[0], sizeof done[0], "sample/0/%d", i);
            assert_ok(
                work_queue_restore(queue, &join, (const char(*)[QUEUE_UNIT_SIZE])done, 1, &err),
                &err);
        }
        assert_int_equal(counts_of(queue, "aggregate").waiting, 1);
    }
    work_queue_close(queue);
}

static void more_successors_than_one_script_takes_are_all_queued(void **state)
{
    NEED_REDIS(state);
    enum { COUNT = 1300 };
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    static struct work_successor after[COUNT];
    static char done[COUNT][QUEUE_UNIT_SIZE];
    struct error err = {0};
    struct work_claim got = {0};
    fill(queue, 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(done[i], sizeof done[i], "train-step/0/%d", i);
        after[i] = unit_of(done[i], "train-step", 1);
    }
    assert_true(complete(queue, &got, after, COUNT));
    assert_int_equal(counts_of(queue, "train-step").waiting, COUNT);
    const struct work_successor join = unit_of("aggregate/0", "aggregate", COUNT);
    assert_ok(
        work_queue_restore(queue, &join, (const char(*)[QUEUE_UNIT_SIZE])done, COUNT - 1, &err),
        &err);
    assert_int_equal(counts_of(queue, "aggregate").waiting, 0);
    assert_ok(work_queue_restore(queue, &join, (const char(*)[QUEUE_UNIT_SIZE])done, COUNT, &err),
              &err);
    assert_int_equal(counts_of(queue, "aggregate").waiting, 1);
    assert_ok(work_queue_wipe(queue, &err), &err);
    assert_int_equal(counts_of(queue, "train-step").waiting, 0);
    work_queue_close(queue);
}

static void a_wipe_fences_whoever_works(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0}, next = {0};
    const struct work_successor after = unit_of("train-step/0/0", "train-step", 1);
    bool fenced = false;
    fill(queue, 3);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_wipe(queue, &err), &err);
    assert_int_equal(claim(queue, &next), CLAIM_LOST);
    assert_ok(work_queue_renew(queue, &got, &fenced, &err), &err);
    assert_true(fenced);
    assert_false(complete(queue, &got, &after, 1));
    assert_int_equal(counts_of(queue, "train-step").waiting, 0);
    fill(queue, 1);
    assert_false(complete(queue, &got, &after, 1)); /* nor after a rebuild */
    assert_int_equal(claim(queue, &next), CLAIM_UNIT);
    work_queue_close(queue);
}

static void one_worker_rebuilds_and_the_others_wait(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *a = open_queue(state, "a", "sample", SHORT_LEASE_MS);
    struct work_queue *b = open_queue(state, "b", "sample", SHORT_LEASE_MS);
    const struct work_successor unit = unit_of("sample/0/0", "sample", 0);
    struct work_claim got = {0};
    bool won = false, alive = true;
    assert_ok(work_queue_rebuild_begin(a, &won, &alive, &err), &err);
    assert_true(won && !alive);
    assert_ok(work_queue_rebuild_begin(b, &won, &alive, &err), &err);
    assert_true(!won && !alive);
    assert_int_equal(claim(b, &got), CLAIM_LOST); /* a half-filled queue is not alive */

    /* The first worker stops, and continues after the second has taken over. */
    clock_sleep_ms(SHORT_LEASE_MS + 50);
    assert_ok(work_queue_rebuild_begin(b, &won, &alive, &err), &err);
    assert_true(won);
    assert_fails(work_queue_restore(a, &unit, NULL, 0, &err), ERROR_BUSY, "rebuilds", &err);
    assert_fails(work_queue_rebuild_end(a, &err), ERROR_BUSY, "rebuilds", &err);

    /* A wipe during a rebuild removes what was restored, so the rebuild may not end. */
    assert_ok(work_queue_restore(b, &unit, NULL, 0, &err), &err);
    assert_ok(work_queue_wipe(a, &err), &err);
    assert_fails(work_queue_rebuild_end(b, &err), ERROR_BUSY, "lost", &err);
    fill(b, 1);
    assert_ok(work_queue_rebuild_begin(a, &won, &alive, &err), &err);
    assert_true(!won && alive);
    work_queue_close(a);
    work_queue_close(b);
}

/* The driver has a longer lease than the workers; its lock must hold for them too. */
static void the_lock_of_a_rebuild_holds_for_workers_with_shorter_leases(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *driver = open_queue(state, "driver", NULL, 10000);
    struct work_queue *worker = open_queue(state, "worker", "sample", SHORT_LEASE_MS);
    bool won = false, alive = true;
    assert_ok(work_queue_rebuild_begin(driver, &won, &alive, &err), &err);
    assert_true(won);
    assert_ok(work_queue_rebuild_begin(worker, &won, &alive, &err), &err);
    assert_true(!won && !alive);
    restore(driver, "sample/0/0", "sample");
    assert_ok(work_queue_rebuild_end(driver, &err), &err);
    work_queue_close(driver);
    work_queue_close(worker);
}

static int64_t key_count(void **state, const char *pattern)
{
    const struct redis_fixture *fixture = *state;
    const char *argv[] = {"KEYS", pattern};
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    struct error err = {0};
    assert_ok(redis_connection_new(redis_server_url(fixture->server), NULL, &connection, &err),
              &err);
    assert_ok(redis_connection_call(connection, 2, argv, &reply, &err), &err);
    const int64_t count = redis_reply_count(reply);
    redis_reply_free(reply);
    redis_connection_free(connection);
    return count;
}

static void the_queue_of_a_finished_run_goes_and_others_stay(void **state)
{
    NEED_REDIS(state);
    enum { KEEP_MS = 400 };
    const char *const stages[] = {"sample", "aggregate"};
    const struct work_successor join = unit_of("aggregate/0", "aggregate", 2);
    struct work_queue *queue = open_queue_of(state, "retired", "a", "sample", 0);
    struct work_queue *other = open_queue_of(state, "staying", "a", "sample", 0);
    struct work_claim got = {0};
    struct error err = {0};
    assert_ok(work_queue_retire(queue, stages, 2, KEEP_MS, &err), &err); /* there is nothing */
    assert_int_equal(key_count(state, "{retired:*"), 0);
    fill(other, 1);
    const int64_t others = key_count(state, "{staying:*");
    fill(queue, 3);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_true(complete(queue, &got, &join, 1)); /* aggregate/0 will never be queued */
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_bury(queue, &got, "no good", &err), &err);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT); /* a held unit */
    assert_int_equal(key_count(state, "{retired:*:wait:*"), 1);
    for (int i = 0; i < 2; i++) /* any worker that finds the run finished may call it */
        assert_ok(work_queue_retire(queue, stages, 2, KEEP_MS, &err), &err);
    assert_int_equal(counts_of(queue, "sample").done, 1);
    assert_int_equal(key_count(state, "{retired:*:wait:*"), 0);
    clock_sleep_ms(KEEP_MS + 100);
    assert_int_equal(key_count(state, "{retired:*"), 0);
    assert_int_equal(key_count(state, "{staying:*"), others);
    assert_int_equal(claim(queue, &got), CLAIM_LOST);
    fill(queue, 1); /* there was more to do */
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    work_queue_close(queue);
    work_queue_close(other);
}

static void a_queue_comes_back_with_its_server(void **state)
{
    NEED_REDIS(state);
    struct redis_fixture *fixture = *state;
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    enum claim_result result = CLAIM_NOTHING;
    bool restarted = false;
    fill(queue, 2);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_int_equal(kill(redis_server_pid(fixture->server), SIGKILL), 0);
    for (int i = 0; i < 500; i++) {
        if (work_queue_claim(queue, 0, &result, &got, &err) == ERROR_UNAVAILABLE)
            break;
        clock_sleep_ms(10);
    }
    assert_fails(work_queue_claim(queue, 0, &result, &got, &err), ERROR_UNAVAILABLE, "Redis at",
                 &err);
    /* its socket closes before its parent is notified */
    for (int i = 0; i < 500 && !restarted; i++) {
        assert_ok(redis_server_check(fixture->server, &restarted, &err), &err);
        clock_sleep_ms(10);
    }
    assert_true(restarted);
    assert_int_equal(claim(queue, &got), CLAIM_LOST); /* this also sends the scripts again */
    fill(queue, 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_true(complete(queue, &got, NULL, 0));
    work_queue_close(queue);
}

/* Returns how often the server was asked for `command`. */
static long calls_of(const char *url, const char *command)
{
    char start[64];
    struct error err = {0};
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"INFO", "commandstats"};
    assert_ok(redis_connection_new(url, NULL, &connection, &err), &err);
    assert_ok(redis_connection_call(connection, 2, argv, &reply, &err), &err);
    (void)snprintf(start, sizeof start, "cmdstat_%s:calls=", command);
    const char *line = strstr(redis_reply_text(reply), start);
    const long calls = line ? strtol(strchr(line, '=') + 1, NULL, 10) : 0;
    assert_null(strstr(redis_reply_text(reply), "cmdstat_eval:")); /* never in full */
    redis_reply_free(reply);
    redis_connection_free(connection);
    return calls;
}

static void a_unit_takes_one_wait_and_one_script(void **state)
{
    NEED_REDIS(state);
    enum { UNITS = 20 };
    const struct redis_fixture *fixture = *state;
    const char *url = redis_server_url(fixture->server);
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    const struct work_successor after = unit_of("aggregate/0", "aggregate", UNITS + 2);
    struct work_claim got = {0};
    fill(queue, UNITS + 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT); /* the first call also loads the scripts */
    assert_true(complete(queue, &got, &after, 1));
    const long scripts = calls_of(url, "evalsha"), waits = calls_of(url, "xreadgroup");
    for (int i = 0; i < UNITS; i++) {
        enum claim_result result = CLAIM_NOTHING;
        struct error err = {0};
        assert_ok(work_queue_claim(queue, 1000, &result, &got, &err), &err);
        assert_int_equal(result, CLAIM_UNIT);
        assert_true(complete(queue, &got, &after, 1));
    }
    assert_int_equal(calls_of(url, "evalsha") - scripts, UNITS);
    assert_int_equal(calls_of(url, "xreadgroup") - waits, UNITS);
    work_queue_close(queue);
}

static void *raise_stop(void *unused)
{
    (void)unused;
    clock_sleep_ms(100);
    stop_signal_set(true);
    return NULL;
}

static void a_blocked_claim_ends_on_a_unit_or_a_stop_signal(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    enum claim_result result = CLAIM_UNIT;
    pthread_t thread;
    fill(queue, 0);
    int64_t from = clock_ms();
    assert_ok(work_queue_claim(queue, 300, &result, &got, &err), &err);
    assert_int_equal(result, CLAIM_NOTHING);
    assert_true(clock_ms() - from >= 300);

    assert_int_equal(pthread_create(&thread, NULL, raise_stop, NULL), 0);
    from = clock_ms();
    assert_ok(work_queue_claim(queue, 60000, &result, &got, &err), &err);
    assert_int_equal(result, CLAIM_NOTHING);
    assert_true(clock_ms() - from < 5000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_signal_set(false);
    work_queue_close(queue);
}

static void status_shows_counts_and_beats(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    const struct worker_beat written[] = {
        {.worker = "w2", .stage = "train-step", .unit = "", .host = "h", .pid = 12},
        {.worker = "w1",
         .stage = "sample",
         .unit = "sample/0/0",
         .host = "node-7",
         .pid = 4711,
         .done = 17,
         .memory_bytes = 1LL << 33,
         .busy_share = 0.25},
    };
    struct worker_beat read[4];
    int count = 0;
    fill(queue, 3);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_int_equal(counts_of(queue, "sample").waiting, 2);
    assert_int_equal(counts_of(queue, "sample").leased, 1);
    assert_int_equal(counts_of(queue, "aggregate").waiting, 0);
    assert_ok(work_queue_beat(queue, &written[0], &err), &err);
    assert_ok(work_queue_beat(queue, &written[1], &err), &err);
    assert_ok(work_queue_beats(queue, read, 4, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_string_equal(read[0].worker, "w1");
    assert_string_equal(read[0].stage, "sample");
    assert_string_equal(read[0].unit, "sample/0/0");
    assert_string_equal(read[0].host, "node-7");
    assert_int_equal(read[0].pid, 4711);
    assert_int_equal(read[0].done, 17);
    assert_true(read[0].memory_bytes == 1LL << 33);
    assert_true(read[0].busy_share > 0.249 && read[0].busy_share < 0.251);
    assert_true(read[0].age_seconds >= 0.0 && read[0].age_seconds < 60.0);
    assert_string_equal(read[1].worker, "w2");
    assert_string_equal(read[1].unit, "");
    assert_ok(work_queue_beats(queue, read, 1, &count, &err), &err);
    assert_int_equal(count, 1);
    work_queue_close(queue);
}

static void refuses_bad_addresses_and_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "localhost:6379",
                                      "redis://",
                                      "redis://host:0",
                                      "redis://host:70000",
                                      "redis://host:12x",
                                      "redis://host/x",
                                      "redis://user:secret@host:6379",
                                      "redis://[::1",
                                      "unix:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        struct work_queue *queue = NULL;
        const struct work_queue_config config = {
            .url = bad[i], .store_id = "store-1", .run_id = "r", .worker = "w"};
        assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "is no Redis address",
                     &err);
        assert_null(queue);
    }
    struct error err = {0};
    struct work_queue *queue = NULL;
    struct work_queue_config config = {
        .url = "unix:/nowhere/redis.sock", .store_id = "store-1", .run_id = "r"};
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "name of the worker", &err);
    config.worker = "w";
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_UNAVAILABLE, "/nowhere/redis.sock",
                 &err);
    config.run_id = "r}*";
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "run id", &err);
    config.run_id = "r", config.store_id = NULL;
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "identity of a store",
                 &err);
}

static void a_password_is_read_from_its_file(void **state)
{
    NEED_REDIS(state);
    const struct redis_fixture *fixture = *state;
    struct error err = {0};
    struct work_queue *queue = NULL;
    char command[FILE_PATH_SIZE * 2];
    (void)snprintf(command, sizeof command,
                   "redis-cli -s %s config set requirepass 'open sesame' > /dev/null",
                   redis_server_url(fixture->server) + strlen("unix:"));
    if (system(command) != 0) /* NOLINT(cert-env33-c) */
        skip();
    struct work_queue_config config = {.url = redis_server_url(fixture->server),
                                       .store_id = "store-1",
                                       .run_id = "r",
                                       .worker = "w",
                                       .stage = "sample"};
    config.password_file = temp_dir_write(&fixture->dir, "good", "open sesame\n", 12);
    assert_ok(work_queue_open(&config, &queue, &err), &err);
    fill(queue, 0);
    work_queue_close(queue);
    config.password_file = temp_dir_write(&fixture->dir, "bad", "guess\n", 6);
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "AUTH", &err);
    config.password_file = "/nowhere/password";
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_NOT_FOUND, "password of Redis",
                 &err);
}

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
    NEED_REDIS(state);
    const struct redis_fixture *fixture = *state;
    const long live = memory_live_blocks();
    for (long n = 0;; n++) {
        struct error err = {0};
        struct work_queue *queue = NULL;
        const struct work_queue_config config = {.url = redis_server_url(fixture->server),
                                                 .store_id = "store-1",
                                                 .run_id = "r",
                                                 .worker = "w"};
        memory_fail_after(n);
        const enum error_code rc = work_queue_open(&config, &queue, &err);
        memory_fail_after(-1);
        work_queue_close(queue);
        assert_int_equal(memory_live_blocks(), live);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(a_queue_that_was_never_filled_is_lost),
        WITH_REDIS(units_come_once_and_in_order),
        WITH_REDIS(two_workers_never_hold_one_unit),
        WITH_REDIS(a_join_queues_its_unit_exactly_once),
        WITH_REDIS(more_successors_than_one_script_takes_are_all_queued),
        WITH_REDIS(a_wipe_fences_whoever_works),
        WITH_REDIS(one_worker_rebuilds_and_the_others_wait),
        WITH_REDIS(the_lock_of_a_rebuild_holds_for_workers_with_shorter_leases),
        WITH_REDIS(the_queue_of_a_finished_run_goes_and_others_stay),
        WITH_REDIS(a_queue_comes_back_with_its_server),
        WITH_REDIS(a_unit_takes_one_wait_and_one_script),
        WITH_REDIS(a_blocked_claim_ends_on_a_unit_or_a_stop_signal),
        WITH_REDIS(status_shows_counts_and_beats),
        cmocka_unit_test(refuses_bad_addresses_and_names),
        WITH_REDIS(a_password_is_read_from_its_file),
        WITH_REDIS(running_out_of_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
