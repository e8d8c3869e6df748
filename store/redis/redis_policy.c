#include "store/redis/redis_policy.h"

#include <stdio.h>
#include <string.h>

bool redis_info_value(const char *info, const char *name, char *out, size_t size)
{
    const size_t length = strlen(name);
    for (const char *line = info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 1;
        const size_t value_size = strcspn(value, "\r\n");
        if (value_size >= size)
            return false;
        memcpy(out, value, value_size);
        out[value_size] = '\0';
        return true;
    }
    return false;
}

bool redis_policy_evicts(const struct redisReply *reply, char *policy, size_t policy_size)
{
    const char *info = redis_reply_text(reply);
    char limit[32];
    policy[0] = '\0';
    if (!redis_info_value(info, "maxmemory", limit, sizeof limit) || strcmp(limit, "0") == 0)
        return false;
    return redis_info_value(info, "maxmemory_policy", policy, policy_size) &&
           strcmp(policy, "noeviction") != 0;
}

/* Checks the policy with INFO, which servers that forbid CONFIG answer too. */
enum error_code redis_policy_check(struct redis_connection *connection, const char *what,
                                   struct error *err)
{
    struct redisReply *reply = NULL;
    char policy[32];
    const char *argv[] = {"INFO", "memory"};
    enum error_code rc = redis_connection_call(connection, 2, argv, &reply, err);
    if (rc == ERROR_INVALID || rc == ERROR_IO)
        rc = ERROR_NONE;
    else if (rc == ERROR_NONE && redis_policy_evicts(reply, policy, sizeof policy))
        rc = error_set(
            err, ERROR_INVALID,
            "Redis at %s: expected maxmemory-policy noeviction, found %s: it would throw "
            "%s away when its memory is full; " ADVICE "set it with CONFIG SET maxmemory-policy "
            "noeviction, or name another server",
            redis_connection_url(connection), policy, what);
    redis_reply_free(reply);
    return rc;
}

bool redis_version_is_old(const char *info, char version[REDIS_VERSION_SIZE])
{
    int major = 0, minor = 0;
    /* Two digits each, so that no number overflows. */
    return redis_info_value(info, "redis_version", version, REDIS_VERSION_SIZE) &&
           sscanf(version, "%2d.%2d", &major, &minor) == 2 && /* NOLINT(cert-err34-c) */
           (major < 6 || (major == 6 && minor < 2));
}

enum error_code redis_version_check(struct redis_connection *connection, struct error *err)
{
    struct redisReply *reply = NULL;
    char version[REDIS_VERSION_SIZE];
    const char *argv[] = {"INFO", "server"};
    enum error_code rc = redis_connection_call(connection, 2, argv, &reply, err);
    if (rc == ERROR_INVALID || rc == ERROR_IO)
        rc = ERROR_NONE; /* the server forbids INFO */
    else if (rc == ERROR_NONE && redis_version_is_old(redis_reply_text(reply), version))
        rc = error_set(err, ERROR_INVALID,
                       "Redis at %s is version %s: expected 6.2 or a newer one, or Valkey",
                       redis_connection_url(connection), version);
    redis_reply_free(reply);
    return rc;
}
