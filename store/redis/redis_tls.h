/*
 * redis_tls - TLS over a socket that is connected to a Redis server.
 *
 * OpenSSL is called here directly: the hiredis of Debian 12 is 0.14, which has no TLS and no way to
 * replace its read() and write(). Therefore hiredis only writes commands and parses replies, and
 * redis_stream moves the bytes. A sidecar (stunnel) would be one more process in each pod that can
 * be killed.
 *
 * TLS 1.2 and later. The server's certificate must be signed by a trusted authority and name the
 * host or address that we connected to.
 *
 * Threads: a session is for one thread.
 */
#ifndef STORE_REDIS_REDIS_TLS_H
#define STORE_REDIS_REDIS_TLS_H

#include "common/base/error.h"
#include "store/redis/redis_address.h"

#include <stddef.h>

struct redis_tls;

/* Starts a session on `fd`, which remains the caller's. Reads the certificate files again for each
 * session, since they may be replaced while a program runs. The caller ends *out with
 * redis_tls_close(). Fails: ERROR_INVALID naming the file; ERROR_DENIED for a server that cannot be
 * trusted, or does not trust us; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_tls_open(int fd, const struct redis_address *address,
                                          struct redis_tls **out, struct error *err);
void redis_tls_close(struct redis_tls *tls);
/* Write all bytes; read some bytes (*got, 0 at the end). Fails: ERROR_UNAVAILABLE, also after the
 * timeout of the socket; ERROR_DENIED. */
MUST_CHECK enum error_code redis_tls_write(struct redis_tls *tls, const char *bytes, size_t size,
                                           struct error *err);
MUST_CHECK enum error_code redis_tls_read(struct redis_tls *tls, char *bytes, size_t size,
                                          size_t *got, struct error *err);
/* Returns whether the session holds bytes that were already read from the socket. */
bool redis_tls_has_bytes(const struct redis_tls *tls);

#endif
