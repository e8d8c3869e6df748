#include "store/queue/redis_server.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "store/redis/redis_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_ATTEMPTS = 5,
    START_TIMEOUT_MS = 10000,
    POLL_MS = 2,
    URL_SIZE = 160,
    LOG_TAIL_SIZE = 300
};

struct redis_server {
    char program[FILE_PATH_SIZE];
    char folder[FILE_PATH_SIZE];
    char socket_folder[FILE_PATH_SIZE]; /* "" if the socket is in `folder` */
    char socket[sizeof((struct sockaddr_un *)0)->sun_path];
    char log[FILE_PATH_SIZE];
    /* A PING that redis_server_check() sends without waiting for the answer. */
    struct {
        int fd;            /* descriptor of the question, plus one; 0: none */
        int64_t asked_ms;  /* time of the question that is unanswered; 0: none */
        int64_t answer_ms; /* time of the last answer */
    } probe;
    char url[URL_SIZE];
    pid_t pid;       /* 0 if there is none */
    bool was_killed; /* the last server was killed by a signal */
};

/* Finds the first redis-server in PATH. */
static enum error_code find_program(char out[FILE_PATH_SIZE], struct error *err)
{
    const char *path = getenv("PATH");
    for (const char *from = path ? path : ""; *from;) {
        const size_t size = strcspn(from, ":");
        if (size > 0 && file_path(out, NULL, "%.*s/redis-server", (int)size, from) == ERROR_NONE &&
            access(out, X_OK) == 0)
            return ERROR_NONE;
        from += size + (from[size] == ':');
    }
    return error_set(err, ERROR_UNAVAILABLE,
                     "there is no redis-server in PATH; " ADVICE
                     "install the package redis-server (Debian, "
                     "Ubuntu), or name a server with --redis");
}

/* Chooses the path of the Unix socket, which may have only about 107 bytes. If `folder` is longer,
 * the socket is put under /tmp. */
static enum error_code place_socket(struct redis_server *server, struct error *err)
{
    static const char name[] = "/redis.sock";
    if (strlen(server->folder) + sizeof name <= sizeof server->socket) {
        (void)snprintf(server->socket, sizeof server->socket, "%.*s%s",
                       (int)(sizeof server->socket - sizeof name), server->folder, name);
        return ERROR_NONE;
    }
    char folder[] = "/tmp/graphmill-redis-XXXXXX";
    if (!mkdtemp(folder))
        return error_set_errno(err, ERROR_IO, "making a folder in /tmp for the socket of Redis");
    (void)text_copy(server->socket_folder, sizeof server->socket_folder, folder);
    (void)snprintf(server->socket, sizeof server->socket, "%s%s", folder, name);
    return ERROR_NONE;
}

/* Runs in the child, where only async-signal-safe calls are allowed. */
static _Noreturn void become_redis(const struct redis_server *server, pid_t parent,
                                   const char *const *argv)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    /* Leaves the process group, so that Ctrl-C in a terminal reaches only the driver, which stops
     * the server last. */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int log = open(server->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) /* a full disk must not prevent the server */
        log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(1);
    (void)execv(server->program, (char *const *)argv);
    _exit(127);
}

static enum error_code spawn(struct redis_server *server, struct error *err)
{
    char pid_file[FILE_PATH_SIZE];
    const enum error_code rc = file_path(pid_file, err, "%s/redis.pid", server->folder);
    if (rc != ERROR_NONE)
        return rc;
    const char *const argv[] = {"redis-server",
                                "--port",
                                "0",
                                "--unixsocket",
                                server->socket,
                                "--unixsocketperm",
                                "700",
                                "--dir",
                                server->folder,
                                "--logfile",
                                server->log,
                                "--pidfile",
                                pid_file,
                                "--daemonize",
                                "no",
                                "--appendonly",
                                "no",
                                "--save",
                                "",
                                "--maxmemory-policy",
                                "noeviction",
                                NULL};
    const pid_t parent = getpid();
    (void)unlink(server->socket); /* left by a server that was killed */
    server->pid = fork();
    if (server->pid == 0)
        become_redis(server, parent, argv);
    if (server->pid < 0) {
        server->pid = 0;
        return error_set_errno(err, ERROR_UNAVAILABLE, "starting %s", server->program);
    }
    return ERROR_NONE;
}

/* Returns whether the server has ended, and reaps it then. */
static bool has_died(struct redis_server *server)
{
    int status = 0;
    if (server->pid > 0 && waitpid(server->pid, &status, WNOHANG) == 0)
        return false;
    server->was_killed = WIFSIGNALED(status);
    server->pid = 0;
    return true;
}

static bool answers(const struct redis_server *server)
{
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    const bool ok = redis_connection_new(server->url, NULL, &connection, NULL) == ERROR_NONE &&
                    redis_connection_call(connection, 1, argv, &reply, NULL) == ERROR_NONE;
    redis_reply_free(reply);
    redis_connection_free(connection);
    return ok;
}

/* Reports that the server did not start, with the end of its log. */
static enum error_code not_started(const struct redis_server *server, const char *what,
                                   struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    const char *tail = "";
    if (file_read(server->log, 0, &text, &size, NULL) == ERROR_NONE) {
        while (size > 0 && text[size - 1] == '\n')
            text[--size] = '\0';
        tail = size > LOG_TAIL_SIZE ? text + size - LOG_TAIL_SIZE : text;
    }
    const enum error_code rc = error_set(err, ERROR_UNAVAILABLE, "%s %s; its log %s ends: %s",
                                         server->program, what, server->log, tail);
    memory_free(text);
    return rc;
}

