/* Tests a queue that lost some keys, or has keys of another program. */
#include "store/queue/work_queue.h"

#include "tests/store/queue/work_queue_fixture.h"
#include "tests/support/redis_command.h"

#define TAG    "{store-1:cora-1}:"
#define STREAM TAG "queue:sample"

static const char *url_of(void **state)
{
    const struct redis_fixture *fixture = *state;
    return redis_server_url(fixture->server);
}

/* Restores two units that are next according to the store; the second needs two that are done. */
static void restore_both(struct work_queue *queue)
{
    struct error err = {0};
    const char done[2][QUEUE_UNIT_SIZE] = {"sample-evaluation/0", "aggregate/0"};
    const struct work_successor joined = unit_of("sample/0/1", "sample", 2);
    restore(queue, "sample/0/0", "sample");
    assert_ok(work_queue_restore(queue, &joined, done, 2, &err), &err);
}

static void fill_both(struct work_queue *queue)
{
    struct error err = {0};
    bool won = false, alive = true;
    assert_ok(work_queue_wipe(queue, &err), &err);
    assert_ok(work_queue_rebuild_begin(queue, &won, &alive, &err), &err);
    assert_true(won);
    restore_both(queue);
    assert_ok(work_queue_rebuild_end(queue, &err), &err);
}

/* Checks that every remaining unit comes out of the queue. Duplicates are allowed, and a damaged
 * queue may first be found lost. */
static void expect_both(struct work_queue *queue, const char *after)
{
    bool got[2] = {false, false};
    for (int turn = 0; turn < 12 && !(got[0] && got[1]); turn++) {
        struct error err = {0};
        struct work_claim unit = {0};
        enum claim_result result = CLAIM_NOTHING;
        enum error_code rc = work_queue_claim(queue, 0, &result, &unit, &err);
        if (rc == ERROR_NONE && result == CLAIM_LOST) {
            fill_both(queue);
        } else if (rc == ERROR_NONE && result == CLAIM_UNIT) {
            int64_t done_count = 0;
            rc = work_queue_complete(queue, &unit, NULL, 0, &done_count, &err);
            got[strcmp(unit.unit, "sample/0/1") == 0] |= rc == ERROR_NONE;
        }
        assert_true(rc == ERROR_NONE || rc == ERROR_BUSY); /* ERROR_BUSY: it was found damaged */
    }
    if (!got[0] || !got[1])
        fail_msg("a unit stays lost after %s", after);
}

static void what_is_lost_of_a_queue_comes_back_from_storage(void **state)
{
    NEED_REDIS(state);
    static const char *const loss[] = {
        "DEL " STREAM,
        "DEL " TAG "queued",
        "HDEL " TAG "queued sample/0/0",
        "HSET " TAG "queued sample/0/0 1-1",
        "HSET " TAG "queued sample/0/0 nonsense",
        "HSET " TAG "queued sample/0/1 dead:1-1",
        "XTRIM " STREAM " MAXLEN 1",
        "XTRIM " STREAM " MAXLEN 0",
        "XGROUP DESTROY " STREAM " workers",
        "XGROUP SETID " STREAM " workers $",
        "DEL " TAG "life",
        "FLUSHALL",
        "SET " STREAM " text",
        "SET " TAG "queued text",
        "SET " TAG "count text",
        "SET " TAG "dead text",
        "SET " TAG "rebuild somebody",
        "LPUSH " TAG "rebuild x",
        "HSET " TAG "count sample:done nonsense",
    };
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    for (size_t i = 0; i < sizeof loss / sizeof *loss; i++) {
        char overwritten[256];
        struct work_claim none = {0};
        struct error err = {0};
        fill_both(queue);
        assert_int_equal(claim(queue, &none), CLAIM_UNIT); /* makes the group */
        bool fenced = true;
        assert_ok(work_queue_hand_back(queue, &none, &fenced, &err), &err);
        assert_false(fenced);
        if (sscanf(loss[i], "LPUSH %200s", overwritten) == 1) {
            char del[256];
            (void)snprintf(del, sizeof del, "DEL %.200s", overwritten);
            redis_command(url_of(state), del, NULL);
        }
        redis_command(url_of(state), loss[i], NULL);
        for (int attempt = 0; attempt < 3; attempt++) { /* as a comparison with the store does */
            const char done[2][QUEUE_UNIT_SIZE] = {"sample-evaluation/0", "aggregate/0"};
            const struct work_successor joined = unit_of("sample/0/1", "sample", 2),
                                        plain = unit_of("sample/0/0", "sample", 0);
            enum error_code rc = work_queue_restore(queue, &plain, NULL, 0, &err);
            if (rc == ERROR_NONE)
                rc = work_queue_restore(queue, &joined, done, 2, &err);
            assert_true(rc == ERROR_NONE || rc == ERROR_BUSY);
        }
        expect_both(queue, loss[i]);
    }
    work_queue_close(queue);
}

