#include "store/queue/redis_address.h"

#include "common/base/text.h"

#include <string.h>

enum { HOST_SIZE = 256, DEFAULT_PORT = 6379, PORT_MAX = 65535, DB_MAX = 9999 };

/* A whole number from 0 to `most` in `text` [size], digits alone. */
static bool number_up_to(const char *text, size_t size, int64_t most, int *out)
{
    int64_t number = 0;
    if (strspn(text, "0123456789") < size || !text_int64(text, size, &number) || number > most)
        return false;
    *out = (int)number;
    return true;
}

/* host[:port][/[db]] */
static bool parse_host(const char *text, struct redis_address *out)
{
    const bool bracketed = text[0] == '[';
    const char *host = bracketed ? text + 1 : text;
    const size_t size = strcspn(host, bracketed ? "]" : ":/");
    const char *rest = host + size + (bracketed && host[size] == ']');
    if (size == 0 || size >= HOST_SIZE || strchr(text, '@') || (bracketed && host[size] != ']'))
        return false;
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    out->port = DEFAULT_PORT;
    if (*rest == ':') {
        const size_t digits = strcspn(++rest, "/");
        if (!number_up_to(rest, digits, PORT_MAX, &out->port) || out->port == 0)
            return false;
        rest += digits;
    }
    if (*rest == '/' && rest[1])
        return number_up_to(rest + 1, strlen(rest + 1), DB_MAX, &out->db);
    return !*rest || *rest == '/';
}

static bool parse(const char *url, struct redis_address *out)
{
    static const char unix_scheme[] = "unix:", redis_scheme[] = "redis://";
    if (strlen(url) >= REDIS_URL_SIZE)
        return false;
    if (strncmp(url, unix_scheme, sizeof unix_scheme - 1) == 0) {
        const char *path = url + sizeof unix_scheme - 1;
        out->is_unix = true;
        return path[0] && text_copy(out->host, sizeof out->host, path);
    }
    return strncmp(url, redis_scheme, sizeof redis_scheme - 1) == 0 &&
           parse_host(url + sizeof redis_scheme - 1, out);
}

enum error_code redis_address_parse(const char *url, struct redis_address *out, struct error *err)
{
    *out = (struct redis_address){0};
    if (url && parse(url, out))
        return ERROR_NONE;
    *out = (struct redis_address){0};
    return error_set(err, ERROR_INVALID,
                     "'%.200s' is no Redis address, expected redis://host:port[/db] or unix:PATH",
                     url ? url : "");
}
