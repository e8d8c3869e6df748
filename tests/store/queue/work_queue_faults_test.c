/* Tests every call of a queue over a network that fails, and with servers that answer nonsense: the
 * call reports it, and a repetition does what it should. */
#include "common/base/memory.h"
#include "store/queue/work_queue.h"

#include "tests/store/queue/work_queue_fixture.h"
#include "tests/support/failing_calls.h"
#include "tests/support/fake_redis.h"

#include <errno.h>
#include <signal.h>

/* The objects that every call uses. The worker of `held` holds the units of the claims. */
struct scene {
    struct work_queue_config config;
    struct work_queue *queue;
    struct work_claim claim;
};

static enum error_code open_and_close(struct scene *s, struct error *err)
{
    struct work_queue_config config = s->config;
    struct work_queue *queue = NULL;
    config.stage = NULL; /* a driver, which checks the eviction policy of the server */
    const enum error_code rc = work_queue_open(&config, &queue, err);
    assert_int_equal(rc == ERROR_NONE, queue != NULL);
    work_queue_close(queue);
    return rc;
}

static enum error_code check_server(struct scene *s, struct error *err)
{
    return work_queue_check_server(s->config.url, NULL, err);
}

static enum error_code check_policy(struct scene *s, struct error *err)
{
    return work_queue_check_policy(s->queue, err);
}

static enum error_code claim_now(struct scene *s, struct error *err)
{
    enum claim_result result = CLAIM_NOTHING;
    const enum error_code rc = work_queue_claim(s->queue, 0, &result, &s->claim, err);
    if (rc == ERROR_NONE)
        assert_int_equal(result, CLAIM_UNIT);
    return rc;
}

static enum error_code claim_waiting(struct scene *s, struct error *err)
{
    enum claim_result result = CLAIM_NOTHING;
    const enum error_code rc = work_queue_claim(s->queue, 5000, &result, &s->claim, err);
    if (rc == ERROR_NONE)
        assert_int_equal(result, CLAIM_UNIT);
    return rc;
}

static enum error_code complete_it(struct scene *s, struct error *err)
{
    static struct work_successor successor[600]; /* more than fit into one script call */
    int64_t done = 0;
    for (int i = 0; i < 600; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "train-step/0/%d", i);
        successor[i] = unit_of(name, "train-step", 2);
    }
    return work_queue_complete(s->queue, &s->claim, successor, 600, &done, err);
}

static enum error_code renew(struct scene *s, struct error *err)
{
    bool fenced = true;
    const enum error_code rc = work_queue_renew(s->queue, &s->claim, &fenced, err);
    assert_false(fenced);
    return rc;
}

static enum error_code give_back(struct scene *s, struct error *err)
{
    bool fenced = false; /* it is, if only the answer of the first try was lost */
    return work_queue_give_back(s->queue, &s->claim, &fenced, err);
}

static enum error_code hand_back(struct scene *s, struct error *err)
{
    bool fenced = false;
    return work_queue_hand_back(s->queue, &s->claim, &fenced, err);
}

static enum error_code bury(struct scene *s, struct error *err)
{
    return work_queue_bury(s->queue, &s->claim, "bad data", err);
}

static enum error_code first_dead(struct scene *s, struct error *err)
{
    bool found = false;
    char unit[QUEUE_UNIT_SIZE], reason[32];
    return work_queue_first_dead(s->queue, &found, unit, reason, sizeof reason, err);
}

static enum error_code forget_dead(struct scene *s, struct error *err)
{
    return work_queue_forget_dead(s->queue, "sample/0/7", err);
}

static enum error_code list_held(struct scene *s, struct error *err)
{
    struct held_unit held[4];
    int count = 0;
    const enum error_code rc = work_queue_held(s->queue, held, 4, &count, err);
    assert_int_equal(count, rc == ERROR_NONE);
    return rc;
}

static enum error_code begin_copy(struct scene *s, struct error *err)
{
    struct work_claim copy = {0};
    struct held_unit held = {.delivery_count = s->claim.delivery_count};
    bool begun = false;
    memcpy(held.id, s->claim.id, sizeof held.id);
    memcpy(held.owner, s->claim.owner, sizeof held.owner);
    return work_queue_begin_copy(s->queue, &held, 1000, &begun, &copy, err);
}

