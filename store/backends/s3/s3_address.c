#include "store/backends/s3/s3_address.h"

#include "common/base/text.h"
#include "store/backends/s3/s3_profile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443 };

static const char lower_and_digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* The parameters in the address; "" for those that are missing. */
struct parameters {
    char endpoint[S3_HOST_SIZE], region[S3_NAME_SIZE], style[S3_NAME_SIZE], ca[FILE_PATH_SIZE],
        profile[S3_NAME_SIZE];
};

/* Parses the bucket. An address may contain a secret by mistake, so messages show at most its
 * bucket. */
static enum error_code take_bucket(const char **at, struct s3_address *out, struct error *err)
{
    const size_t size = strcspn(*at, "/?");
    const bool fits = size >= 3 && size < sizeof out->bucket;
    if (fits)
        (void)snprintf(out->bucket, sizeof out->bucket, "%.*s", (int)size, *at);
    if (!fits || strspn(out->bucket, "abcdefghijklmnopqrstuvwxyz0123456789.-") != size ||
        !strchr(lower_and_digits, out->bucket[0]) ||
        !strchr(lower_and_digits, out->bucket[size - 1]))
        return error_set(err, ERROR_INVALID,
                         "store s3: expected s3://BUCKET[/PREFIX], where BUCKET is 3 to 63 small "
                         "letters, digits, '-' and '.' (credentials come from the environment or "
                         "from ~/.aws/credentials)");
    *at += size;
    return ERROR_NONE;
}