/* Tests an entry that a worker holds, and that its group has lost. */
static void an_entry_that_the_group_lost_is_queued_again(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_claim held = {0}, next = {0};
    struct work_queue *a = open_queue(state, "a", "sample", 0),
                      *b = open_queue(state, "b", "sample", 0);
    fill(a, 1);
    assert_int_equal(claim(a, &held), CLAIM_UNIT);
    restore(b, "sample/0/0", "sample"); /* it is held: nothing is queued */
    assert_int_equal(work_queue_restored_count(b), 0);
    assert_int_equal(claim(b, &next), CLAIM_NOTHING);
    redis_command(url_of(state), "XGROUP DELCONSUMER " STREAM " workers a", NULL);
    assert_int_equal(claim(b, &next), CLAIM_NOTHING); /* nobody can get it */
    restore(b, "sample/0/0", "sample");
    assert_int_equal(work_queue_restored_count(b), 1);
    assert_int_equal(claim(b, &next), CLAIM_UNIT);
    assert_false(complete(a, &held, NULL, 0));
    assert_true(complete(b, &next, NULL, 0));
    assert_ok(work_queue_wipe(a, &err), &err);
    work_queue_close(a);
    work_queue_close(b);
}

static void entries_that_name_no_unit_are_taken_off(void **state)
{
    NEED_REDIS(state);
    static const char *const junk[] = {
        "XADD " STREAM " * other text",
        "XADD " STREAM " * unit \x01\x02",
        "XADD " STREAM " * unit "
        "0123456789012345678901234567890123456789012345678901234567890123456789",
    };
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    for (int64_t block_ms = 0; block_ms <= 200; block_ms += 200) {
        for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
            enum claim_result result = CLAIM_NOTHING;
            struct work_claim got = {0};
            assert_ok(work_queue_wipe(queue, &err), &err);
            fill(queue, 0);
            assert_int_equal(claim(queue, &got), CLAIM_NOTHING); /* makes the group */
            redis_command(url_of(state), junk[i], NULL);
            assert_ok(work_queue_claim(queue, block_ms, &result, &got, &err), &err);
            assert_int_equal(result, CLAIM_REFUSED);
            assert_true(strlen(got.id) > 0);
            assert_int_equal(claim(queue, &got), CLAIM_NOTHING);
            assert_true(idle(queue));
        }
    }
    work_queue_close(queue);
}

static void a_stranger_cannot_declare_a_unit_dead(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    bool found = true;
    char unit[QUEUE_UNIT_SIZE], reason[64];
    struct work_claim got = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    fill(queue, 1);
    redis_command(url_of(state), "XADD " TAG "dead * unit sample/0/0 reason none", NULL);
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_false(found);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_bury(queue, &got, "row 7", &err), &err);
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_true(found);
    assert_string_equal(reason, "row 7");
    assert_ok(work_queue_forget_dead(queue, unit, &err), &err);
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_false(found);
    /* a unit whose reason was lost is tried again */
    restore(queue, "sample/0/0", "sample");
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_bury(queue, &got, "row 7", &err), &err);
    redis_command(url_of(state), "DEL " TAG "dead", NULL);
    restore(queue, "sample/0/0", "sample");
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    work_queue_close(queue);
}

