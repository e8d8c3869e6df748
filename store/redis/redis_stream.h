/*
 * redis_stream - moves bytes to and from a Redis server: over TCP, with or without TLS, or over a
 * Unix socket.
 *
 * Threads: a stream is for one thread.
 */
#ifndef STORE_REDIS_REDIS_STREAM_H
#define STORE_REDIS_REDIS_STREAM_H

#include "common/base/error.h"
#include "store/redis/redis_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_tls;

struct redis_stream { /* {0} is closed */
    int fd_plus_one;
    struct redis_tls *tls; /* NULL without TLS */
};

/* Connects to the server. `connect_ms` is the time for each address of the host name, `answer_ms`
 * the longest time without progress. The caller ends *out with redis_stream_close(), which may be
 * called twice. Fails: ERROR_UNAVAILABLE; as redis_tls_open(). Messages do not name the server. */
MUST_CHECK enum error_code redis_stream_open(const struct redis_address *address,
                                             int64_t connect_ms, int64_t answer_ms,
                                             struct redis_stream *out, struct error *err);
void redis_stream_close(struct redis_stream *stream);
bool redis_stream_is_open(const struct redis_stream *stream);
/* Writes all bytes. Fails: ERROR_UNAVAILABLE; some of the bytes may have arrived. */
MUST_CHECK enum error_code redis_stream_write(struct redis_stream *stream, const char *bytes,
                                              size_t size, struct error *err);
/* Reads at least one byte. Fails: ERROR_UNAVAILABLE, also at the end of the stream. */
MUST_CHECK enum error_code redis_stream_read(struct redis_stream *stream, char *bytes, size_t size,
                                             size_t *got, struct error *err);
/* Returns whether bytes can be read, after waiting up to `wait_ms`; a signal ends the wait. */
bool redis_stream_wait(const struct redis_stream *stream, int wait_ms);

#endif
