/*
 * Finds the ports that the Pods of a run reach from the addresses that the run uses. Declared in
 * render_run.h.
 *
 * The network policies of the permanent objects (k8s/base/lasting) only allow access to the Redis
 * of the namespace.
 */
#include "common/base/text.h"
#include "pipelines/render/render_run.h"
#include "store/objects/store.h"
#include "store/redis/redis_address.h"

#include <stdio.h>
#include <string.h>

enum { REDIS_PORT = 6379 };

static enum error_code add_port(struct render_run *run, int64_t port, struct error *err)
{
    for (int i = 0; i < run->port_count; i++)
        if (run->port[i] == port)
            return ERROR_NONE;
    if (run->port_count == RENDER_PORT_MAX)
        return error_set(err, ERROR_USAGE,
                         "the addresses of store and queue have more than %d ports: " ADVICE
                         "give those "
                         "that the Pods reach by --egress",
                         RENDER_PORT_MAX);
    run->port[run->port_count++] = port;
    return ERROR_NONE;
}

static enum error_code add_ports_of_store(struct render_run *run, struct error *err)
{
    struct store_location location;
    enum error_code rc = error_context(err, store_locate(run->store, &location, err), "--store");
    for (int i = 0; rc == ERROR_NONE && i < location.port_count; i++)
        rc = add_port(run, location.port[i], err);
    return rc;
}

/* Adds the port of the queue. Port 6379 of the permanent Redis is open already. */
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
    rc = add_ports_of_store(run, err);
    return rc == ERROR_NONE ? add_port_of_queue(run, err) : rc;
}
