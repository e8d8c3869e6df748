/* Tests the signature with the examples of "Signature Calculations for the Authorization Header:
 * Transferring Payload in a Single Chunk", Amazon S3 API Reference:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
#include "store/backends/s3/s3_signature.h"

#include "tests/support/test.h"

#include <stdio.h>

static const struct s3_credentials example = {.key = "AKIAIOSFODNN7EXAMPLE",
                                              .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

static void assert_signed(const char *method, const char *path, const char *query,
                          const struct s3_header *header, size_t count, const char *payload,
                          const char *expected)
{
    char authorization[S3_AUTHORIZATION_SIZE];
    struct error err = {0};
    const struct s3_signing signing = {.method = method,
                                       .path = path,
                                       .query = query,
                                       .header = header,
                                       .header_count = count,
                                       .payload = payload,
                                       .date = "20130524T000000Z",
                                       .region = "us-east-1",
                                       .credentials = &example};
    assert_ok(s3_sign(&signing, authorization, &err), &err);
    assert_non_null(strstr(authorization, "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"
                                          "20130524/us-east-1/s3/aws4_request,SignedHeaders=host"));
    assert_string_equal(strstr(authorization, "Signature=") + strlen("Signature="), expected);
}

static void the_examples_of_aws_have_their_signatures(void **state)
{
    (void)state;
    char empty[S3_SHA256_TEXT_SIZE], text[S3_SHA256_TEXT_SIZE];
    s3_sha256_text("", 0, empty);
    s3_sha256_text("Welcome to Amazon S3.", 21, text);
    assert_string_equal(empty, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const struct s3_header get[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                    {"range", "bytes=0-9"},
                                    {"x-amz-content-sha256", empty},
                                    {"x-amz-date", "20130524T000000Z"}};
    assert_signed("GET", "/test.txt", "", get, 4, empty,
                  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    const struct s3_header put[] = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                    {"host", "examplebucket.s3.amazonaws.com"},
                                    {"x-amz-content-sha256", text},
                                    {"x-amz-date", "20130524T000000Z"},
                                    {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
    char authorization[S3_AUTHORIZATION_SIZE];
    struct error err = {0};
    const struct s3_signing signing = {"PUT", "/test%24file.text", "",          put,     5,
                                       text,  "20130524T000000Z",  "us-east-1", &example};
    assert_ok(s3_sign(&signing, authorization, &err), &err);
    assert_non_null(
        strstr(authorization, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
    const struct s3_header list[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                     {"x-amz-content-sha256", empty},
                                     {"x-amz-date", "20130524T000000Z"}};
    assert_signed("GET", "/", "lifecycle=", list, 3, empty,
                  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    assert_signed("GET", "/", "max-keys=2&prefix=J", list, 3, empty,
                  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void a_date_is_of_utc(void **state)
{
    (void)state;
    char text[S3_DATE_SIZE];
    s3_date_text(1369353600, text);
    assert_string_equal(text, "20130524T000000Z");
}

static void a_request_that_is_too_long_is_refused(void **state)
{
    (void)state;
    static char path[20000];
    char authorization[S3_AUTHORIZATION_SIZE];
    struct error err = {0};
    memset(path, 'a', sizeof path - 1);
    const struct s3_signing signing = {.method = "GET",
                                       .path = path,
                                       .query = "",
                                       .payload = "",
                                       .date = "20130524T000000Z",
                                       .region = "us-east-1",
                                       .credentials = &example};
    assert_fails(s3_sign(&signing, authorization, &err), ERROR_INVALID, "longer than", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_aws_have_their_signatures),
        cmocka_unit_test(a_date_is_of_utc),
        cmocka_unit_test(a_request_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
