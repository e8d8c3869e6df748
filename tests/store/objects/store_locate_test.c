/* store_locate_test - tests that the folders and ports of a store are found from its address,
 * without opening it. */
#include "store/backends/backend_list.h"
#include "store/objects/object_store.h"

#include "tests/support/test.h"

static struct store_location locate(const char *uri)
{
    struct store_location location;
    struct error err = {0};
    assert_ok(store_locate(uri, &location, &err), &err);
    return location;
}

static void folders_ports_and_who_sees_it_are_told(void **state)
{
    (void)state;
    struct store_location at = locate("dir:/data/store");
    assert_true(at.is_shared);
    assert_int_equal(at.folder_count, 1);
    assert_string_equal(at.folder[0], "/data/store");
    assert_int_equal(at.port_count, 0);
    at = locate("relative/path");
    assert_string_equal(at.folder[0], "relative/path");
    at = locate("memory:a");
    assert_false(at.is_shared);
    assert_int_equal(at.folder_count + at.port_count, 0);
    at = locate("redis+cluster://10.0.0.7:7001,10.0.0.8:7001,10.0.0.9:7002/p");
    assert_true(at.is_shared);
    assert_int_equal(at.port_count, 2);
    assert_int_equal(at.port[0], 7001);
    assert_int_equal(at.port[1], 7002);
    at = locate("rediss+cluster://[::1]:7003");
    assert_int_equal(at.port[0], 7003);
}

static void a_bucket_has_the_port_of_its_endpoint(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        uint16_t port;
    } cases[] = {
        {"s3://bucket/store", 443},
        {"s3://bucket/store?endpoint=http://host:8333", 8333},
        {"s3://bucket?region=eu-1&endpoint=https://[fe80::1]:9000", 9000},
        {"s3://bucket?endpoint=http://host", 80},
        {"s3://bucket?endpoint=https://host/&style=path", 443},
        {"s3://bucket/port.8333?endpoint=https://host", 443},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct store_location at = locate(cases[i].uri);
        assert_int_equal(at.folder_count, 0);
        assert_int_equal(at.port_count, 1);
        if (at.port[0] != cases[i].port)
            fail_msg("%s: port %d", cases[i].uri, at.port[0]);
    }
}

static void a_tiered_store_is_where_its_two_are(void **state)
{
    (void)state;
    struct store_location at = locate("tiered:dir:/fast^dir:/shared/store");
    assert_true(at.is_shared);
    assert_int_equal(at.folder_count, 2);
    assert_string_equal(at.folder[0], "/fast");
    assert_string_equal(at.folder[1], "/shared/store");
    at = locate("tiered:redis+cluster://h:7000/r^s3://bucket/p");
    assert_int_equal(at.folder_count, 0);
    assert_int_equal(at.port[0], 7000);
    assert_int_equal(at.port[1], 443);
    assert_false(locate("tiered:memory:a^dir:/x").is_shared);
}

static void an_address_that_is_none_is_refused_as_when_it_is_opened(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "ftp:host",
                                      "dir:",
                                      "s3://b",
                                      "redis+cluster://a:x/rounds",
                                      "tiered:dir:/a",
                                      "tiered:dir:/a^tiered:dir:/b^dir:/c",
                                      "tiered:dir:/a^redis+cluster://a:x"};
    struct store_location location;
    struct store *store = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error located = {0}, opened = {0};
        assert_int_equal(store_locate(bad[i], &location, &located), ERROR_INVALID);
        assert_int_equal(store_open(bad[i], STORE_MUST_EXIST, &store, &opened), ERROR_INVALID);
        assert_string_equal(located.message, opened.message);
    }
}

/* Tests that messages list each backend that people should see. */
static void the_addresses_of_messages_are_those_of_the_table(void **state)
{
    (void)state;
    struct store *store = NULL;
    struct error err = {0};
    assert_fails(store_open("ftp:host", 0, &store, &err), ERROR_INVALID,
                 "store ftp:host: stores are a path, dir:PATH, s3://BUCKET/PREFIX, "
                 "redis+cluster://HOST:PORT/PREFIX, or tiered:FAST^DURABLE of two of them, found "
                 "the scheme 'ftp' (a folder of that name is dir:ftp:host; memory:NAME is of one "
                 "process alone)",
                 &err);
    assert_non_null(strstr(err.message, STORE_ADDRESSES));
    char uri[FILE_PATH_SIZE];
    assert_ok(store_uri_of_folder("/a/b", uri, &err), &err);
    assert_string_equal(uri, "dir:/a/b");
    assert_true(store_is_uri(uri));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_ports_and_who_sees_it_are_told),
        cmocka_unit_test(a_bucket_has_the_port_of_its_endpoint),
        cmocka_unit_test(a_tiered_store_is_where_its_two_are),
        cmocka_unit_test(an_address_that_is_none_is_refused_as_when_it_is_opened),
        cmocka_unit_test(the_addresses_of_messages_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