static enum error_code rebuild(struct scene *s, struct error *err)
{
    static char done[600][QUEUE_UNIT_SIZE]; /* more than fit into one script call */
    const struct work_successor entry = unit_of("sample/0/0", "sample", 600);
    bool won = false, alive = false;
    for (int i = 0; i < 600; i++)
        (void)snprintf(done[i], sizeof done[i], "gradient/%d", i);
    enum error_code rc = work_queue_wipe(s->queue, err);
    if (rc == ERROR_NONE)
        rc = work_queue_rebuild_begin(s->queue, &won, &alive, err);
    if (rc == ERROR_NONE)
        rc = work_queue_restore(s->queue, &entry, (const char(*)[QUEUE_UNIT_SIZE])done, 600, err);
    if (rc == ERROR_NONE)
        rc = work_queue_rebuild_end(s->queue, err);
    return rc;
}

static enum error_code beat(struct scene *s, struct error *err)
{
    const struct worker_beat of = {.worker = "a", .stage = "sample", .pid = 1};
    return work_queue_beat(s->queue, &of, err);
}

static enum error_code beats(struct scene *s, struct error *err)
{
    struct worker_beat found[4];
    int count = 0;
    return work_queue_beats(s->queue, found, 4, &count, err);
}

static enum error_code counts(struct scene *s, struct error *err)
{
    struct stage_counts found;
    const enum error_code rc = work_queue_counts(s->queue, "sample", &found, err);
    assert_int_equal(found.leased, rc == ERROR_NONE);
    return rc;
}

static enum error_code look(struct scene *s, struct error *err)
{
    static const char *const stage[] = {"sample"};
    struct queue_look found;
    const enum error_code rc = work_queue_look(s->queue, stage, 1, 0, &found, err);
    assert_int_equal(found.alive, rc == ERROR_NONE);
    return rc;
}

static enum error_code take_charge(struct scene *s, struct error *err)
{
    bool other = true;
    const enum error_code rc = work_queue_take_charge(s->queue, "driver", 1000, &other, err);
    assert_false(other);
    return rc;
}

static const struct {
    const char *name;
    enum error_code (*attempt)(struct scene *s, struct error *err);
    bool is_before_claim; /* otherwise a unit is held */
    bool ignores_answer;
    bool is_own_connection;
} calls[] = {
    {"open", open_and_close, true, true, true},
    {"check_server", check_server, true, true, true},
    {"check_policy", check_policy, true, true, false},
    {"claim", claim_now, true, false, false},
    {"claim_waiting", claim_waiting, true, false, false},
    {"complete", complete_it, false, false, false},
    {"renew", renew, false, false, false},
    {"give_back", give_back, false, false, false},
    {"hand_back", hand_back, false, false, false},
    {"bury", bury, false, false, false},
    {"first_dead", first_dead, false, false, false},
    {"forget_dead", forget_dead, false, true, false},
    {"held", list_held, false, false, false},
    {"begin_copy", begin_copy, false, true, false},
    {"rebuild", rebuild, true, false, false},
    {"beat", beat, false, false, false},
    {"beats", beats, false, false, false},
    {"counts", counts, false, false, false},
    {"look", look, false, false, false},
    {"take_charge", take_charge, false, false, false},
};
enum { CALL_TABLE_SIZE = sizeof calls / sizeof *calls };

static struct work_queue_config config_of(const char *url)
{
    return (struct work_queue_config){
        .url = url, .store_id = "store-1", .run_id = "cora-1", .worker = "a", .stage = "sample"};
}

static void begin_scene(struct scene *s, bool is_before_claim)
{
    struct error err = {0};
    assert_ok(work_queue_open(&s->config, &s->queue, &err), &err);
    assert_ok(work_queue_wipe(s->queue, &err), &err);
    fill(s->queue, 1);
    if (!is_before_claim)
        assert_int_equal(claim(s->queue, &s->claim), CLAIM_UNIT);
}

/* Runs a call whose system call number `passed` fails. Returns false if the call makes fewer system
 * calls. */
static bool try_call(void **state, size_t at, enum failing_call kind, bool is_lost, long passed)
{
    const struct redis_fixture *fixture = *state;
    struct scene s = {.config = config_of(redis_server_url(fixture->server))};
    struct error err = {0};
    begin_scene(&s, calls[at].is_before_claim);
    const long blocks = memory_live_blocks();
    if (is_lost)
        failing_calls_plan_lost_answers(kind, passed, 1, ECONNRESET);
    else
        failing_calls_plan(kind, passed, 1, ECONNRESET);
    enum error_code rc = calls[at].attempt(&s, &err);
    const long failed = failing_calls_end();
    if (memory_live_blocks() != blocks)
        fail_msg("%s: call %ld left memory", calls[at].name, passed);
    if (failed)
        assert_failed(rc, ERROR_UNAVAILABLE, s.config.url, &err);
    for (int again = 0; rc != ERROR_NONE && again < 2; again++)
        rc = calls[at].attempt(&s, &err);
    if (rc != ERROR_NONE)
        fail_msg("%s: after call %ld of kind %d: %s", calls[at].name, passed, (int)kind,
                 err.message);
    work_queue_close(s.queue);
    return failed > 0;
}

