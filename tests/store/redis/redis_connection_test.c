/* Tests a connection with addresses, with servers that answer anything, and on a network that
 * fails. */
#include "common/base/memory.h"
#include "store/redis/redis_connection.h"

#include "tests/support/failing_calls.h"
#include "tests/support/fake_redis.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const ok[] = {"+OK\r\n"};

static bool never(void)
{
    return false;
}

static bool at_once(void)
{
    return true;
}

static struct redis_connection *connect_to(const struct fake_redis *fake)
{
    struct error err = {0};
    struct redis_connection *connection = NULL;
    assert_ok(redis_connection_new(fake->url, NULL, &connection, &err), &err);
    return connection;
}

static enum error_code ping(struct redis_connection *connection, struct error *err)
{
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    const enum error_code rc = redis_connection_call(connection, 1, argv, &reply, err);
    if (rc != ERROR_NONE)
        assert_null(reply);
    redis_reply_free(reply);
    return rc;
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct redis_connection *connection = NULL;
    static char long_host[320] = "redis://", long_url[REDIS_URL_SIZE + 100] = "redis://h/",
                long_path[FILE_PATH_SIZE + 8] = "unix:";
    memset(long_host + 8, 'h', sizeof long_host - 9);
    memset(long_url + 10, '0', sizeof long_url - 11);
    memset(long_path + 5, 'p', sizeof long_path - 6);
    const char *const wrong[] = {
        NULL,
        "",
        "http://host:1",
        "redis://",
        "redis://:6379",
        "redis:///1",
        "redis://user:@host:1",
        "redis://[::1",
        "redis://[]:1",
        "redis://[::1]1",
        "redis://host:0",
        "redis://host:65536",
        "redis://host:port",
        "redis://host:",
        "redis://host:-1",
        "redis://host:1/x",
        "redis://host:1/10000",
        "redis://host:1/-1",
        "unix:",
        long_host,
        long_url,
        long_path,
    };
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        if (redis_connection_new(wrong[i], NULL, &connection, &err) != ERROR_INVALID)
            fail_msg("%s: %s", wrong[i], err.message);
        assert_non_null(strstr(err.message, "is no Redis address"));
        assert_null(connection);
    }
    assert_int_equal(memory_live_blocks(), 0);
}

/* Tests valid addresses at which no server listens. */
static void what_is_an_address_is_tried(void **state)
{
    (void)state;
    struct error err = {0};
    struct redis_connection *connection = NULL;
    static const char *const right[] = {"redis://127.0.0.1:1", "redis://127.0.0.1:1/",
                                        "redis://127.0.0.1:1/9999", "redis://[::1]:1/3",
                                        "unix:/nowhere/redis.sock"};
    for (int i = 0; i < COUNT_OF(right); i++) {
        assert_fails(redis_connection_new(right[i], NULL, &connection, &err), ERROR_UNAVAILABLE,
                     right[i], &err);
        assert_null(connection);
    }
    for (int call = 0; call < 2; call++) {
        failing_calls_plan(call ? CALL_CONNECT : CALL_SOCKET, 0, -1, EMFILE);
        for (int i = 0; i < COUNT_OF(right); i++)
            assert_fails(redis_connection_new(right[i], NULL, &connection, &err), ERROR_UNAVAILABLE,
                         right[i], &err);
        assert_true(failing_calls_end() > 0);
    }
    memory_fail_after(0);
    const enum error_code rc = redis_connection_new(right[0], NULL, &connection, &err);
    memory_fail_after(-1);
    assert_failed(rc, ERROR_NO_MEMORY, "a Redis connection", &err);
    assert_int_equal(memory_live_blocks(), 0);
}

