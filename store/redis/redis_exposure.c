#include "store/redis/redis_exposure.h"

#include "common/base/log.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool begins_with(const char *text, size_t size, const char *word)
{
    const size_t length = strlen(word);
    return size >= length && strncasecmp(text, word, length) == 0;
}

static bool is_loopback(const char *host, size_t size)
{
    return begins_with(host, size, "127.") || (size == 3 && begins_with(host, size, "::1")) ||
           (size == 9 && begins_with(host, size, "localhost"));
}

bool redis_exposure_is_open(const char *bind)
{
    bool any = false;
    for (const char *at = bind; *at;) {
        at += strspn(at, " -"); /* "-" means that the address is optional */
        const size_t size = strcspn(at, " ");
        if (size && !is_loopback(at, size))
            return true;
        any = any || size;
        at += size;
    }
    return !any; /* without addresses the server binds all */
}

/* Reads the answer to CONFIG GET, a name and a value. *bind stays NULL if the server forbids the
 * command. */
static enum error_code ask_bind(struct redis_connection *connection, struct redisReply **reply,
                                const char **bind, struct error *err)
{
    const char *argv[] = {"CONFIG", "GET", "bind"};
    const enum error_code rc = redis_connection_call(connection, 3, argv, reply, err);
    *bind = NULL;
    if (rc == ERROR_INVALID || rc == ERROR_IO)
        return ERROR_NONE;
    if (rc == ERROR_NONE && redis_reply_is_array(*reply) && redis_reply_count(*reply) == 2 &&
        redis_reply_is_text(redis_reply_item(*reply, 1)))
        *bind = redis_reply_text(redis_reply_item(*reply, 1));
    return rc;
}

enum error_code redis_exposure_warn(struct redis_connection *connection,
                                    const struct redis_address *address, struct error *err)
{
    struct redisReply *reply = NULL;
    const char *bind = NULL;
    if (address->is_unix)
        return ERROR_NONE;
    const enum error_code rc = ask_bind(connection, &reply, &bind, err);
    const bool is_open =
        bind ? redis_exposure_is_open(bind) : !is_loopback(address->host, strlen(address->host));
    if (rc == ERROR_NONE && is_open)
        log_warn("Redis at %s needs no password and listens on '%s': anyone who reaches it can "
                 "change this "
                 "run; give it one (requirepass, --redis-password-file), or bind it to 127.0.0.1",
                 redis_connection_url(connection), bind && *bind ? bind : "all addresses");
    redis_reply_free(reply);
    return rc;
}

void redis_exposure_warn_file(const char *password_file)
{
    struct stat status;
    if (password_file && stat(password_file, &status) == 0 && (status.st_mode & S_IROTH))
        log_warn(
            "%s, the password of Redis, may be read by every user of this machine (mode %04o): "
            "chmod 600 it",
            password_file, (unsigned)(status.st_mode & 07777));
}