static void whichever_call_of_the_network_fails_it_is_told(void **state)
{
    NEED_REDIS(state);
    for (size_t at = 0; at < CALL_TABLE_SIZE; at++)
        for (int form = 0; form < 3; form++) {
            long passed = 0;
            while (try_call(state, at, form == 2 ? CALL_READ : CALL_WRITE, form == 1, passed))
                passed++;
            assert_true(passed > 0);
        }
}

/* Tests a server of another kind, which answers with words, errors, or numbers instead of lists. */
static void a_server_that_answers_nonsense_is_told(void **state)
{
    (void)state;
    static const char *const nonsense[][1] = {{"+PONG\r\n"}, {"$-1\r\n"}, {"*1\r\n*1\r\n:1\r\n"}};
    struct fake_redis fake;
    fake_redis_open(&fake, nonsense[0], 1);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        for (size_t at = 0; at < CALL_TABLE_SIZE; at++) {
            struct scene s = {.config = config_of(fake.url)};
            struct error err = {0};
            fake_redis_answers(&fake, nonsense[i], 1);
            if (!calls[at].is_own_connection)
                assert_ok(work_queue_open(&s.config, &s.queue, &err), &err);
            const enum error_code rc = calls[at].attempt(&s, &err);
            work_queue_close(s.queue);
            assert_int_equal(memory_live_blocks(), 0);
            if (calls[at].ignores_answer ? rc != ERROR_NONE && rc != ERROR_IO
                                         : rc != ERROR_UNAVAILABLE && rc != ERROR_IO)
                fail_msg("%s: answer %zu: code %d: %s", calls[at].name, i, (int)rc, err.message);
            if (rc != ERROR_NONE)
                assert_non_null(strstr(err.message, "Redis"));
        }
    fake_redis_close(&fake);
}

/* Tests that keys with unexpected values empty the queue, and that a failure to empty it is
 * reported. */
static void what_cannot_be_emptied_is_told(void **state)
{
    (void)state;
    static const char *const damaged[] = {"-WRONGTYPE of the key\r\n", "-LOADING too early\r\n"};
    static const char *const fine[] = {"$4\r\nhash\r\n"};
    struct fake_redis fake;
    struct error err = {0};
    struct stage_counts found;
    fake_redis_open(&fake, fine, 1);
    struct scene s = {.config = config_of(fake.url)};
    assert_ok(work_queue_open(&s.config, &s.queue, &err), &err);
    assert_int_equal(work_queue_counts(s.queue, "sample", &found, NULL), ERROR_UNAVAILABLE);
    fake_redis_answers(&fake, damaged, 2);
    assert_fails(work_queue_counts(s.queue, "sample", &found, &err), ERROR_UNAVAILABLE,
                 "UNLINK: LOADING", &err);
    fake_redis_answers(&fake, damaged, 2);
    assert_int_equal(work_queue_counts(s.queue, "sample", &found, NULL), ERROR_UNAVAILABLE);
    work_queue_close(s.queue);
    fake_redis_close(&fake);
}

static void names_that_no_key_can_hold_are_refused(void **state)
{
    (void)state;
    static char long_name[200];
    memset(long_name, 'n', sizeof long_name - 1);
    const char *const names[] = {NULL, "", "a*", "{a", "a[b]", "a\\", "a?", long_name};
    struct error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int which = 0; which < 4; which++) {
            struct work_queue_config config = config_of("redis://127.0.0.1:1");
            struct work_queue *queue = NULL;
            if (which >= 2 && names[i] && names[i][0] && names[i] != long_name)
                continue; /* a worker's name is not part of a pattern */
            if (which == 3 && !names[i])
                continue; /* a driver has no stage */
            *(which == 0   ? &config.store_id
              : which == 1 ? &config.run_id
              : which == 2 ? &config.worker
                           : &config.stage) = names[i];
            assert_fails(work_queue_open(&config, &queue, &err), ERROR_INVALID, "", &err);
            assert_null(queue);
        }
    assert_int_equal(memory_live_blocks(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(whichever_call_of_the_network_fails_it_is_told),
        cmocka_unit_test(a_server_that_answers_nonsense_is_told),
        cmocka_unit_test(what_cannot_be_emptied_is_told),
        cmocka_unit_test(names_that_no_key_can_hold_are_refused),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* same as stop_signal_install() in the programs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
