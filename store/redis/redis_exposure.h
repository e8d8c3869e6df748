/*
 * redis_exposure - warns if strangers could use a server, or read its password.
 *
 * A person who reaches the Redis of a run can change what its workers do. A run is not refused for
 * that, since a network may be closed in other ways, but it logs a warning.
 */
#ifndef STORE_REDIS_REDIS_EXPOSURE_H
#define STORE_REDIS_REDIS_EXPOSURE_H

#include "common/base/error.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>

/* Returns whether a server whose setting `bind` has this value ("* -::*", "127.0.0.1 -::1") listens
 * beyond this machine. */
bool redis_exposure_is_open(const char *bind);
/* Logs a warning if the server takes commands from other machines without a password. Call it on a
 * connection that needed no password. Fails: ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_exposure_warn(struct redis_connection *connection,
                                               const struct redis_address *address,
                                               struct error *err);
/* Logs a warning if all users of this machine may read `password_file`, which may be NULL. */
void redis_exposure_warn_file(const char *password_file);

#endif