/* Parses the prefix: names as in keys, joined by '/'. Slashes at its ends are ignored. */
static enum error_code take_prefix(const char **at, struct s3_address *out, struct error *err)
{
    size_t size = strcspn(*at, "?"), to = 0;
    const char *text = *at;
    *at += size;
    while (size && text[size - 1] == '/')
        size--;
    for (size_t i = 0; i < size;) {
        if (text[i] == '/') {
            i++;
            continue;
        }
        const size_t name = strcspn(text + i, "/?");
        if (text[i] == '.' ||
            strspn(text + i, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") <
                name)
            return error_set(err, ERROR_INVALID,
                             "store s3://%s: expected a prefix of names [A-Za-z0-9._-]+ joined by "
                             "'/', found '%.*s'",
                             out->bucket, (int)name, text + i);
        if (to + name + 2 > sizeof out->prefix)
            return error_set(err, ERROR_INVALID,
                             "store s3://%s: the prefix is longer than %d bytes", out->bucket,
                             S3_PREFIX_SIZE - 2);
        memcpy(out->prefix + to, text + i, name);
        to += name;
        out->prefix[to++] = '/';
        i += name;
    }
    out->prefix[to] = '\0';
    return ERROR_NONE;
}

static enum error_code take_parameter(const struct s3_address *address, const char *text,
                                      size_t size, struct parameters *p, struct error *err)
{
    const struct {
        const char *name;
        char *value;
        size_t room;
    } known[] = {{"endpoint=", p->endpoint, sizeof p->endpoint},
                 {"region=", p->region, sizeof p->region},
                 {"style=", p->style, sizeof p->style},
                 {"ca=", p->ca, sizeof p->ca},
                 {"profile=", p->profile, sizeof p->profile}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t name = strlen(known[i].name);
        if (size <= name || strncmp(text, known[i].name, name) != 0)
            continue;
        if (size - name >= known[i].room)
            return error_set(err, ERROR_INVALID, "store s3://%s: the value of %s is too long",
                             address->bucket, known[i].name);
        memcpy(known[i].value, text + name, size - name);
        known[i].value[size - name] = '\0';
        return ERROR_NONE;
    }
    return error_set(err, ERROR_INVALID,
                     "store s3://%s: expected endpoint=URL, region=NAME, style=path|host, ca=FILE "
                     "or profile=NAME after the '?', joined by '&', found '%.*s'",
                     address->bucket, (int)strcspn(text, "=&"), text);
}

static enum error_code take_parameters(const char *at, struct s3_address *out, struct parameters *p,
                                       struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (; rc == ERROR_NONE && *at; at += strcspn(at, "&")) {
        at++; /* the '?' or '&' */
        rc = take_parameter(out, at, strcspn(at, "&"), p, err);
    }
    return rc;
}

/* Copies the first value that is set: the parameter, a variable, the profile's line; else "". */
static enum error_code choose(const char *given, const char *const *variable, const char *line,
                              const char *profile, char *out, size_t size, struct error *err)
{
    if (*given)
        return text_copy(out, size, given) ? ERROR_NONE
                                           : error_set(err, ERROR_INVALID, "%s is too long", line);
    for (; *variable; variable++) {
        const char *value = getenv(*variable);
        if (value && *value)
            return text_copy(out, size, value)
                       ? ERROR_NONE
                       : error_set(err, ERROR_INVALID, "%s is too long", *variable);
    }
    const enum error_code rc = s3_profile_get(S3_FILE_CONFIG, profile, line, out, size, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Parses http[s]://host[:port]. */
static enum error_code take_endpoint(const char *endpoint, struct s3_address *out,
                                     struct error *err)
{
    static const char plain[] = "http://", secure[] = "https://";
    out->is_secure = strncmp(endpoint, secure, sizeof secure - 1) == 0;
    const bool is_plain = strncmp(endpoint, plain, sizeof plain - 1) == 0;
    const char *host = endpoint + (out->is_secure ? sizeof secure - 1
                                   : is_plain     ? sizeof plain - 1
                                                  : 0);
    const size_t size = strcspn(host, "/");
    const bool is_whole = host[size] == '\0' || host[size + 1] == '\0';
    if ((!out->is_secure && !is_plain) || size == 0 || size >= sizeof out->host - S3_BUCKET_SIZE ||
        !is_whole || strcspn(host, "@?# %") < size)
        return error_set(
            err, ERROR_INVALID,
            "store s3://%s: expected an endpoint like https://host[:port] without user "
            "and path",
            out->bucket);
    (void)snprintf(out->host, sizeof out->host, "%s%s%.*s", out->is_host_style ? out->bucket : "",
                   out->is_host_style ? "." : "", (int)size, host);
    return ERROR_NONE;
}

static enum error_code choose_style(const char *style, bool is_own_endpoint, struct s3_address *out,
                                    struct error *err)
{
    if (*style && strcmp(style, "path") != 0 && strcmp(style, "host") != 0)
        return error_set(err, ERROR_INVALID,
                         "store s3://%s: expected style=path or style=host, found '%s'",
                         out->bucket, style);
    /* A certificate of *.host does not cover a bucket with a dot in its name. */
    out->is_host_style =
        *style ? strcmp(style, "host") == 0 : !is_own_endpoint && !strchr(out->bucket, '.');
    return ERROR_NONE;
}

static enum error_code choose_all(const struct parameters *p, struct s3_address *out,
                                  struct error *err)
{
    static const char *const of_profile[] = {"AWS_PROFILE", NULL};
    static const char *const of_region[] = {"AWS_REGION", "AWS_DEFAULT_REGION", NULL};
    static const char *const of_endpoint[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL};
    static const char *const of_ca[] = {"AWS_CA_BUNDLE", NULL};
    char endpoint[S3_HOST_SIZE] = "";
    enum error_code rc = choose(p->profile, of_profile, "profile", "default", out->profile,
                                sizeof out->profile, err);
    if (rc == ERROR_NONE && !*out->profile)
        must(text_copy(out->profile, sizeof out->profile, "default"));
    if (rc == ERROR_NONE)
        rc = choose(p->region, of_region, "region", out->profile, out->region, sizeof out->region,
                    err);
    if (rc == ERROR_NONE && !*out->region)
        must(text_copy(out->region, sizeof out->region, "us-east-1"));
    if (rc == ERROR_NONE && strspn(out->region, "abcdefghijklmnopqrstuvwxyz0123456789-_"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strlen(out->region))
        rc = error_set(err, ERROR_INVALID, "store s3://%s: '%s' is not the name of a region",
                       out->bucket, out->region);
    if (rc == ERROR_NONE)
        rc = choose(p->ca, of_ca, "ca_bundle", out->profile, out->ca, sizeof out->ca, err);
    if (rc == ERROR_NONE)
        rc = choose(p->endpoint, of_endpoint, "endpoint_url", out->profile, endpoint,
                    sizeof endpoint, err);
    if (rc == ERROR_NONE)
        rc = choose_style(p->style, *endpoint, out, err);
    if (rc == ERROR_NONE && !*endpoint)
        (void)snprintf(endpoint, sizeof endpoint, "https://s3.%s.amazonaws.com", out->region);
    return rc == ERROR_NONE ? take_endpoint(endpoint, out, err) : rc;
}

static enum error_code take_text(const char *place, struct s3_address *out, struct parameters *p,
                                 struct error *err)
{
    *out = (struct s3_address){.bucket = ""};
    const char *at = strncmp(place, "//", 2) == 0 ? place + 2 : "";
    enum error_code rc = take_bucket(&at, out, err);
    if (rc == ERROR_NONE)
        rc = take_prefix(&at, out, err);
    return rc == ERROR_NONE ? take_parameters(at, out, p, err) : rc;
}

enum error_code s3_address_parse(const char *place, struct s3_address *out, struct error *err)
{
    struct parameters parameters = {.endpoint = ""};
    const enum error_code rc = take_text(place, out, &parameters, err);
    return rc == ERROR_NONE ? choose_all(&parameters, out, err) : rc;
}

/* Returns the port of "http://host:8333", or the scheme's default; "" is AWS, over https. */
static int64_t port_of(const char *endpoint)
{
    static const char plain[] = "http://";
    const char *host = strstr(endpoint, "://");
    host = host ? host + 3 : endpoint;
    const size_t bracket = *host == '[' ? strcspn(host, "]") : 0;
    const size_t colon = bracket + strcspn(host + bracket, ":/");
    int64_t port = 0;
    if (host[colon] == ':' && text_int64(host + colon + 1, strcspn(host + colon + 1, "/"), &port) &&
        port >= 1 && port <= UINT16_MAX)
        return port;
    return strncmp(endpoint, plain, sizeof plain - 1) == 0 ? HTTP_PORT : HTTPS_PORT;
}

enum error_code s3_address_port(const char *place, int64_t *port, struct error *err)
{
    struct s3_address address;
    struct parameters parameters = {.endpoint = ""};
    const enum error_code rc = take_text(place, &address, &parameters, err);
    *port = port_of(parameters.endpoint);
    return rc;
}
