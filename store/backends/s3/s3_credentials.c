#include "store/backends/s3/s3_credentials.h"

#include "common/base/text.h"
#include "store/backends/s3/s3_profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_set(const char *value)
{
    return value && *value;
}

static enum error_code from_environment(struct s3_credentials *out, bool *found, struct error *err)
{
    const char *key = getenv("AWS_ACCESS_KEY_ID"), *secret = getenv("AWS_SECRET_ACCESS_KEY"),
               *token = getenv("AWS_SESSION_TOKEN");
    *found = is_set(key) || is_set(secret);
    if (!*found)
        return ERROR_NONE;
    if (!is_set(key) || !is_set(secret))
        return error_set(err, ERROR_INVALID, "%s is set, and %s is not: expected both, or neither",
                         is_set(key) ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                         is_set(key) ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
    if (!text_copy(out->key, sizeof out->key, key) ||
        !text_copy(out->secret, sizeof out->secret, secret) ||
        !text_copy(out->token, sizeof out->token, is_set(token) ? token : ""))
        return error_set(err, ERROR_INVALID, "the credentials in AWS_... are too long");
    return ERROR_NONE;
}

static enum error_code from_file(enum s3_file file, const char *profile, struct s3_credentials *out,
                                 struct error *err)
{
    enum error_code rc =
        s3_profile_get(file, profile, "aws_access_key_id", out->key, sizeof out->key, err);
    if (rc == ERROR_NONE) {
        rc = s3_profile_get(file, profile, "aws_secret_access_key", out->secret, sizeof out->secret,
                            err);
        if (rc == ERROR_NOT_FOUND)
            return error_context(err, ERROR_INVALID, "an access key without its secret");
    }
    if (rc == ERROR_NONE) {
        rc = s3_profile_get(file, profile, "aws_session_token", out->token, sizeof out->token, err);
        if (rc == ERROR_NOT_FOUND)
            rc = ERROR_NONE;
    }
    return rc;
}

/* Returns whether a text may be part of a header line. */
static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

enum error_code s3_credentials_load(const char *profile, struct s3_credentials *out,
                                    struct error *err)
{
    bool found = false;
    char path[FILE_PATH_SIZE] = "";
    *out = (struct s3_credentials){.key = ""};
    enum error_code rc = from_environment(out, &found, err);
    if (rc == ERROR_NONE && !found)
        rc = from_file(S3_FILE_CREDENTIALS, profile, out, err);
    if (rc == ERROR_NOT_FOUND)
        rc = from_file(S3_FILE_CONFIG, profile, out, err);
    if (rc == ERROR_NOT_FOUND) {
        rc = s3_profile_path(S3_FILE_CREDENTIALS, path, err);
        if (rc == ERROR_NONE)
            rc = error_set(err, ERROR_DENIED,
                           "no credentials for S3: expected AWS_ACCESS_KEY_ID and "
                           "AWS_SECRET_ACCESS_KEY, or aws_access_key_id and aws_secret_access_key "
                           "of profile [%s] in %s",
                           profile, *path ? path : "~/.aws/credentials");
    }
    if (rc == ERROR_NONE &&
        (!is_printable(out->key) || !is_printable(out->secret) || !is_printable(out->token)))
        rc = error_set(err, ERROR_INVALID,
                       "credentials for S3: expected printable characters without blanks");
    return rc;
}
