/*
 * redis_policy - whether a server may throw keys away when its memory is full, which nothing here survives quietly, or is too old.
 */
#ifndef STORE_REDIS_REDIS_POLICY_H
#define STORE_REDIS_REDIS_POLICY_H

#include "common/base/error.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>
#include <stddef.h>

/* The value of a line "name:value" of INFO; false when there is none that fits. */
bool redis_info_value(const char *info, const char *name, char *out, size_t size);
/* Of the answer to INFO memory: does the server evict? `policy` then names how. */
bool redis_policy_evicts(const struct redisReply *reply, char *policy, size_t policy_size);
enum { REDIS_VERSION_SIZE = 32 };
/* Of the answer to INFO server: is it older than 6.2, which the scripts of the queue need (XAUTOCLAIM)? `version` is what it says then. One that says
 * nothing is believed. */
bool redis_version_is_old(const char *info, char version[REDIS_VERSION_SIZE]);
/* Asks the server. Fails: ERROR_INVALID when it is older; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_version_check(struct redis_connection *connection,
                                               struct error *err);
/* Asks the server; `what` is what it would lose, for the message. One that forbids INFO is believed.
 * Fails: ERROR_INVALID when it evicts; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_policy_check(struct redis_connection *connection, const char *what,
                                              struct error *err);

#endif
