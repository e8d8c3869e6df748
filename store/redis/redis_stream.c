#include "store/redis/redis_stream.h"

#include "common/base/clock.h"
#include "store/redis/redis_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static enum error_code lost(int number, struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "%s", strerror(number));
}

/* --- connect --- */

/* Waits until a connection is established. Returns false with errno if it fails. */
static bool is_connected(int fd, int64_t until)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    int number = 0, ready = 0;
    socklen_t size = sizeof number;
    do {
        const int64_t left = until - clock_ms();
        ready = poll(&entry, 1, left > 0 ? (int)left : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        errno = ready == 0 ? ETIMEDOUT : errno;
        return false;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
        return false;
    errno = number;
    return number == 0;
}

/* Returns a connected socket, or -1 with errno. The socket blocks, with a timeout. */
static int connect_socket(int family, const struct sockaddr *to, socklen_t size, int64_t until)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int flags = fcntl(fd, F_GETFL);
    bool good = fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
    if (good && connect(fd, to, size) != 0)
        good = errno == EINPROGRESS && is_connected(fd, until);
    good = good && fcntl(fd, F_SETFL, flags) == 0;
    if (good)
        return fd;
    const int number = errno;
    (void)close(fd);
    errno = number;
    return -1;
}

static enum error_code connect_unix(const char *path, int64_t connect_ms, int *fd,
                                    struct error *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the path of a socket has at most %zu bytes, this one %zu",
                         sizeof to.sun_path - 1, strlen(path));
    memcpy(to.sun_path, path, strlen(path));
    *fd = connect_socket(AF_UNIX, (const struct sockaddr *)&to, sizeof to, clock_ms() + connect_ms);
    return *fd >= 0 ? ERROR_NONE : lost(errno, err);
}

static enum error_code connect_host(const struct redis_address *address, int64_t connect_ms,
                                    int *fd, struct error *err)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[16];
    (void)snprintf(port, sizeof port, "%d", address->port);
    const int result = getaddrinfo(address->host, port, &wanted, &found);
    if (result != 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s", gai_strerror(result));
    *fd = -1;
    for (const struct addrinfo *at = found; at && *fd < 0; at = at->ai_next)
        *fd = connect_socket(at->ai_family, at->ai_addr, at->ai_addrlen, clock_ms() + connect_ms);
    const int number = errno;
    freeaddrinfo(found);
    return *fd >= 0 ? ERROR_NONE : lost(number, err);
}

/* Sets the timeout of reads and writes; sends small packets at once, because each command is waited
 * for (TCP_NODELAY); and makes the kernel notice a dead connection. The last two only improve
 * speed, so their failure is ignored. */
static bool set_options(int fd, bool is_unix, int64_t answer_ms)
{
    const struct timeval time = {.tv_sec = answer_ms / 1000, .tv_usec = answer_ms % 1000 * 1000};
    const int yes = 1;
    if (!is_unix) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    }
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0;
}

enum error_code redis_stream_open(const struct redis_address *address, int64_t connect_ms,
                                  int64_t answer_ms, struct redis_stream *out, struct error *err)
{
    int fd = -1;
    *out = (struct redis_stream){0};
    enum error_code rc = address->is_unix ? connect_unix(address->host, connect_ms, &fd, err)
                                          : connect_host(address, connect_ms, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    out->fd_plus_one = fd + 1;
    if (!set_options(fd, address->is_unix, answer_ms))
        rc = lost(errno, err);
    if (rc == ERROR_NONE && address->is_tls)
        rc = redis_tls_open(fd, address, &out->tls, err);
    if (rc != ERROR_NONE)
        redis_stream_close(out);
    return rc;
}

void redis_stream_close(struct redis_stream *stream)
{
    redis_tls_close(stream->tls);
    if (stream->fd_plus_one)
        (void)close(stream->fd_plus_one - 1);
    *stream = (struct redis_stream){0};
}

bool redis_stream_is_open(const struct redis_stream *stream)
{
    return stream->fd_plus_one != 0;
}

/* --- bytes --- */

enum error_code redis_stream_write(struct redis_stream *stream, const char *bytes, size_t size,
                                   struct error *err)
{
    if (stream->tls)
        return redis_tls_write(stream->tls, bytes, size, err);
    while (size) {
        const ssize_t sent = send(stream->fd_plus_one - 1, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return lost(errno, err);
        bytes += sent;
        size -= (size_t)sent;
    }
    return ERROR_NONE;
}

enum error_code redis_stream_read(struct redis_stream *stream, char *bytes, size_t size,
                                  size_t *got, struct error *err)
{
    ssize_t read = 0;
    if (stream->tls)
        return redis_tls_read(stream->tls, bytes, size, got, err);
    do
        read = recv(stream->fd_plus_one - 1, bytes, size, 0);
    while (read < 0 && errno == EINTR);
    *got = read > 0 ? (size_t)read : 0;
    if (read == 0)
        return error_set(err, ERROR_UNAVAILABLE, "Server closed the connection");
    return read > 0 ? ERROR_NONE : lost(errno, err);
}

bool redis_stream_wait(const struct redis_stream *stream, int wait_ms)
{
    struct pollfd entry = {.fd = stream->fd_plus_one - 1, .events = POLLIN};
    if (stream->tls && redis_tls_has_bytes(stream->tls))
        return true;
    return poll(&entry, 1, wait_ms) > 0;
}
