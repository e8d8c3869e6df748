/*
 * http_server - answers GET requests for one page, by libmicrohttpd.
 */
#ifndef PIPELINES_QUESTIONS_HTTP_SERVER_H
#define PIPELINES_QUESTIONS_HTTP_SERVER_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct http_server;

struct http_server_config {
    const char *host; /* an address of this host: "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;    /* 0: any free port */
    /* path of the page, such as "/metrics"; borrowed until the server is closed */
    const char *path;
    const char *content_type;
    /* Makes the page: *text [*size], allocated by memory_new() and freed by the server. The server
     * calls it from its own thread, never twice at the same time. A failure is answered with status
     * 500 and the message. */
    enum error_code (*make)(void *context, char **text, size_t *size, struct error *err);
    void *context;
};

/* Starts to listen. Fails: ERROR_INVALID for a host that is not an address; ERROR_UNAVAILABLE when
 * the port is in use. */
MUST_CHECK enum error_code http_server_open(const struct http_server_config *config,
                                            struct http_server **out, struct error *err);
uint16_t http_server_port(const struct http_server *server);
void http_server_close(struct http_server *server); /* NULL is allowed */

#endif
