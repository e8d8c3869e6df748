#include "store/backends/cluster/cluster_address.h"

#include "common/base/text.h"
#include "store/redis/redis_address.h"

#include <stdio.h>
#include <string.h>

static const char name_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/* Parses the user. No message shows the text before an '@', which may be a password. */
static enum error_code take_user(const char **at, struct cluster_address *out, struct error *err)
{
    size_t size = 0;
    const char *sign = strrchr(*at, '@');
    if (!redis_address_take_user(*at, out->like.user, &size) || strchr(*at + size, '@'))
        return error_set(err, ERROR_INVALID,
                         "store redis+cluster://***%.100s: expected a user [A-Za-z0-9._-]+ before "
                         "the '@'; a password has no place in an address: " ADVICE
                         "write it to a file, and "
                         "name that by ?password-file=FILE",
                         sign);
    *at += size;
    return ERROR_NONE;
}

static enum error_code take_seed(const char *text, size_t size, struct cluster_address *out,
                                 struct error *err)
{
    struct redis_address address;
    char url[CLUSTER_HOST_SIZE + 32];
    struct cluster_node *seed = &out->seed[out->seed_count];
    const bool fits = size < CLUSTER_HOST_SIZE && out->seed_count < CLUSTER_SEED_MAX;
    if (fits)
        (void)snprintf(url, sizeof url, "redis://%.*s", (int)size, text);
    if (!fits || redis_address_parse(url, &address, NULL) != ERROR_NONE ||
        !text_copy(seed->host, sizeof seed->host, address.host))
        return error_set(err, ERROR_INVALID,
                         "store redis+cluster: expected "
                         "redis+cluster://[USER@]HOST:PORT[,HOST:PORT...][/PREFIX] with at most %d "
                         "nodes, found '%.*s'",
                         CLUSTER_SEED_MAX, size < 100 ? (int)size : 100, text);
    seed->port = address.port;
    out->seed_count++;
    return ERROR_NONE;
}

static enum error_code take_seeds(const char **at, struct cluster_address *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (bool more = true; more && rc == ERROR_NONE;) {
        const size_t size = strcspn(*at, ",/?");
        rc = take_seed(*at, size, out, err);
        *at += size;
        more = **at == ',';
        *at += more;
    }
    return rc;
}

/* Parses the prefix: names as in keys, joined by '/'. Slashes at its ends are ignored. */
static enum error_code take_prefix(const char **at, struct cluster_address *out, struct error *err)
{
    size_t size = strcspn(*at, "?");
    const char *text = *at;
    *at += size;
    while (size && *text == '/') {
        text++;
        size--;
    }
    while (size && text[size - 1] == '/')
        size--;
    if (size >= sizeof out->prefix)
        return error_set(err, ERROR_INVALID,
                         "store redis+cluster: the prefix is longer than %d bytes",
                         CLUSTER_PREFIX_SIZE - 1);
    for (size_t i = 0; i < size;) {
        const size_t name = strspn(text + i, name_letters);
        if (name == 0 || text[i] == '.' || (i + name < size && text[i + name] != '/'))
            return error_set(err, ERROR_INVALID,
                             "store redis+cluster: expected a prefix of names [A-Za-z0-9._-]+ "
                             "joined by '/', found '%.*s'",
                             (int)size, text);
        i += name + 1;
    }
    memcpy(out->prefix, text, size);
    return ERROR_NONE;
}

static enum error_code take_parameter(const char *text, size_t size, struct cluster_address *out,
                                      struct error *err)
{
    static const char password_file[] = "password-file=";
    const size_t name = sizeof password_file - 1;
    if (size > name && size - name < sizeof out->password_file &&
        strncmp(text, password_file, name) == 0) {
        memcpy(out->password_file, text + name, size - name);
        out->password_file[size - name] = '\0';
        return ERROR_NONE;
    }
    if (out->like.is_tls && redis_address_take_file(&out->like, text, size))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "store redis+cluster: expected password-file=FILE, or with rediss+cluster: "
                     "ca=FILE, cert=FILE, key=FILE after the '?', joined by '&', found '%.*s'",
                     (int)strcspn(text, "=&"), text);
}

enum error_code cluster_address_parse(const char *place, bool is_tls, struct cluster_address *out,
                                      struct error *err)
{
    *out = (struct cluster_address){.like = {.is_tls = is_tls}};
    const char *at = strncmp(place, "//", 2) == 0 ? place + 2 : "";
    enum error_code rc = take_user(&at, out, err);
    if (rc == ERROR_NONE)
        rc = take_seeds(&at, out, err);
    if (rc == ERROR_NONE)
        rc = take_prefix(&at, out, err);
    for (; rc == ERROR_NONE && *at; at += strcspn(at, "&")) {
        at++; /* the '?' or '&' */
        rc = take_parameter(at, strcspn(at, "&"), out, err);
    }
    return rc;
}
