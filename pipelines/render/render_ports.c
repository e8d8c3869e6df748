/*
 * The ports that the Pods of a run reach, from the addresses that they are given. Declared in render_run.h.
 *
 * The network policies of what lasts (k8s/base/lasting) open the way to the Redis of the namespace, and nothing else.
 */
#include "common/base/text.h"
#include "pipelines/render/render_run.h"
#include "store/backends/cluster_address.h"
#include "store/redis/redis_address.h"

#include <stdio.h>
#include <string.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443, REDIS_PORT = 6379 };

static enum error_code add_port(struct render_run *run, int64_t port, struct error *err)
{
    for (int i = 0; i < run->port_count; i++)
        if (run->port[i] == port)
            return ERROR_NONE;
    if (run->port_count == RENDER_PORT_MAX)
        return error_set(err, ERROR_USAGE,
                         "the addresses of store and queue have more than %d ports: give those "
                         "that the Pods reach by --egress",
                         RENDER_PORT_MAX);
    run->port[run->port_count++] = port;
    return ERROR_NONE;
}

/* ...?endpoint=http://host:8333&... ; without it AWS' own. */
static int64_t port_of_bucket(const char *address)
{
    static const char name[] = "endpoint=", plain[] = "http://";
    const char *at = strchr(address, '?');
    while (at && strncmp(at + 1, name, sizeof name - 1) != 0)
        at = strchr(at + 1, '&');
    if (!at)
        return HTTPS_PORT;
    const char *endpoint = at + sizeof name;
    const char *host = strstr(endpoint, "://");
    host = host ? host + 3 : endpoint;
    const size_t bracket = *host == '[' ? strcspn(host, "]") : 0;
    const size_t colon = bracket + strcspn(host + bracket, ":/&");
    int64_t port = 0;
    if (host[colon] == ':' &&
        text_int64(host + colon + 1, strcspn(host + colon + 1, "/&"), &port) && port >= 1 &&
        port <= UINT16_MAX)
        return port;
    return strncmp(endpoint, plain, sizeof plain - 1) == 0 ? HTTP_PORT : HTTPS_PORT;
}

static enum error_code add_ports_of_cluster(struct render_run *run, const char *address,
                                            struct error *err)
{
    struct cluster_address cluster;
    const bool is_tls = strncmp(address, "rediss", 6) == 0;
    enum error_code rc = cluster_address_parse(strchr(address, ':') + 1, is_tls, &cluster, err);
    for (int i = 0; rc == ERROR_NONE && i < cluster.seed_count; i++)
        rc = add_port(run, cluster.seed[i].port, err);
    return error_context(err, rc, "--store");
}

/* One of the two of a tiered store, or all of another one. */
static enum error_code add_ports_of_store(struct render_run *run, const char *address,
                                          struct error *err)
{
    if (strncmp(address, "dir:", 4) == 0)
        return ERROR_NONE;
    if (strncmp(address, "redis+cluster:", 14) == 0 || strncmp(address, "rediss+cluster:", 15) == 0)
        return add_ports_of_cluster(run, address, err);
    return add_port(run, port_of_bucket(address), err);
}

static enum error_code add_ports_of_stores(struct render_run *run, struct error *err)
{
    static const char tiered[] = "tiered:";
    char one[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    const char *at = run->store;
    if (strncmp(at, tiered, sizeof tiered - 1) != 0)
        return add_ports_of_store(run, at, err);
    at += sizeof tiered - 1;
    while (rc == ERROR_NONE && *at) {
        const size_t size = strcspn(at, "^");
        rc = file_path(one, err, "%.*s", (int)size, at);
        if (rc == ERROR_NONE)
            rc = add_ports_of_store(run, one, err);
        at += size + (at[size] == '^');
    }
    return rc;
}

/* The way to port 6379 of the Redis that lasts is open. */
static enum error_code add_port_of_queue(struct render_run *run, struct error *err)
{
    struct redis_address queue;
    const enum error_code rc = redis_address_parse(run->redis, &queue, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "--redis");
    const bool is_ours = strcmp(queue.host, "redis") == 0 && queue.port == REDIS_PORT;
    return queue.is_unix || is_ours ? ERROR_NONE : add_port(run, queue.port, err);
}

enum error_code render_find_ports(struct render_run *run, const struct option_list *given,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < given->count; i++) {
        int64_t port = 0;
        const char *text = given->item[i];
        if (!text_int64(text, strlen(text), &port) || port < 1 || port > UINT16_MAX ||
            run->port_count == RENDER_PORT_MAX)
            return error_set(err, ERROR_USAGE,
                             "--egress: expected at most %d ports of 1 to 65535, found '%s'",
                             RENDER_PORT_MAX, text);
        rc = add_port(run, port, err);
    }
    if (given->count)
        return rc;
    rc = add_ports_of_stores(run, err);
    return rc == ERROR_NONE ? add_port_of_queue(run, err) : rc;
}