static void stop(struct redis_server *server)
{
    if (server->pid > 0) {
        (void)kill(server->pid, SIGKILL); /* nothing in it must be saved */
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    server->pid = 0;
}

static enum error_code start_once(struct redis_server *server, struct error *err)
{
    const int64_t until = clock_ms() + START_TIMEOUT_MS;
    const enum error_code rc = spawn(server, err);
    if (rc != ERROR_NONE)
        return rc;
    while (!answers(server)) {
        if (stop_signal_seen()) {
            stop(server);
            return error_set(err, ERROR_UNAVAILABLE, "stopped while Redis was being started");
        }
        if (has_died(server))
            return not_started(server, "ended at once", err);
        if (clock_ms() > until) {
            stop(server);
            return not_started(server, "does not answer", err);
        }
        clock_sleep_ms(POLL_MS);
    }
    return ERROR_NONE;
}

/* Starts the server. If it is killed while it starts, starts it again, as redis_server_check() does
 * later. */
static enum error_code start(struct redis_server *server, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < START_ATTEMPTS; i++) {
        server->was_killed = false;
        rc = start_once(server, err);
        if (rc == ERROR_NONE || !server->was_killed)
            break;
    }
    return rc;
}

/* Writes the absolute path of the folder, which the server needs. */
static enum error_code resolve(const char *folder, char out[FILE_PATH_SIZE], struct error *err)
{
    char resolved[PATH_MAX];
    if (!realpath(folder, resolved))
        return error_set_errno(err, ERROR_IO, "%s", folder);
    return file_path(out, err, "%s", resolved);
}

/* Writes the file in which other programs find the server's URL, since the socket may be
 * elsewhere. */
static void write_url(const struct redis_server *server)
{
    char path[FILE_PATH_SIZE];
    if (file_path(path, NULL, "%s/url", server->folder) == ERROR_NONE &&
        file_replace(path, server->url, strlen(server->url), false, NULL) != ERROR_NONE)
        (void)unlink(path); /* on a full disk nobody else finds the server, but the run continues */
}

enum error_code redis_server_find(const char *folder, char *url, size_t size, struct error *err)
{
    char path[FILE_PATH_SIZE];
    char *text = NULL;
    size_t length = 0;
    enum error_code rc = file_path(path, err, "%s/url", folder);
    if (rc == ERROR_NONE)
        rc = file_read(path, size, &text, &length, err);
    if (rc == ERROR_NONE && !text_copy(url, size, text))
        rc = error_set(err, ERROR_INPUT, "%s is too long for a URL", path);
    memory_free(text);
    return rc;
}

enum error_code redis_server_open(const char *folder, struct redis_server **out, struct error *err)
{
    struct redis_server *server = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&server, 1, "a Redis server", err);
    if (rc == ERROR_NONE)
        rc = find_program(server->program, err);
    if (rc == ERROR_NONE)
        rc = file_make_folders(folder, err);
    if (rc == ERROR_NONE)
        rc = resolve(folder, server->folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(server->log, err, "%s/redis.log", server->folder);
    if (rc == ERROR_NONE)
        rc = place_socket(server, err);
    if (rc == ERROR_NONE) {
        (void)snprintf(server->url, sizeof server->url, "unix:%s", server->socket);
        rc = start(server, err);
    }
    if (rc != ERROR_NONE) {
        redis_server_close(server);
        return rc;
    }
    *out = server;
    write_url(server);
    return ERROR_NONE;
}

static void close_probe(struct redis_server *server)
{
    if (server->probe.fd)
        (void)close(server->probe.fd - 1);
    server->probe.fd = 0;
}

void redis_server_close(struct redis_server *server)
{
    if (!server)
        return;
    char path[FILE_PATH_SIZE];
    close_probe(server);
    stop(server);
    if (server->socket[0])
        (void)unlink(server->socket);
    if (file_path(path, NULL, "%s/url", server->folder) == ERROR_NONE)
        (void)unlink(path);
    if (server->socket_folder[0])
        (void)rmdir(server->socket_folder);
    memory_free(server);
}

const char *redis_server_url(const struct redis_server *server)
{
    return server->url;
}

pid_t redis_server_pid(const struct redis_server *server)
{
    return server->pid;
}

/* The longest silence is longer than any of our commands takes on a busy machine. */
enum { ASK_PERIOD_MS = 1000, SILENCE_MS_MAX = 10000 };

/* Sends a question on a separate connection without waiting. If the server accepts none, the next
 * call asks again. */
static void ask(struct redis_server *server)
{
    static const char question[] = "PING\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    server->probe.asked_ms = server->probe.asked_ms ? server->probe.asked_ms : clock_ms();
    memcpy(address.sun_path, server->socket, sizeof address.sun_path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    server->probe.fd = fd + 1;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        send(fd, question, sizeof question - 1, MSG_NOSIGNAL) != (ssize_t)sizeof question - 1)
        close_probe(server);
}

/* Returns whether the server left a question unanswered for too long. Any answer counts, since the
 * server may be busy. */
static bool is_stuck(struct redis_server *server)
{
    char answer[64];
    const int64_t now = clock_ms();
    if (server->probe.fd && recv(server->probe.fd - 1, answer, sizeof answer, 0) > 0) {
        close_probe(server);
        server->probe.asked_ms = 0;
        server->probe.answer_ms = now;
    }
    if (!server->probe.fd && now - server->probe.answer_ms >= ASK_PERIOD_MS)
        ask(server);
    return server->probe.asked_ms && now - server->probe.asked_ms > SILENCE_MS_MAX;
}

enum error_code redis_server_check(struct redis_server *server, bool *restarted, struct error *err)
{
    if (is_stuck(server))
        stop(server);
    *restarted = has_died(server);
    if (!*restarted)
        return ERROR_NONE;
    close_probe(server);
    server->probe.asked_ms = 0;
    server->probe.answer_ms = clock_ms();
    return start(server, err);
}
