/*
 * redis_tls - TLS over a socket that is connected to a Redis server.
 *
 * OpenSSL, called here: Debian 12's hiredis is 0.14, which has neither TLS nor a way to put other functions in the place of read() and
 * write(), so hiredis only writes commands and reads replies, and redis_stream moves the bytes. A sidecar (stunnel) was the
 * other way; each pod would need one, and each would be one more thing that can be killed.
 *
 * TLS 1.2 and later. The server's certificate has to be signed by the authority, and be of the name or address that was asked for.
 *
 * Threads: a session is for one thread.
 */
#ifndef STORE_REDIS_REDIS_TLS_H
#define STORE_REDIS_REDIS_TLS_H

#include "common/base/error.h"
#include "store/redis/redis_address.h"

#include <stddef.h>

struct redis_tls;

/* Files are read anew for each session, since they may be exchanged while a program runs. `fd` stays the caller's.
 * Owns:  *out; redis_tls_close().
 * Fails: ERROR_INVALID naming the file; ERROR_DENIED for a server that cannot be trusted, or does not trust us; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_tls_open(int fd, const struct redis_address *address,
                                          struct redis_tls **out, struct error *err);
void redis_tls_close(struct redis_tls *tls);
/* All bytes; some bytes (*got, 0 at the end). Fails: ERROR_UNAVAILABLE, also after the time of the socket; ERROR_DENIED. */
MUST_CHECK enum error_code redis_tls_write(struct redis_tls *tls, const char *bytes, size_t size,
                                           struct error *err);
MUST_CHECK enum error_code redis_tls_read(struct redis_tls *tls, char *bytes, size_t size,
                                          size_t *got, struct error *err);
/* Whether bytes have come that the socket does not show any more. */
bool redis_tls_has_bytes(const struct redis_tls *tls);

#endif
