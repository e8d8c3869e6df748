/*
 * s3_signature - AWS Signature Version 4, in the form that S3 requires.
 *
 * libcurl's own signature (CURLOPT_AWS_SIGV4) is not used: the 7.88 of Debian 12 signs requests
 * with the header x-amz-content-sha256 in a way that SeaweedFS refuses. This signature covers
 * method, path, query, host, all x-amz-... headers and the SHA-256 of the body, so that a server
 * refuses bytes that changed on the way.
 *
 * Source: "Signature Calculations for the Authorization Header: Transferring Payload in a Single
 * Chunk", Amazon S3 API Reference; the test has that page's examples.
 */
#ifndef STORE_BACKENDS_S3_S3_SIGNATURE_H
#define STORE_BACKENDS_S3_S3_SIGNATURE_H

#include "store/backends/s3/s3_credentials.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { S3_SHA256_TEXT_SIZE = 65, S3_DATE_SIZE = 17, S3_AUTHORIZATION_SIZE = 640 };

/* Writes the SHA-256 as hexadecimal digits. */
void s3_sha256_text(const void *bytes, size_t size, char out[S3_SHA256_TEXT_SIZE]);
/* Writes a time as 20130524T000000Z. */
void s3_date_text(time_t when, char out[S3_DATE_SIZE]);

struct s3_header {
    const char *name, *value; /* the name in small letters, the value without blanks at its ends */
};

struct s3_signing {
    const char *method, *path,
        *query;                     /* as sent, escaped; query sorted by name, "name=" if empty */
    const struct s3_header *header; /* [header_count], sorted by name */
    size_t header_count;
    const char *payload; /* s3_sha256_text() of the body */
    const char *date;    /* s3_date_text() */
    const char *region;
    const struct s3_credentials *credentials;
};

/* Computes the value of the header "Authorization". Fails: ERROR_INVALID for a request that is
 * longer than S3 accepts; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code s3_sign(const struct s3_signing *signing,
                                   char out[S3_AUTHORIZATION_SIZE], struct error *err);

/* The MD5 of bytes that come in pieces. It is the ETag of an object that was put in one request,
 * unless the server encrypts it. {0} is empty. The functions return false if the system's OpenSSL
 * has no MD5. */
enum { S3_MD5_TEXT_SIZE = 33 };
struct s3_md5 {
    void *context;
};
bool s3_md5_update(struct s3_md5 *md5, const void *bytes, size_t size);
/* Writes the digits. Resets `md5` to {0} whether it succeeds or not. */
bool s3_md5_end(struct s3_md5 *md5, char out[S3_MD5_TEXT_SIZE]);

#endif
