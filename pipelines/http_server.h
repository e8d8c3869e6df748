/*
 * http_server - answers GET of one page, by libmicrohttpd.
 */
#ifndef PIPELINES_HTTP_SERVER_H
#define PIPELINES_HTTP_SERVER_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct http_server;

struct http_server_config {
    const char *host; /* an address of this host: "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;    /* 0: any that is free */
    const char *path; /* of the page: "/metrics"; borrowed until the server is closed */
    const char *content_type;
    /* Makes the page: *text [*size] of memory_new(), which the server frees. One call at a time, in a thread of the server's. What
     * fails is answered with 500 and the message. */
    enum error_code (*make)(void *context, char **text, size_t *size, struct error *err);
    void *context;
};

/* Listens from here on. Fails: ERROR_INVALID for a host that is no address; ERROR_UNAVAILABLE when the port is taken. */
MUST_CHECK enum error_code http_server_open(const struct http_server_config *config,
                                            struct http_server **out, struct error *err);
uint16_t http_server_port(const struct http_server *server);
void http_server_close(struct http_server *server); /* NULL is fine */

#endif
