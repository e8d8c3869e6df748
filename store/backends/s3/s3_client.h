/*
 * s3_client - sends requests to one bucket, many at once, and repeats each until it has a final
 * answer or its time is up.
 *
 * A request is repeated after a failure that may pass: no connection, an answer that is cut or does
 * not come, a status of 408, 425, 429, 500, 502, 503 or 504, and 409 while another client changes
 * the same object. The pause between two attempts is a random part of 50 ms, 100 ms, ... up to 3 s
 * ("full jitter"). An attempt that moves no byte for a third of the timeout is given up. A request
 * may take the timeout and 1 s more for each 64 KiB that it moves. After that it ends with
 * ERROR_UNAVAILABLE; the server may still have done it (`was_repeated`).
 *
 * Connections are kept for the next request. A forked process does not use those of its parent.
 *
 * Threads: several may use one client at once.
 */
#ifndef STORE_BACKENDS_S3_S3_CLIENT_H
#define STORE_BACKENDS_S3_S3_CLIENT_H

#include "common/base/error.h"
#include "store/backends/s3/s3_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    S3_AT_ONCE = 8,       /* requests of one call that are in flight together */
    S3_OBJECT_SIZE = 768, /* of a name, with the store's prefix */
    S3_QUERY_SIZE = 3072, /* a continuation token may have 1 KB, and escaping may treble it */
    S3_ETAG_SIZE = 128,
    S3_WRITER_SIZE = 17,
};

enum s3_method { S3_GET, S3_HEAD, S3_PUT, S3_POST, S3_DELETE };

struct s3_client;

struct s3_request {
    enum s3_method method;
    bool if_absent; /* If-None-Match: * */
    bool has_range; /* bytes `offset` .. offset + into_size, or .. + range_size if `into` is NULL */
    const char *object; /* below the store's prefix; NULL: the bucket itself */
    const char *query;  /* escaped, sorted by name, "name=" if it has no value; NULL: none */
    const void *body;   /* [body_size] */
    size_t body_size;
    const char *if_match; /* an ETag that the object must have; NULL: any object */
    const char *writer;   /* a word that is stored with the object; NULL: none */
    uint64_t offset;
    size_t range_size;
    uint8_t *into; /* [into_size]: destination of the bytes; NULL: `answer` gathers them */
    size_t into_size;

    /* --- results --- */
    /* ERROR_NONE for 2xx; ERROR_NOT_FOUND for 404; ERROR_BUSY for 412, a condition that does not
     * hold; ERROR_DENIED for 401 and 403; ERROR_UNAVAILABLE if the time is up; else ERROR_IO,
     * ERROR_NO_SPACE, ERROR_INVALID or ERROR_NO_MEMORY. */
    enum error_code rc;
    struct error err;
    int status;              /* of HTTP; 0: there was no answer */
    bool was_repeated;       /* an attempt before the last one may have been done by the server */
    bool no_bucket;          /* the 404 says that there is no bucket */
    char etag[S3_ETAG_SIZE]; /* of the object */
    char found_writer[S3_WRITER_SIZE];
    int64_t modified_s, now_s; /* Last-Modified and Date, by the server's clock; 0: unknown */
    uint64_t total;            /* bytes of the whole object */
    uint8_t *answer;           /* s3_request_release() frees it */
    size_t answer_size, answer_room;
};

/* Makes a client and reads the credentials. Fails: as s3_credentials_load(). The caller ends it
 * with s3_client_close(). */
MUST_CHECK enum error_code s3_client_new(const struct s3_address *address, int64_t timeout_ms,
                                         struct s3_client **out, struct error *err);
void s3_client_close(struct s3_client *client);
const struct s3_address *s3_client_address(const struct s3_client *client);

/* Performs all requests, up to S3_AT_ONCE at the same time. Each request gets its own code. */
void s3_perform(struct s3_client *client, struct s3_request *request, size_t count);
/* Performs one request. Returns its code, and copies its message to `err`. */
enum error_code s3_perform_one(struct s3_client *client, struct s3_request *request,
                               struct error *err);
void s3_request_release(struct s3_request *request);

#endif
