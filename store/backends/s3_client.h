/*
 * s3_client - requests to one bucket, many at once, each tried until it has an answer that counts or its time is up.
 *
 * What may pass is tried again: no connection, an answer that is cut or does not come, 408, 425, 429, 500, 502, 503, 504 and 409
 * while somebody else changes the same object. Between two attempts passes a random part of 50 ms, 100 ms, ... 3 s ("full jitter").
 * An attempt that moves no byte for a third of the time of a call is given up. A request has that time and 1 s more for each
 * 64 KiB that it moves; then it ends with ERROR_UNAVAILABLE, and may have done its work all the same (`was_repeated`).
 *
 * Connections are kept for the next request. A fork leaves those of its parent alone.
 *
 * Threads: a client may be used by several at once.
 */
#ifndef STORE_BACKENDS_S3_CLIENT_H
#define STORE_BACKENDS_S3_CLIENT_H

#include "common/base/error.h"
#include "store/backends/s3_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    S3_AT_ONCE = 8,       /* requests of one call that are on their way */
    S3_OBJECT_SIZE = 768, /* of a name, with the store's prefix */
    S3_QUERY_SIZE = 3072, /* a continuation token may have 1 KB, three times that when escaped */
    S3_ETAG_SIZE = 128,
    S3_WRITER_SIZE = 17,
};

enum s3_method { S3_GET, S3_HEAD, S3_PUT, S3_POST, S3_DELETE };

struct s3_client;

struct s3_request {
    enum s3_method method;
    bool if_absent; /* If-None-Match: * */
    bool
        has_range; /* bytes `offset` .. offset + into_size, or ... + range_size when `into` is NULL */
    const char *object; /* below the store's prefix; NULL: the bucket itself */
    const char *query;  /* escaped, sorted by name, "name=" without a value; NULL: none */
    const void *body;   /* [body_size] */
    size_t body_size;
    const char *if_match; /* an ETag; NULL: whatever is there */
    const char *writer;   /* a word that is kept beside the object; NULL: none */
    uint64_t offset;
    size_t range_size;
    uint8_t *into; /* [into_size]: where the bytes go; NULL: they are gathered in `answer` */
    size_t into_size;

    /* --- what came of it --- */
    /* 2xx: ERROR_NONE; 404: ERROR_NOT_FOUND; 412, a condition that does not hold: ERROR_BUSY; 401 and 403: ERROR_DENIED;
     * what did not pass in time: ERROR_UNAVAILABLE; else ERROR_IO, ERROR_NO_SPACE, ERROR_INVALID, ERROR_NO_MEMORY */
    enum error_code rc;
    struct error err;
    int status;              /* of HTTP; 0: there was no answer */
    bool was_repeated;       /* an attempt before the last one may have done its work */
    bool no_bucket;          /* 404, for want of the bucket */
    char etag[S3_ETAG_SIZE]; /* of the object */
    char found_writer[S3_WRITER_SIZE];
    int64_t modified_s, now_s; /* Last-Modified and Date, of the server's clock; 0: not told */
    uint64_t total;            /* bytes of the whole object */
    uint8_t *answer;           /* s3_request_release() */
    size_t answer_size, answer_room;
};

/* Reads the credentials. Fails: as s3_credentials_load(). End with s3_client_close(). */
MUST_CHECK enum error_code s3_client_new(const struct s3_address *address, int64_t timeout_ms,
                                         struct s3_client **out, struct error *err);
void s3_client_close(struct s3_client *client);
const struct s3_address *s3_client_address(const struct s3_client *client);

/* Makes all requests, up to S3_AT_ONCE side by side; each has a code of its own. */
void s3_perform(struct s3_client *client, struct s3_request *request, size_t count);
/* One; returns its code, with its message in `err`. */
enum error_code s3_perform_one(struct s3_client *client, struct s3_request *request,
                               struct error *err);
void s3_request_release(struct s3_request *request);

#endif