static void password_and_database_are_sent_first(void **state)
{
    const struct temp_dir *dir = *state;
    static const char *const refused[] = {"-WRONGPASS invalid\r\n"},
                             *const no_database[] = {"+OK\r\n", "-ERR DB index is out of range\r\n",
                                                     "+OK\r\n"};
    struct error err = {0};
    struct fake_redis fake;
    struct redis_connection *connection = NULL;
    char url[80], path[FILE_PATH_SIZE];
    fake_redis_open(&fake, ok, 1);
    (void)snprintf(url, sizeof url, "%s/3", fake.url);
    (void)snprintf(path, sizeof path, "%s", temp_dir_write(dir, "password", "secret\r\n", 8));
    assert_ok(redis_connection_new(url, path, &connection, &err), &err);
    assert_string_equal(redis_connection_url(connection), url);
    assert_ok(ping(connection, &err), &err);
    assert_true(fake_redis_heard(&fake, "AUTH secret;SELECT 3;PING;"));
    redis_connection_free(connection);
    fake_redis_answers(&fake, refused, 1);
    assert_fails(redis_connection_new(url, path, &connection, &err), ERROR_INVALID,
                 "AUTH: WRONGPASS", &err);
    assert_null(connection);
    fake_redis_answers(&fake, no_database, 3);
    assert_fails(redis_connection_new(url, path, &connection, &err), ERROR_IO,
                 "SELECT: ERR DB index", &err);
    assert_true(fake_redis_heard(&fake, "AUTH secret;SELECT 3;"));
    fake_redis_close(&fake);
    assert_fails(redis_connection_new(url, "/nowhere/password", &connection, &err), ERROR_NOT_FOUND,
                 "the password of Redis: /nowhere/password", &err);
    assert_int_equal(memory_live_blocks(), 0);
}

static void an_answer_that_is_an_error_says_what_can_be_done(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        enum error_code code;
    } answers[] = {
        {"-LOADING dataset\r\n", ERROR_UNAVAILABLE},
        {"-BUSY script\r\n", ERROR_UNAVAILABLE},
        {"-READONLY replica\r\n", ERROR_UNAVAILABLE},
        {"-OOM command not allowed\r\n", ERROR_UNAVAILABLE},
        {"-ERR Error running script (call to f_1): @user_script:1: -OOM not allowed\r\n",
         ERROR_UNAVAILABLE},
        {"-NOAUTH required\r\n", ERROR_INVALID},
        {"-NOPERM no\r\n", ERROR_INVALID},
        {"-ERR Error running script (call to f_1): @user_script:1: NOPERM\r\n", ERROR_INVALID},
        {"-NOGROUP No such key\r\n", ERROR_NOT_FOUND},
        {"-UNBLOCKED the stream\r\n", ERROR_NOT_FOUND},
        {"-WRONGTYPE Operation\r\n", ERROR_CORRUPT},
        {"-ERR Error running script (call to f_1): @user_script:7: attempt\r\n", ERROR_CORRUPT},
        {"-ERR unknown command, beginning with OOM\r\n", ERROR_IO},
    };
    struct error err = {0};
    struct fake_redis fake;
    fake_redis_open(&fake, ok, 1);
    struct redis_connection *connection = connect_to(&fake);
    for (int i = 0; i < COUNT_OF(answers); i++) {
        const char *const answer[] = {answers[i].answer, ok[0]};
        fake_redis_answers(&fake, answer, 2);
        assert_fails(ping(connection, &err), answers[i].code, "PING: ", &err);
        assert_non_null(strstr(err.message, fake.url));
        assert_ok(ping(connection, &err), &err);
    }
    assert_int_equal(redis_connection_generation(connection), 1); /* the same connection is used */
    redis_connection_free(connection);
    fake_redis_close(&fake);
}

/* A server answers with something that is no protocol, too much, half of it, or nothing: the next
 * call makes a new connection. */
