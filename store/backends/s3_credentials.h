/*
 * s3_credentials - who asks: a key, its secret, and the token of a session that ends.
 *
 * From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the lines of the same names in small letters
 * in a profile of ~/.aws/credentials, else of ~/.aws/config. They are read again when a server calls them expired, so whoever
 * renews the file needs to stop nothing.
 */
#ifndef STORE_BACKENDS_S3_CREDENTIALS_H
#define STORE_BACKENDS_S3_CREDENTIALS_H

#include "common/base/error.h"

enum { S3_KEY_SIZE = 160, S3_TOKEN_SIZE = 4096 };

struct s3_credentials {
    char key[S3_KEY_SIZE], secret[S3_KEY_SIZE];
    char token[S3_TOKEN_SIZE]; /* "": none */
};

/* Fails: ERROR_DENIED when there are none, saying where they were looked for; ERROR_INVALID for half of them; ERROR_IO. */
MUST_CHECK enum error_code s3_credentials_load(const char *profile, struct s3_credentials *out,
                                               struct error *err);

#endif
