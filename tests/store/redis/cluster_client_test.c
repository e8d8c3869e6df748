/* cluster_client_test - tests a client of a cluster with one node that answers with the errors that
 * the test sets. */
#include "store/redis/cluster_client.h"

#include "tests/support/fake_redis.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMEOUT_MS = 300, ANSWERS_SIZE = 160 };

static const char info[] = "$0\r\n\r\n"; /* of a server without a memory limit */

static struct cluster_access access_of(const struct fake_redis *fake)
{
    struct cluster_access access = {.seed_count = 1, .what = "records", .timeout_ms = TIMEOUT_MS};
    (void)snprintf(access.seed[0].host, sizeof access.seed[0].host, "127.0.0.1");
    access.seed[0].port = (int)strtol(strrchr(fake->url, ':') + 1, NULL, 10);
    return access;
}

static void a_server_in_no_cluster_is_a_wrong_setting(void **state)
{
    (void)state;
    static const char *const answers[] = {info,
                                          "-ERR This instance has cluster support disabled\r\n"};
    static const char *const others[] = {info, "-ERR unknown subcommand\r\n"};
    struct fake_redis fake;
    struct cluster_client *client = NULL;
    struct error err = {0};
    fake_redis_open(&fake, answers, 2);
    struct cluster_access access = access_of(&fake);
    assert_fails(cluster_client_open(&access, TIMEOUT_MS, &client, &err), ERROR_INVALID,
                 "is not in a cluster: start it with cluster-enabled yes", &err);
    assert_string_equal(error_advice(&err),
                        "start it with cluster-enabled yes, or name another server");
    fake_redis_answers(&fake, others, 2);
    assert_fails(cluster_client_open(&access, TIMEOUT_MS, &client, &err), ERROR_IO,
                 "CLUSTER: ERR unknown subcommand", &err);
    fake_redis_close(&fake);
}

/* Performs a command that gets `answer` until its time is up. */
static void assert_gives_up(const char *answer, const char *why)
{
    static const struct redis_text words[] = {{"GET", 3}, {"k", 1}};
    struct fake_redis fake;
    struct cluster_client *client = NULL;
    struct error err = {0};
    char slots[ANSWERS_SIZE];
    const char *answers[] = {info, slots, answer};
    struct cluster_command command = {.argument = words, .count = 2};
    fake_redis_open(&fake, answers, 3);
    struct cluster_access access = access_of(&fake);
    (void)snprintf(slots, sizeof slots,
                   "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n",
                   access.seed[0].port);
    assert_ok(cluster_client_open(&access, TIMEOUT_MS, &client, &err), &err);
    cluster_client_perform(client, &command, 1);
    assert_failed(command.rc, ERROR_UNAVAILABLE, why, &command.err);
    cluster_command_release(&command);
    cluster_client_close(client);
    fake_redis_close(&fake);
}

static void what_was_waited_for_is_told(void **state)
{
    (void)state;
    assert_gives_up("-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                    "the cluster was out of memory for 0 s");
    assert_gives_up("-ERR Error running script: @user_script:1: -OOM not allowed\r\n",
                    "the cluster was out of memory for 0 s");
    assert_gives_up("-TRYAGAIN Multiple keys during rehashing of slot\r\n",
                    "no answer from the cluster for 0 s");
    /* Words in the message of a server do not decide what the error is. */
    assert_gives_up("-TRYAGAIN keys: OOM is what they are called\r\n",
                    "no answer from the cluster for 0 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_in_no_cluster_is_a_wrong_setting),
        cmocka_unit_test(what_was_waited_for_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
