/* Tests the sources of a store's address in S3 and of its credentials: the URI, the environment,
 * ~/.aws/config and ~/.aws/credentials. */
#include "store/backends/s3/s3_address.h"
#include "store/backends/s3/s3_credentials.h"
#include "store/backends/s3/s3_profile.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdlib.h>

static int clean_environment(void **state)
{
    static const char *const names[] = {"AWS_ENDPOINT_URL_S3",
                                        "AWS_ENDPOINT_URL",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_CA_BUNDLE",
                                        "AWS_PROFILE",
                                        "AWS_ACCESS_KEY_ID",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_CONFIG_FILE",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SHARED_CREDENTIALS_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(unsetenv(names[i]), 0);
    const int rc = temp_dir_setup(state);
    const struct temp_dir *dir = *state;
    assert_int_equal(setenv("HOME", dir->path, 1), 0);
    return rc;
}

static void write_aws(const struct temp_dir *dir, const char *name, const char *text)
{
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/.aws", dir->path), &err);
    assert_ok(file_make_folders(path, &err), &err);
    (void)temp_dir_write(dir, name, text, strlen(text));
}

static void an_address_says_where_a_bucket_is(void **state)
{
    (void)state;
    struct s3_address a;
    struct error err = {0};
    assert_ok(s3_address_parse("//data", &a, &err), &err);
    assert_string_equal(a.bucket, "data");
    assert_string_equal(a.prefix, "");
    assert_string_equal(a.host, "data.s3.us-east-1.amazonaws.com");
    assert_true(a.is_secure && a.is_host_style);
    assert_ok(s3_address_parse("//my.data/a//b/?region=eu-west-3", &a, &err), &err);
    assert_string_equal(a.prefix, "a/b/");
    /* a bucket with a dot uses path style */
    assert_string_equal(a.host, "s3.eu-west-3.amazonaws.com");
    assert_ok(s3_address_parse("//data/x?endpoint=http://localhost:8333/&ca=/etc/ca.pem", &a, &err),
              &err);
    assert_string_equal(a.host, "localhost:8333");
    assert_string_equal(a.ca, "/etc/ca.pem");
    assert_false(a.is_secure || a.is_host_style);
    assert_ok(s3_address_parse("//data?endpoint=https://s3.lab:9000&style=host", &a, &err), &err);
    assert_string_equal(a.host, "data.s3.lab:9000");
}

static void what_stands_first_wins(void **state)
{
    struct s3_address a;
    struct error err = {0};
    write_aws(*state, ".aws/config",
              "# a comment\n[default]\nregion = one\n[profile lab]\n region=two \n"
              "endpoint_url = https://lab.example\nca_bundle=/lab.pem\n");
    assert_ok(s3_address_parse("//data", &a, &err), &err);
    assert_string_equal(a.region, "one");
    assert_ok(s3_address_parse("//data?profile=lab", &a, &err), &err);
    assert_string_equal(a.region, "two");
    assert_string_equal(a.host, "lab.example");
    assert_string_equal(a.ca, "/lab.pem");
    assert_int_equal(setenv("AWS_REGION", "three", 1), 0);
    assert_int_equal(setenv("AWS_PROFILE", "lab", 1), 0);
    assert_int_equal(setenv("AWS_ENDPOINT_URL", "http://there", 1), 0);
    assert_ok(s3_address_parse("//data", &a, &err), &err);
    assert_string_equal(a.region, "three");
    assert_string_equal(a.host, "there");
    assert_ok(s3_address_parse("//data?region=four&endpoint=http://here", &a, &err), &err);
    assert_string_equal(a.region, "four");
    assert_string_equal(a.host, "here");
}

static void an_address_that_is_none_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *place, *part;
    } bad[] = {{"data", "expected s3://BUCKET"},
               {"//", "expected s3://BUCKET"},
               {"//ab", "expected s3://BUCKET"},
               {"//Data", "expected s3://BUCKET"},
               {"//-data", "expected s3://BUCKET"},
               {"//key:hidden@data/x", "expected s3://BUCKET"},
               {"//data/a b", "found 'a b'"},
               {"//data/../x", "found '..'"},
               {"//data?", "expected endpoint=URL"},
               {"//data?endpoint=", "expected endpoint=URL"},
               {"//data?color=red", "found 'color'"},
               {"//data?region=eu&", "expected endpoint=URL"},
               {"//data?endpoint=ftp://x", "expected an endpoint like"},
               {"//data?endpoint=http://", "expected an endpoint like"},
               {"//data?endpoint=http://u:hidden@h", "expected an endpoint like"},
               {"//data?endpoint=http://h/path", "expected an endpoint like"},
               {"//data?style=both", "found 'both'"},
               {"//data?region=a/b", "not the name of a region"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct s3_address a;
        struct error err = {0};
        assert_fails(s3_address_parse(bad[i].place, &a, &err), ERROR_INVALID, bad[i].part, &err);
        assert_null(strstr(err.message, "hidden"));
    }
}

static void credentials_come_from_the_environment_or_from_files(void **state)
{
    struct s3_credentials c;
    struct error err = {0};
    assert_fails(s3_credentials_load("default", &c, &err), ERROR_DENIED,
                 "expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or", &err);
    write_aws(*state, ".aws/config",
              "[profile other]\naws_access_key_id=C\naws_secret_access_key=c\n");
    write_aws(*state, ".aws/credentials",
              "[default]\naws_access_key_id = A\naws_secret_access_key=a=+/\r\n\n[lab]\n"
              "aws_access_key_id=B\naws_secret_access_key=b\naws_session_token=t\n[half]\n"
              "aws_access_key_id=D\n");
    assert_ok(s3_credentials_load("default", &c, &err), &err);
    assert_string_equal(c.key, "A");
    assert_string_equal(c.secret, "a=+/");
    assert_string_equal(c.token, "");
    assert_ok(s3_credentials_load("lab", &c, &err), &err);
    assert_string_equal(c.token, "t");
    assert_ok(s3_credentials_load("other", &c, &err), &err);
    assert_string_equal(c.key, "C");
    assert_fails(s3_credentials_load("half", &c, &err), ERROR_INVALID, "without its secret", &err);
    assert_fails(s3_credentials_load("none", &c, &err), ERROR_DENIED, "profile [none]", &err);
    assert_int_equal(setenv("AWS_ACCESS_KEY_ID", "E", 1), 0);
    assert_fails(s3_credentials_load("default", &c, &err), ERROR_INVALID,
                 "AWS_SECRET_ACCESS_KEY is not", &err);
    assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "e", 1), 0);
    assert_ok(s3_credentials_load("default", &c, &err), &err);
    assert_string_equal(c.key, "E");
    assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "e\nX-Evil: 1", 1), 0);
    assert_fails(s3_credentials_load("default", &c, &err), ERROR_INVALID, "printable", &err);
}

#define test_of(function)                                                                          \
    cmocka_unit_test_setup_teardown(function, clean_environment, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_of(an_address_says_where_a_bucket_is),
        test_of(what_stands_first_wins),
        test_of(an_address_that_is_none_is_named),
        test_of(credentials_come_from_the_environment_or_from_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