static void an_answer_that_is_none_closes_the_connection(void **state)
{
    (void)state;
    static const char *const answers[][2] = {
        {"hello\r\n", "+OK\r\n"},
        {"*100000\r\n", "+OK\r\n"},
        {"*-5\r\n:x\r\n", "+OK\r\n"},
        {FAKE_REDIS_CLOSES, "+OK\r\n"},
    };
    struct error err = {0};
    struct fake_redis fake;
    fake_redis_open(&fake, ok, 1);
    struct redis_connection *connection = connect_to(&fake);
    const char *argv[] = {"PING"};
    int64_t generation = 1;
    for (int i = 0; i < COUNT_OF(answers); i++)
        for (int waits = 0; waits < 2; waits++) {
            struct redisReply *reply = NULL;
            fake_redis_answers(&fake, answers[i], 2);
            assert_fails(waits ? redis_connection_wait(connection, 1, argv, never, &reply, &err)
                               : redis_connection_call(connection, 1, argv, &reply, &err),
                         ERROR_UNAVAILABLE, fake.url, &err);
            assert_null(reply);
            assert_ok(waits ? redis_connection_wait(connection, 1, argv, never, &reply, &err)
                            : redis_connection_call(connection, 1, argv, &reply, &err),
                      &err);
            assert_string_equal(redis_reply_text(reply), "OK");
            redis_reply_free(reply);
            assert_int_equal(redis_connection_generation(connection), ++generation);
        }
    redis_connection_free(connection);
    fake_redis_close(&fake);
}

static void whoever_waits_can_be_stopped(void **state)
{
    (void)state;
    static const char *const answers[] = {FAKE_REDIS_WAITS, "+OK\r\n"};
    struct error err = {0};
    struct fake_redis fake;
    struct redisReply *reply = NULL;
    const char *argv[] = {"XREADGROUP"};
    fake_redis_open(&fake, answers, 2);
    struct redis_connection *connection = connect_to(&fake);
    assert_ok(redis_connection_wait(connection, 1, argv, at_once, &reply, &err), &err);
    assert_null(reply);
    assert_ok(ping(connection, &err), &err);
    assert_int_equal(redis_connection_generation(connection), 2);
    redis_connection_free(connection);
    fake_redis_close(&fake);
}

static enum error_code run_script(struct redis_connection *connection, struct redis_script *script,
                                  struct redisReply **reply, struct error *err)
{
    const char *argv[4] = {NULL, NULL, "0", "x"};
    return redis_connection_run(connection, script, 4, argv, reply, err);
}

static void a_script_is_sent_by_its_hash(void **state)
{
    (void)state;
    static const char *const answers[] = {"$4\r\nhash\r\n", ":1\r\n", ":2\r\n"},
                             *const forgotten[] = {"-NOSCRIPT No matching script\r\n", ":3\r\n"},
                             *const no_hash[] = {":4\r\n",
                                                 "$41\r\n123456789012345678901234567890123456"
                                                 "78901\r\n"};
    struct error err = {0};
    struct fake_redis fake;
    struct redisReply *reply = NULL;
    int64_t number = 0;
    struct redis_script script = {.text = "return 1"}, other = {.text = "return 2"};
    fake_redis_open(&fake, answers, 3);
    struct redis_connection *connection = connect_to(&fake);
    for (int i = 1; i < 3; i++) {
        assert_ok(run_script(connection, &script, &reply, &err), &err);
        assert_true(redis_reply_is_integer(reply, &number) && number == i);
        redis_reply_free(reply);
    }
    assert_true(fake_redis_heard(&fake, "SCRIPT LOAD return 1;EVALSHA hash 0 x;EVALSHA hash 0 x;"));
    fake_redis_answers(&fake, forgotten, 2);
    assert_ok(run_script(connection, &script, &reply, &err), &err);
    redis_reply_free(reply);
    assert_true(fake_redis_heard(&fake, "EVALSHA hash 0 x;EVAL return 1 0 x;"));
    fake_redis_answers(&fake, no_hash, COUNT_OF(no_hash));
    for (int i = 0; i < COUNT_OF(no_hash); i++) {
        assert_fails(run_script(connection, &other, &reply, &err), ERROR_IO,
                     "SCRIPT LOAD answered no hash", &err);
        assert_null(reply);
        assert_string_equal(other.sha, "");
    }
    redis_connection_free(connection);
    fake_redis_close(&fake);
}

