/*
 * s3_profile - reads the files that tools for S3 share: ~/.aws/credentials and ~/.aws/config.
 *
 *   credentials (AWS_SHARED_CREDENTIALS_FILE)     config (AWS_CONFIG_FILE)
 *   [default]                                     [default]
 *   aws_access_key_id = AKIA...                   region = eu-central-1
 *   [lab]                                         [profile lab]
 *   aws_access_key_id = ...                       endpoint_url = https://s3.lab.example
 */
#ifndef STORE_BACKENDS_S3_S3_PROFILE_H
#define STORE_BACKENDS_S3_S3_PROFILE_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>
#include <stddef.h>

enum s3_file { S3_FILE_CREDENTIALS, S3_FILE_CONFIG };

/* Writes the path of that file; "" if there is no home folder. */
MUST_CHECK enum error_code s3_profile_path(enum s3_file file, char path[FILE_PATH_SIZE],
                                           struct error *err);
/* Copies the value of line `name` of the profile to `out` [size]. Fails: ERROR_NOT_FOUND without
 * file, profile or line; ERROR_INVALID for a value that does not fit; ERROR_IO. */
MUST_CHECK enum error_code s3_profile_get(enum s3_file file, const char *profile, const char *name,
                                          char *out, size_t size, struct error *err);
/* Finds the same in `text`; *value points into `text`. With `is_config`, profiles other than
 * "default" are headed [profile NAME]. Returns false if there is no such line. */
bool s3_profile_find(const char *text, bool is_config, const char *profile, const char *name,
                     const char **value, size_t *size);

#endif
