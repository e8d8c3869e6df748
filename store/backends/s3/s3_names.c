#include "store/backends/s3/s3_names.h"

#include <stdio.h>
#include <string.h>

/* Escapes all bytes but those that RFC 3986 leaves unchanged, and '/' with `keeps_slash`. Returns
 * false if the result does not fit. */
static bool escape(const char *text, bool keeps_slash, char *out, size_t size)
{
    static const char digit[] = "0123456789ABCDEF";
    size_t to = 0;
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') || strchr("-._~", byte) ||
                           (keeps_slash && byte == '/');
        if (to + 4 > size)
            return false;
        if (plain) {
            out[to++] = *text;
        } else {
            out[to++] = '%';
            out[to++] = digit[byte >> 4];
            out[to++] = digit[byte & 15];
        }
    }
    out[to] = '\0';
    return true;
}

enum error_code s3_query_add(char query[S3_QUERY_SIZE], const char *name, const char *value,
                             struct error *err)
{
    const size_t used = strlen(query);
    const int size = snprintf(query + used, S3_QUERY_SIZE - used, "%s%s=", used ? "&" : "", name);
    if (size < 0 || (size_t)size >= S3_QUERY_SIZE - used ||
        !escape(value, false, query + used + size, S3_QUERY_SIZE - used - (size_t)size))
        return error_set(err, ERROR_INVALID, "a query to S3 is longer than %d bytes",
                         S3_QUERY_SIZE);
    return ERROR_NONE;
}

bool s3_path(const struct s3_address *address, const struct s3_request *request,
             char path[S3_PATH_SIZE])
{
    char plain[S3_OBJECT_SIZE + S3_BUCKET_SIZE];
    const bool named = request->object != NULL;
    const int size =
        snprintf(plain, sizeof plain, "/%s%s%s%s", address->is_host_style ? "" : address->bucket,
                 address->is_host_style || !named ? "" : "/", named ? address->prefix : "",
                 named ? request->object : "");
    return size > 0 && (size_t)size < sizeof plain && escape(plain, true, path, S3_PATH_SIZE);
}

const char *s3_name(const struct s3_address *address, const struct s3_request *request,
                    char out[FILE_PATH_SIZE])
{
    (void)snprintf(out, FILE_PATH_SIZE, "s3://%s/%s%s", address->bucket,
                   request->object ? address->prefix : "", request->object ? request->object : "");
    return out;
}
