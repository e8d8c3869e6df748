#include "pipelines/questions/http_server.h"

#include "common/base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 16, IDLE_SECONDS = 10, BACKLOG = 16 };

struct http_server {
    struct http_server_config config;
    struct MHD_Daemon *daemon;
    uint16_t port;
};

/* Queues an answer with a copy of the text, because libmicrohttpd frees with free(), and
 * memory_new() may use another allocator. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *text, size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    enum MHD_Result result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (result == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *text)
{
    char copy[sizeof((struct error *)NULL)->message];
    (void)snprintf(copy, sizeof copy, "%s", text);
    return answer(connection, status, "text/plain; charset=utf-8", copy, strlen(copy));
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_size, void **state)
{
    struct http_server *server = context;
    struct error err = {0};
    char *text = NULL;
    size_t size = 0;
    (void)version;
    (void)upload;
    *upload_size = 0; /* request bodies are ignored */
    (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered\n");
    if (strcmp(url, server->config.path) != 0)
        return say(connection, MHD_HTTP_NOT_FOUND, "there is no such page\n");
    if (server->config.make(server->config.context, &text, &size, &err) != ERROR_NONE)
        return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.message);
    const enum MHD_Result result =
        answer(connection, MHD_HTTP_OK, server->config.content_type, text, size);
    memory_free(text);
    return result;
}

static enum error_code address_of(const struct http_server_config *config,
                                  struct sockaddr_storage *out, socklen_t *size, struct error *err)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, config->host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(config->port);
        *size = sizeof *four;
        return ERROR_NONE;
    }
    if (inet_pton(AF_INET6, config->host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(config->port);
        *size = sizeof *six;
        return ERROR_NONE;
    }
    return error_set(err, ERROR_INVALID,
                     "expected an address such as 127.0.0.1 or ::1 to listen on, found '%s'",
                     config->host);
}

/* Makes a listening socket, and finds out its port. */
static enum error_code listen_on(const struct http_server_config *config, int *fd, uint16_t *port,
                                 struct error *err)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    const int on = 1;
    enum error_code rc = address_of(config, &address, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    *fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return error_set_errno(err, ERROR_IO, "no socket");
    (void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, (struct sockaddr *)&address, size) != 0 || listen(*fd, BACKLOG) != 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &size) != 0) {
        rc = error_set_errno(err, ERROR_UNAVAILABLE, "%s port %u", config->host, config->port);
        (void)close(*fd);
        return rc;
    }
    *port =
        ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)(void *)&address)->sin_port
                                           : ((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    return ERROR_NONE;
}

enum error_code http_server_open(const struct http_server_config *config, struct http_server **out,
                                 struct error *err)
{
    struct http_server *server = NULL;
    int fd = -1;
    *out = NULL;
    enum error_code rc = memory_new(&server, 1, "a server", err);
    if (rc != ERROR_NONE)
        return rc;
    server->config = *config;
    rc = listen_on(config, &fd, &server->port, err);
    if (rc == ERROR_NONE) {
        server->daemon = MHD_start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, serve, server, MHD_OPTION_LISTEN_SOCKET,
            fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned)IDLE_SECONDS, MHD_OPTION_END);
        if (!server->daemon) {
            (void)close(fd);
            rc = error_set(err, ERROR_IO, "the server cannot be started");
        }
    }
    if (rc != ERROR_NONE) {
        memory_free(server);
        return rc;
    }
    *out = server;
    return ERROR_NONE;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_close(struct http_server *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon); /* also closes the socket */
    memory_free(server);
}
