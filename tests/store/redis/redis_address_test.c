#include "store/redis/redis_address.h"

#include "tests/support/test.h"

static void addresses_are_read(void **state)
{
    static const struct {
        const char *url;
        struct redis_address address;
    } good[] = {
        {"redis://localhost", {.is_unix = false, .host = "localhost", .port = 6379, .db = 0}},
        {"redis://localhost/", {.is_unix = false, .host = "localhost", .port = 6379, .db = 0}},
        {"redis://10.0.0.1:1", {.is_unix = false, .host = "10.0.0.1", .port = 1, .db = 0}},
        {"redis://redis.default.svc:65535/15",
         {.is_unix = false, .host = "redis.default.svc", .port = 65535, .db = 15}},
        {"redis://host/9999", {.is_unix = false, .host = "host", .port = 6379, .db = 9999}},
        {"redis://[::1]:7000/3", {.is_unix = false, .host = "::1", .port = 7000, .db = 3}},
        {"redis://[fe80::1%eth0]",
         {.is_unix = false, .host = "fe80::1%eth0", .port = 6379, .db = 0}},
        {"redis://gm-1@host:1/2", {.host = "host", .port = 1, .db = 2, .user = "gm-1"}},
        {"rediss://host", {.host = "host", .port = 6379, .is_tls = true}},
        {"rediss://u@[::1]:7/3?ca=/a b&key=k/ey&cert=c",
         {.host = "::1",
          .port = 7,
          .db = 3,
          .user = "u",
          .is_tls = true,
          .ca = "/a b",
          .certificate = "c",
          .key = "k/ey"}},
        {"rediss://host?ca=x", {.host = "host", .port = 6379, .is_tls = true, .ca = "x"}},
        {"unix:/tmp/redis.sock", {.is_unix = true, .host = "/tmp/redis.sock", .port = 0, .db = 0}},
        {"unix:redis sock", {.is_unix = true, .host = "redis sock", .port = 0, .db = 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct redis_address found;
        struct error err = {0};
        assert_ok(redis_address_parse(good[i].url, &found, &err), &err);
        assert_string_equal(found.host, good[i].address.host);
        assert_int_equal(found.is_unix, good[i].address.is_unix);
        assert_int_equal(found.port, good[i].address.port);
        assert_int_equal(found.db, good[i].address.db);
        assert_int_equal(found.is_tls, good[i].address.is_tls);
        assert_string_equal(found.user, good[i].address.user);
        assert_string_equal(found.ca, good[i].address.ca);
        assert_string_equal(found.certificate, good[i].address.certificate);
        assert_string_equal(found.key, good[i].address.key);
    }
}

static void what_is_none_is_refused_by_name(void **state)
{
    static const char *const bad[] = {"",
                                      "localhost:6379",
                                      "http://host",
                                      "redis:/host",
                                      "redis://",
                                      "redis://:6379",
                                      "redis:///1",
                                      "redis://host:",
                                      "redis://host:0",
                                      "redis://host:65536",
                                      "redis://host:99999999999999999999",
                                      "redis://host:+1",
                                      "redis://host:-1",
                                      "redis://host:6379x",
                                      "redis://host/x",
                                      "redis://host/-1",
                                      "redis://host/10000",
                                      "redis://host/1/",
                                      "redis://host@",
                                      "redis://host?ca=x",
                                      "rediss://host?color=red",
                                      "rediss://host?ca",
                                      "rediss://host/1x?ca=x",
                                      "rediss://host/1?",
                                      "redis://[::1",
                                      "redis://[]",
                                      "redis://[::1]x",
                                      "unix:"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct redis_address found = {.port = 7};
        struct error err = {0};
        assert_fails(redis_address_parse(bad[i], &found, &err), ERROR_INVALID,
                     "is no Redis address", &err);
        if (!strchr(bad[i], '@'))
            assert_non_null(strstr(err.message, bad[i]));
        assert_int_equal(found.port, 0);
    }
    struct redis_address found;
    assert_int_equal(redis_address_parse(NULL, &found, NULL), ERROR_INVALID);
}

static void a_password_is_refused_and_not_shown(void **state)
{
    static const char *const bad[] = {
        "redis://user:hushhush@host",       "redis://:hushhush@host:1/0",
        "rediss://user:hush@hushhush@host", "redis://hush/hushhush@host",
        "redis://user:hushhush?@host",      "hushhush@host"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct redis_address found;
        struct error err = {0};
        assert_fails(redis_address_parse(bad[i], &found, &err), ERROR_INVALID,
                     "--redis-password-file FILE", &err);
        assert_null(strstr(err.message, "hush"));
        assert_non_null(strstr(err.message, "***@host"));
    }
}

/* Tests that texts which do not fit are refused, never cut. */
static void long_ones_are_refused(void **state)
{
    static const char *const front[] = {"redis://", "unix:/"};
    static char url[2 * REDIS_URL_SIZE];
    (void)state;
    for (int i = 0; i < 2; i++)
        for (size_t size = 200; size < sizeof url; size++) {
            struct redis_address found;
            memset(url, 'a', size);
            memcpy(url, front[i], strlen(front[i]));
            url[size] = '\0';
            const char *host = url + (i ? strlen("unix:") : strlen(front[i]));
            const bool fits = strlen(host) < (i ? sizeof found.host : 256);
            const enum error_code rc = redis_address_parse(url, &found, NULL);
            assert_int_equal(rc, fits ? ERROR_NONE : ERROR_INVALID);
            if (fits)
                assert_string_equal(found.host, host);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(what_is_none_is_refused_by_name),
        cmocka_unit_test(a_password_is_refused_and_not_shown),
        cmocka_unit_test(long_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
