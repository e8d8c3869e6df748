/*
 * s3_address - what "s3://BUCKET[/PREFIX][?NAME=VALUE&...]" names, together with the environment.
 *
 *   endpoint=URL         AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url of the profile; else AWS's own of the region
 *   region=NAME          AWS_REGION, AWS_DEFAULT_REGION, region of the profile; else us-east-1
 *   style=path|host      path with an endpoint (http://host/bucket/key), host without (https://bucket.host/key)
 *   ca=FILE              AWS_CA_BUNDLE, ca_bundle of the profile; else the system's
 *   profile=NAME         AWS_PROFILE; else default
 *
 * What stands first wins. Secrets have no place in an address: see s3_credentials.h.
 */
#ifndef STORE_BACKENDS_S3_ADDRESS_H
#define STORE_BACKENDS_S3_ADDRESS_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>

enum { S3_BUCKET_SIZE = 64, S3_PREFIX_SIZE = 256, S3_NAME_SIZE = 128, S3_HOST_SIZE = 320 };

struct s3_address {
    char bucket[S3_BUCKET_SIZE];
    char prefix[S3_PREFIX_SIZE]; /* "" or with '/' at its end */
    bool is_secure;              /* https */
    bool is_host_style;
    char host[S3_HOST_SIZE]; /* host[:port], in host style with the bucket in front */
    char region[S3_NAME_SIZE], profile[S3_NAME_SIZE];
    char ca[FILE_PATH_SIZE]; /* "": the system's */
};

/* `place`: what stands behind "s3:". Fails: ERROR_INVALID, naming the part that is wrong. */
MUST_CHECK enum error_code s3_address_parse(const char *place, struct s3_address *out,
                                            struct error *err);

/* The port that a place is reached by, as far as its text says: of a host that runs elsewhere,
 * where the environment is another one. Fails: as above. */
MUST_CHECK enum error_code s3_address_port(const char *place, int64_t *port, struct error *err);

#endif
