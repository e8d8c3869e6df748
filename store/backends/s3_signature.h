/*
 * s3_signature - AWS Signature Version 4, in the form that S3 wants it.
 *
 * Why not libcurl's own (CURLOPT_AWS_SIGV4): Debian 12's 7.88 signs a request that has the header x-amz-content-sha256 so that SeaweedFS
 * refuses it. Here the signature covers method, path, query, host, all x-amz-... headers and the SHA-256 of the body, so that a server
 * refuses bytes that changed on their way.
 *
 * Source: "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Amazon S3 API Reference;
 * the test has that page's examples.
 */
#ifndef STORE_BACKENDS_S3_SIGNATURE_H
#define STORE_BACKENDS_S3_SIGNATURE_H

#include "store/backends/s3_credentials.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { S3_SHA256_TEXT_SIZE = 65, S3_DATE_SIZE = 17, S3_AUTHORIZATION_SIZE = 640 };

/* SHA-256 as hexadecimal digits. */
void s3_sha256_text(const void *bytes, size_t size, char out[S3_SHA256_TEXT_SIZE]);
/* 20130524T000000Z */
void s3_date_text(time_t when, char out[S3_DATE_SIZE]);

struct s3_header {
    const char *name, *value; /* small letters; without blanks at its ends */
};

struct s3_signing {
    const char *method, *path,
        *query; /* as they are sent, escaped; the query sorted by name, "name=" without a value */
    const struct s3_header *header; /* [header_count], in the order of their names */
    size_t header_count;
    const char *payload; /* s3_sha256_text() of the body */
    const char *date;    /* s3_date_text() */
    const char *region;
    const struct s3_credentials *credentials;
};

/* The value of the header "Authorization". Fails: ERROR_INVALID for a request that is longer than S3 takes; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code s3_sign(const struct s3_signing *signing,
                                   char out[S3_AUTHORIZATION_SIZE], struct error *err);

/* The MD5 of bytes that come in pieces: the ETag of an object that was put in one request, unless
 * the server encrypts it. {0} is empty.
 * False where the system's OpenSSL has no MD5. */
enum { S3_MD5_TEXT_SIZE = 33 };
struct s3_md5 {
    void *context;
};
bool s3_md5_update(struct s3_md5 *md5, const void *bytes, size_t size);
/* Writes the digits, and empties it whether it works or not. */
bool s3_md5_end(struct s3_md5 *md5, char out[S3_MD5_TEXT_SIZE]);

#endif
