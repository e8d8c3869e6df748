#include "store/redis/redis_policy.h"

#include "tests/support/test.h"

#include <stdio.h>

/* Passes INFO's text, which has lines, to the check. */
static bool evicts(const char *info, char *policy, size_t size)
{
    char wire[512];
    struct error err = {0};
    struct redisReply *reply = NULL;
    const int length = snprintf(wire, sizeof wire, "$%zu\r\n%s\r\n", strlen(info), info);
    assert_true(length > 0 && (size_t)length < sizeof wire);
    assert_ok(redis_reply_decode(wire, strlen(wire), &reply, &err), &err);
    const bool found = redis_policy_evicts(reply, policy, size);
    redis_reply_free(reply);
    return found;
}

static void only_a_server_with_limit_and_policy_throws_keys_away(void **state)
{
    (void)state;
    char policy[32], small[8];
    assert_true(evicts("# Memory\r\nmaxmemory_human:1\r\nmaxmemory:100\r\n"
                       "maxmemory_policy:allkeys-lru\r\n",
                       policy, sizeof policy));
    assert_string_equal(policy, "allkeys-lru");
    assert_true(evicts("maxmemory:100\nmaxmemory_policy:allkeys-lru", policy, sizeof policy));
    static const char *const keeps[] = {
        "",
        "# Memory\r\n",
        "maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n",
        "maxmemory:100\r\nmaxmemory_policy:noeviction\r\n",
        "maxmemory:100\r\n",
        "maxmemory\r\nmaxmemory_policy:allkeys-lru\r\n",
        "maxmemory:1234567890123456789012345678901234\r\nmaxmemory_policy:allkeys-lru\r\n",
    };
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++)
        if (evicts(keeps[i], policy, sizeof policy))
            fail_msg("%s: policy %s", keeps[i], policy);
    assert_false(evicts("maxmemory:100\nmaxmemory_policy:allkeys-lru\n", small, sizeof small));
}

static void a_server_before_6_2_is_too_old(void **state)
{
    (void)state;
    char version[REDIS_VERSION_SIZE];
    assert_true(redis_version_is_old("# Server\r\nredis_version:6.0.16\r\n", version));
    assert_string_equal(version, "6.0.16");
    assert_true(redis_version_is_old("redis_version:5.0.14", version));
    static const char *const fits[] = {"redis_version:6.2.0\r\n",    "redis_version:7.0.15\r\n",
                                       "redis_version:10.0.1\r\n",   "redis_version:\r\n",
                                       "redis_version:unstable\r\n", ""};
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        if (redis_version_is_old(fits[i], version))
            fail_msg("%s: version %s", fits[i], version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_before_6_2_is_too_old),
        cmocka_unit_test(only_a_server_with_limit_and_policy_throws_keys_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
