/*
 * s3_profile - lines of the files that tools for S3 share: ~/.aws/credentials and ~/.aws/config.
 *
 *   credentials (AWS_SHARED_CREDENTIALS_FILE)     config (AWS_CONFIG_FILE)
 *   [default]                                     [default]
 *   aws_access_key_id = AKIA...                   region = eu-central-1
 *   [lab]                                         [profile lab]
 *   aws_access_key_id = ...                       endpoint_url = https://s3.lab.example
 */
#ifndef STORE_BACKENDS_S3_PROFILE_H
#define STORE_BACKENDS_S3_PROFILE_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <stddef.h>

enum s3_file { S3_FILE_CREDENTIALS, S3_FILE_CONFIG };

/* Where that file is; "" without a home. */
MUST_CHECK enum error_code s3_profile_path(enum s3_file file, char path[FILE_PATH_SIZE],
                                           struct error *err);
/* The value of line `name` of the profile into `out` [size]. Fails: ERROR_NOT_FOUND without file, profile or line;
 * ERROR_INVALID for one that does not fit; ERROR_IO. */
MUST_CHECK enum error_code s3_profile_get(enum s3_file file, const char *profile, const char *name,
                                          char *out, size_t size, struct error *err);
/* The same in `text`. `is_config`: profiles but "default" are called [profile NAME]. False: there is none. *value is a
 * part of `text`. */
bool s3_profile_find(const char *text, bool is_config, const char *profile, const char *name,
                     const char **value, size_t *size);

#endif
