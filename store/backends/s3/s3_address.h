/*
 * s3_address - parses "s3://BUCKET[/PREFIX][?NAME=VALUE&...]" and completes it from the
 * environment.
 *
 *   endpoint=URL         else AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url of the profile,
 *                        AWS's own for the region
 *   region=NAME          else AWS_REGION, AWS_DEFAULT_REGION, region of the profile, us-east-1
 *   style=path|host      else path with an endpoint (http://host/bucket/key), host without one
 *                        (https://bucket.host/key)
 *   ca=FILE              else AWS_CA_BUNDLE, ca_bundle of the profile, the system's
 *   profile=NAME         else AWS_PROFILE, default
 *
 * The first source that has a value wins. An address never holds secrets: see s3_credentials.h.
 */
#ifndef STORE_BACKENDS_S3_S3_ADDRESS_H
#define STORE_BACKENDS_S3_S3_ADDRESS_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>

enum { S3_BUCKET_SIZE = 64, S3_PREFIX_SIZE = 256, S3_NAME_SIZE = 128, S3_HOST_SIZE = 320 };

struct s3_address {
    char bucket[S3_BUCKET_SIZE];
    char prefix[S3_PREFIX_SIZE]; /* "" or ends with '/' */
    bool is_secure;              /* https */
    bool is_host_style;
    char host[S3_HOST_SIZE]; /* host[:port]; in host style the bucket is part of it */
    char region[S3_NAME_SIZE], profile[S3_NAME_SIZE];
    char ca[FILE_PATH_SIZE]; /* "" for the system's */
};

/* Parses `place`, the text after "s3:". Fails: ERROR_INVALID, naming the part that is wrong. */
MUST_CHECK enum error_code s3_address_parse(const char *place, struct s3_address *out,
                                            struct error *err);

/* Reads the port from the text of a place alone. This serves a program that will run on another
 * host, whose environment differs. Fails: as above. */
MUST_CHECK enum error_code s3_address_port(const char *place, int64_t *port, struct error *err);

#endif
