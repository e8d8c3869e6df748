#include "store/redis/redis_address.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

enum { HOST_SIZE = 256, DEFAULT_PORT = 6379, PORT_MAX = 65535, DB_MAX = 9999 };

/* Parses a whole number from 0 to `most` in `text` [size], which may have only digits. */
static bool number_up_to(const char *text, size_t size, int64_t most, int *out)
{
    int64_t number = 0;
    if (strspn(text, "0123456789") < size || !text_int64(text, size, &number) || number > most)
        return false;
    *out = (int)number;
    return true;
}

bool redis_address_take_user(const char *text, char user[REDIS_USER_SIZE], size_t *size)
{
    const size_t authority = strcspn(text, "/?");
    const char *sign = memchr(text, '@', authority);
    const size_t name = sign ? (size_t)(sign - text) : 0;
    *size = sign ? name + 1 : 0;
    user[0] = '\0';
    if (!sign)
        return true;
    if (name == 0 || name >= REDIS_USER_SIZE ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") < name)
        return false;
    memcpy(user, text, name);
    user[name] = '\0';
    return true;
}

bool redis_address_take_file(struct redis_address *address, const char *text, size_t size)
{
    const struct {
        const char *name;
        char *value; /* [FILE_PATH_SIZE] */
    } known[] = {{"ca=", address->ca}, {"cert=", address->certificate}, {"key=", address->key}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t name = strlen(known[i].name);
        if (size <= name || strncmp(text, known[i].name, name) != 0)
            continue;
        if (size - name >= FILE_PATH_SIZE)
            return false;
        memcpy(known[i].value, text + name, size - name);
        known[i].value[size - name] = '\0';
        return true;
    }
    return false;
}

/* Parses [?ca=FILE&...] at the end. */
static bool parse_files(const char *at, struct redis_address *out)
{
    bool good = !*at || out->is_tls;
    for (; good && *at; at += strcspn(at, "&")) {
        at++; /* the '?' or '&' */
        good = redis_address_take_file(out, at, strcspn(at, "&"));
    }
    return good;
}

/* Parses [user@]host[:port][/[db]][?...]. */
static bool parse_host(const char *text, struct redis_address *out)
{
    size_t skipped = 0;
    if (!redis_address_take_user(text, out->user, &skipped))
        return false;
    text += skipped;
    const bool bracketed = text[0] == '[';
    const char *host = bracketed ? text + 1 : text;
    const size_t size = strcspn(host, bracketed ? "]" : ":/?");
    const char *rest = host + size + (bracketed && host[size] == ']');
    if (size == 0 || size >= HOST_SIZE || memchr(host, '@', size) ||
        (bracketed && host[size] != ']'))
        return false;
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    out->port = DEFAULT_PORT;
    if (*rest == ':') {
        const size_t digits = strcspn(++rest, "/?");
        if (!number_up_to(rest, digits, PORT_MAX, &out->port) || out->port == 0)
            return false;
        rest += digits;
    }
    if (*rest == '/') {
        const size_t digits = strcspn(++rest, "?");
        if (digits && !number_up_to(rest, digits, DB_MAX, &out->db))
            return false;
        rest += digits;
    }
    return (!*rest || *rest == '?') && parse_files(rest, out);
}

static bool parse(const char *url, struct redis_address *out)
{
    static const char unix_scheme[] = "unix:", plain[] = "redis://", secure[] = "rediss://";
    if (strlen(url) >= REDIS_URL_SIZE)
        return false;
    if (strncmp(url, unix_scheme, sizeof unix_scheme - 1) == 0) {
        const char *path = url + sizeof unix_scheme - 1;
        out->is_unix = true;
        return path[0] && text_copy(out->host, sizeof out->host, path);
    }
    out->is_tls = strncmp(url, secure, sizeof secure - 1) == 0;
    if (!out->is_tls && strncmp(url, plain, sizeof plain - 1) != 0)
        return false;
    return parse_host(url + (out->is_tls ? sizeof secure : sizeof plain) - 1, out);
}

enum error_code redis_address_parse(const char *url, struct redis_address *out, struct error *err)
{
    *out = (struct redis_address){0};
    if (url && parse(url, out))
        return ERROR_NONE;
    *out = (struct redis_address){0};
    const char *sign = url ? strrchr(url, '@') : NULL;
    return error_set(err, ERROR_INVALID,
                     "'%s%.200s' is no Redis address, expected redis://[user@]host:port[/db], "
                     "rediss://[user@]host:port[/db][?ca=FILE&cert=FILE&key=FILE] or unix:PATH%s",
                     sign ? "***" : "",
                     sign  ? sign
                     : url ? url
                           : "",
                     sign ? "; a password has no place in it: --redis-password-file FILE" : "");
}

void redis_address_text(const struct redis_address *address, char text[REDIS_URL_SIZE])
{
    const bool bracketed = strchr(address->host, ':') != NULL;
    if (address->is_unix)
        (void)snprintf(text, REDIS_URL_SIZE, "unix:%s", address->host);
    else
        (void)snprintf(text, REDIS_URL_SIZE, "%s%s%s:%d", bracketed ? "[" : "", address->host,
                       bracketed ? "]" : "", address->port);
}