/* Tests that the first call after the server has gone reports it, and works when the server is
 * back. */
static void a_server_that_is_gone_is_told_by_every_call(void **state)
{
    (void)state;
    static const char *const answers[] = {"$4\r\nhash\r\n", ":1\r\n"};
    struct error err = {0};
    struct fake_redis fake;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    struct redis_script script = {.text = "return 1"};
    fake_redis_open(&fake, answers, 2);
    struct redis_connection *connection = connect_to(&fake);
    assert_ok(run_script(connection, &script, &reply, &err), &err);
    redis_reply_free(reply);
    fake_redis_close(&fake);
    assert_int_not_equal(ping(connection, &err), ERROR_NONE);
    for (int i = 0; i < 3; i++) {
        struct redis_script fresh = {.text = "return 2"};
        assert_fails(i == 0   ? run_script(connection, &script, &reply, &err)
                     : i == 1 ? run_script(connection, &fresh, &reply, &err)
                              : redis_connection_wait(connection, 1, argv, never, &reply, &err),
                     ERROR_UNAVAILABLE, fake.url, &err);
        assert_null(reply);
    }
    redis_connection_free(connection);
}

/* A command that could not be sent was not run; one whose answer was lost may have run. */
static void a_network_that_fails_is_told(void **state)
{
    (void)state;
    struct error err = {0};
    struct fake_redis fake;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    fake_redis_open(&fake, ok, 1);
    struct redis_connection *connection = connect_to(&fake);
    for (int i = 0; i < 4; i++) {
        fake_redis_answers(&fake, ok, 1);
        failing_calls_plan(i < 2 ? CALL_WRITE : CALL_READ, 0, -1, ECONNRESET);
        const enum error_code rc =
            i % 2 ? redis_connection_wait(connection, 1, argv, never, &reply, &err)
                  : redis_connection_call(connection, 1, argv, &reply, &err);
        assert_true(failing_calls_end() > 0);
        assert_failed(rc, ERROR_UNAVAILABLE, strerror(ECONNRESET), &err);
        assert_null(reply);
        assert_true(fake_redis_heard(&fake, i < 2 ? "" : "PING;"));
        assert_ok(ping(connection, &err), &err);
    }
    redis_connection_free(connection);
    fake_redis_close(&fake);
}

static void half_a_reply_is_no_reply_yet(void **state)
{
    (void)state;
    struct error err = {0};
    struct redisReply *reply = NULL;
    int64_t number = 0;
    assert_ok(redis_reply_decode("*2\r\n:1\r\n", 8, &reply, &err), &err);
    assert_null(reply);
    assert_fails(redis_reply_decode("?\r\n", 3, &reply, &err), ERROR_UNAVAILABLE, "no reply", &err);
    assert_ok(redis_reply_decode("*2\r\n:1\r\n+a\r\n", 12, &reply, &err), &err);
    assert_int_equal(redis_reply_count(reply), 2);
    assert_null(redis_reply_item(reply, -1));
    assert_null(redis_reply_item(reply, 2));
    assert_null(redis_reply_item(NULL, 0));
    assert_true(redis_reply_is_integer(redis_reply_item(reply, 0), &number) && number == 1);
    assert_false(redis_reply_is_integer(redis_reply_item(reply, 1), &number));
    assert_false(redis_reply_is_integer(NULL, &number));
    redis_reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(what_is_an_address_is_tried),
        cmocka_unit_test_setup_teardown(password_and_database_are_sent_first, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test(an_answer_that_is_an_error_says_what_can_be_done),
        cmocka_unit_test(an_answer_that_is_none_closes_the_connection),
        cmocka_unit_test(whoever_waits_can_be_stopped),
        cmocka_unit_test(a_script_is_sent_by_its_hash),
        cmocka_unit_test(a_server_that_is_gone_is_told_by_every_call),
        cmocka_unit_test(a_network_that_fails_is_told),
        cmocka_unit_test(half_a_reply_is_no_reply_yet),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* same as stop_signal_install() in the programs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
