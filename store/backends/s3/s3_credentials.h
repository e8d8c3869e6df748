/*
 * s3_credentials - the access key of S3, its secret, and the token of a temporary session.
 *
 * They are read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else from the
 * lines of these names in small letters in a profile of ~/.aws/credentials; else of ~/.aws/config.
 * They are read again when a server calls them expired, so that a running program uses credentials
 * that were renewed in the file.
 */
#ifndef STORE_BACKENDS_S3_S3_CREDENTIALS_H
#define STORE_BACKENDS_S3_S3_CREDENTIALS_H

#include "common/base/error.h"

enum { S3_KEY_SIZE = 160, S3_TOKEN_SIZE = 4096 };

struct s3_credentials {
    char key[S3_KEY_SIZE], secret[S3_KEY_SIZE];
    char token[S3_TOKEN_SIZE]; /* "" if there is none */
};

/* Loads the credentials. Fails: ERROR_DENIED when there are none, naming the places that were
 * searched; ERROR_INVALID when only the key or only the secret is set; ERROR_IO. */
MUST_CHECK enum error_code s3_credentials_load(const char *profile, struct s3_credentials *out,
                                               struct error *err);

#endif
