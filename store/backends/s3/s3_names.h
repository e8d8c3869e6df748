/* s3_names - writes the path and query of a request of S3, escaped as in RFC 3986, and its name for
 * messages. No state. */
#ifndef STORE_BACKENDS_S3_S3_NAMES_H
#define STORE_BACKENDS_S3_S3_NAMES_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/backends/s3/s3_address.h"
#include "store/backends/s3/s3_client.h"

#include <stdbool.h>

enum { S3_PATH_SIZE = 3 * (S3_OBJECT_SIZE + S3_BUCKET_SIZE) };

/* Adds "name=value" to a query, escaped. The caller adds names in sorted order. Fails:
 * ERROR_INVALID when it does not fit. */
MUST_CHECK enum error_code s3_query_add(char query[S3_QUERY_SIZE], const char *name,
                                        const char *value, struct error *err);

/* Writes the escaped path of a request. Returns false if it does not fit. */
MUST_CHECK bool s3_path(const struct s3_address *address, const struct s3_request *request,
                        char path[S3_PATH_SIZE]);

/* Writes "s3://bucket/prefix/object" for messages, and returns `out`. */
const char *s3_name(const struct s3_address *address, const struct s3_request *request,
                    char out[FILE_PATH_SIZE]);

#endif