static void two_stores_on_one_server_do_not_meet(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_claim got = {0};
    struct work_queue *one = open_queue_of(state, "store-1", "a", "sample", 0);
    struct work_queue *two = open_queue_of(state, "store-2", "a", "sample", 0);
    fill(one, 1);
    assert_int_equal(claim(two, &got), CLAIM_LOST);
    fill(two, 2);
    assert_int_equal(claim(two, &got), CLAIM_UNIT);
    assert_ok(work_queue_wipe(two, &err), &err);
    assert_int_equal(counts_of(one, "sample").waiting, 1);
    assert_int_equal(claim(one, &got), CLAIM_UNIT);
    assert_true(complete(one, &got, NULL, 0));
    work_queue_close(one);
    work_queue_close(two);
}

static void one_driver_is_in_charge(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    bool other = true;
    struct work_queue *a = open_queue(state, "a", NULL, 0), *b = open_queue(state, "b", NULL, 0);
    assert_ok(work_queue_take_charge(a, "here", 5000, &other, &err), &err);
    assert_false(other);
    assert_ok(work_queue_take_charge(b, "there", 5000, &other, &err), &err);
    assert_true(other);
    /* the same driver, restarted */
    assert_ok(work_queue_take_charge(b, "here", 5000, &other, &err), &err);
    assert_false(other);
    redis_command(url_of(state), "SET " TAG "driver stranger",
                  NULL); /* without expiry, so it is not one of ours */
    assert_ok(work_queue_take_charge(a, "here", 5000, &other, &err), &err);
    assert_false(other);
    work_queue_close(a);
    work_queue_close(b);
}

static void a_server_that_throws_keys_away_is_refused(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = NULL;
    const struct work_queue_config config = {
        .url = url_of(state), .store_id = "s", .run_id = "r", .worker = "w"};
    assert_ok(work_queue_check_server(config.url, NULL, &err), &err);
    redis_command(config.url, "CONFIG SET maxmemory-policy allkeys-lru", NULL);
    assert_ok(work_queue_check_server(config.url, NULL, &err), &err); /* it has no limit */
    redis_command(config.url, "CONFIG SET maxmemory 100mb", NULL);
    assert_fails(work_queue_check_server(config.url, NULL, &err), ERROR_INVALID,
                 "expected maxmemory-policy noeviction, found allkeys-lru", &err);
    assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "noeviction", &err);
    struct work_queue_config worker = config; /* a worker joins a running run, and can report it */
    worker.stage = "sample";
    assert_ok(work_queue_open(&worker, &queue, &err), &err);
    assert_fails(work_queue_check_policy(queue, &err), ERROR_INVALID, "noeviction", &err);
    work_queue_close(queue);
    redis_command(config.url, "CONFIG SET maxmemory-policy noeviction", NULL);
    assert_ok(work_queue_check_server(config.url, NULL, &err), &err);
    assert_fails(work_queue_check_server("unix:/nowhere/redis.sock", NULL, &err), ERROR_UNAVAILABLE,
                 "/nowhere/redis.sock", &err);
}

static void a_server_without_memory_is_one_to_try_again(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_claim got = {0};
    const struct work_successor after = unit_of("train-step/0/0", "train-step", 1);
    int64_t done_count = 0;
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    fill(queue, 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    redis_command(url_of(state), "CONFIG SET maxmemory 1", NULL);
    assert_fails(work_queue_complete(queue, &got, &after, 1, &done_count, &err), ERROR_UNAVAILABLE,
                 "OOM", &err);
    redis_command(url_of(state), "CONFIG SET maxmemory 0", NULL);
    assert_true(complete(queue, &got, &after, 1));
    assert_int_equal(counts_of(queue, "train-step").waiting, 1);
    work_queue_close(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(what_is_lost_of_a_queue_comes_back_from_storage),
        WITH_REDIS(an_entry_that_the_group_lost_is_queued_again),
        WITH_REDIS(entries_that_name_no_unit_are_taken_off),
        WITH_REDIS(a_stranger_cannot_declare_a_unit_dead),
        WITH_REDIS(two_stores_on_one_server_do_not_meet),
        WITH_REDIS(one_driver_is_in_charge),
        WITH_REDIS(a_server_that_throws_keys_away_is_refused),
        WITH_REDIS(a_server_without_memory_is_one_to_try_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
