/*
 * redis_policy - refuses a server that evicts keys when its memory is full, or is too old.
 *
 * Losing a key is never harmless: a queue must be filled again, and records computed again.
 */
#ifndef STORE_REDIS_REDIS_POLICY_H
#define STORE_REDIS_REDIS_POLICY_H

#include "common/base/error.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds the value of a line "name:value" of INFO. Returns false if there is none, or it does not
 * fit. */
bool redis_info_value(const char *info, const char *name, char *out, size_t size);
/* Returns whether the answer to INFO memory says that the server evicts, and copies its policy. */
bool redis_policy_evicts(const struct redisReply *reply, char *policy, size_t policy_size);
enum { REDIS_VERSION_SIZE = 32 };
/* Returns whether the answer to INFO server names a version before 6.2, and copies the version. The
 * scripts of the queue need 6.2 (XAUTOCLAIM). An answer without a version counts as new enough. */
bool redis_version_is_old(const char *info, char version[REDIS_VERSION_SIZE]);
/* Asks the server for its version. Fails: ERROR_INVALID when it is too old; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_version_check(struct redis_connection *connection,
                                               struct error *err);
/* Asks the server for its policy. `what` is what it would lose, for the message. A server that
 * forbids INFO counts as one that does not evict. Fails: ERROR_INVALID when it evicts;
 * ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_policy_check(struct redis_connection *connection, const char *what,
                                              struct error *err);

#endif
