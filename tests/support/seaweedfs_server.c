#include "tests/support/seaweedfs_server.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "store/backends/s3/s3_backend.h"

#include "tests/support/free_ports.h"
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORTS = 4, GRPC_OFFSET = 10000, START_MS = 60 * 1000 };

static struct {
    bool was_tried;
    char endpoint[64]; /* "": there is none */
    pid_t pid, owner;
    struct temp_dir dir;
} server;

static const char *program(void)
{
    const char *given = getenv("GRAPHMILL_WEED");
    if (given && access(given, X_OK) == 0)
        return given;
    return system("command -v weed > /dev/null") == 0 ? "weed" : NULL; /* NOLINT(cert-env33-c) */
}

/* Runs in a child that ends with its parent. */
static _Noreturn void run(char *const argv[], const char *log)
{
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(fd, STDOUT_FILENO);
    (void)dup2(fd, STDERR_FILENO);
    (void)execvp(argv[0], argv);
    _exit(127);
}

static void stop_server(void)
{
    if (server.owner != getpid())
        return; /* in a child of a test */
    (void)kill(server.pid, SIGKILL);
    (void)waitpid(server.pid, NULL, 0);
    temp_dir_remove(&server.dir);
}

static void start_weed(const char *weed, int port)
{
    static const char identities[] =
        "{\"identities\":[{\"name\":\"test\",\"credentials\":[{\"accessKey\":\"testkey\","
        "\"secretKey\":\"test/"
        "secret+key\"}],\"actions\":[\"Admin\",\"Read\",\"Write\",\"List\"]}]}";
    char text[8][64 + FILE_PATH_SIZE], log[FILE_PATH_SIZE];
    const char *config = temp_dir_write(&server.dir, "s3.json", identities, sizeof identities - 1);
    (void)snprintf(text[0], sizeof text[0], "%s", weed);
    (void)snprintf(text[1], sizeof text[1], "-dir=%s", server.dir.path);
    (void)snprintf(text[2], sizeof text[2], "-master.port=%d", port);
    (void)snprintf(text[3], sizeof text[3], "-volume.port=%d", port + 1);
    (void)snprintf(text[4], sizeof text[4], "-filer.port=%d", port + 2);
    (void)snprintf(text[5], sizeof text[5], "-s3.port=%d", port + 3);
    (void)snprintf(text[6], sizeof text[6], "-s3.config=%s", config);
    (void)snprintf(text[7], sizeof text[7], "-logdir=%s", server.dir.path);
    char *const argv[] = {text[0],
                          text[7],
                          (char[]){"server"},
                          text[1],
                          (char[]){"-ip=127.0.0.1"},
                          (char[]){"-ip.bind=127.0.0.1"},
                          (char[]){"-s3"},
                          (char[]){"-s3.port.iceberg=0"},
                          (char[]){"-s3.port.lance=0"},
                          (char[]){"-volume.max=100"},
                          (char[]){"-master.volumeSizeLimitMB=256"},
                          text[2],
                          text[3],
                          text[4],
                          text[5],
                          text[6],
                          NULL};
    must(file_path(log, NULL, "%s/weed.log", server.dir.path) == ERROR_NONE);
    server.pid = fork();
    must(server.pid >= 0);
    if (server.pid == 0)
        run(argv, log);
}

/* Makes the bucket; after that the server is known to work. */
static void make_bucket(void)
{
    char place[256];
    struct error err = {0};
    enum error_code rc = ERROR_UNAVAILABLE;
    const int64_t until = clock_ms() + START_MS;
    (void)snprintf(place, sizeof place, "//graphmill?endpoint=%s", server.endpoint);
    while (rc != ERROR_NONE && clock_ms() < until) {
        rc = s3_bucket_make(place, &err);
        if (rc != ERROR_NONE)
            clock_sleep_ms(100);
    }
    if (rc != ERROR_NONE)
        (void)fprintf(stderr, "SeaweedFS does not start: %s\n", err.message);
    must(rc == ERROR_NONE);
}

const char *seaweedfs_endpoint(void)
{
    if (server.was_tried)
        return *server.endpoint ? server.endpoint : NULL;
    server.was_tried = true;
    const char *weed = program();
    if (!weed) {
        (void)fprintf(stderr, "s3: skipped, there is no SeaweedFS (program weed) here\n");
        return NULL;
    }
    (void)setenv("AWS_ACCESS_KEY_ID", "testkey", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", "test/secret+key", 1);
    temp_dir_make(&server.dir);
    server.owner = getpid();
    const int port = free_ports(PORTS, GRPC_OFFSET);
    start_weed(weed, port);
    (void)atexit(stop_server);
    (void)snprintf(server.endpoint, sizeof server.endpoint, "http://127.0.0.1:%d", port + 3);
    make_bucket();
    return server.endpoint;
}

/* --- the relay --- */

void s3_relay_start(struct s3_relay *relay)
{
    char script[FILE_PATH_SIZE], log[FILE_PATH_SIZE], port_file[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    const char *source = getenv("GRAPHMILL_SOURCE");
    temp_dir_make(&relay->dir);
    must(file_path(script, NULL, "%s/tests/support/s3_relay.py", source ? source : ".") ==
         ERROR_NONE);
    must(file_path(log, NULL, "%s/relay.log", relay->dir.path) == ERROR_NONE);
    must(file_path(port_file, NULL, "%s/port", relay->dir.path) == ERROR_NONE);
    char *const argv[] = {(char[]){"python3"}, script, server.endpoint + strlen("http://"),
                          relay->dir.path, NULL};
    relay->pid = fork();
    must(relay->pid >= 0);
    if (relay->pid == 0)
        run(argv, log);
    for (int i = 0; !file_exists(port_file); i++) {
        must(i < START_MS / 10);
        clock_sleep_ms(10);
    }
    must(file_read(port_file, 0, &text, &size, NULL) == ERROR_NONE);
    (void)snprintf(relay->endpoint, sizeof relay->endpoint, "http://127.0.0.1:%.8s", text);
    memory_free(text);
}

void s3_relay_stop(struct s3_relay *relay)
{
    (void)kill(relay->pid, SIGKILL);
    (void)waitpid(relay->pid, NULL, 0);
    temp_dir_remove(&relay->dir);
}

void s3_relay_plan(const struct s3_relay *relay, const char *words)
{
    char path[FILE_PATH_SIZE];
    must(file_path(path, NULL, "%s/plan", relay->dir.path) == ERROR_NONE);
    must(file_replace(path, words, strlen(words), false, NULL) == ERROR_NONE);
}

bool s3_relay_is_through(const struct s3_relay *relay)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    must(file_path(path, NULL, "%s/plan", relay->dir.path) == ERROR_NONE);
    must(file_read(path, 0, &text, &size, NULL) == ERROR_NONE);
    memory_free(text);
    return size == 0;
}

int s3_relay_most_at_once(const struct s3_relay *relay)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    int most = 0;
    must(file_path(path, NULL, "%s/load", relay->dir.path) == ERROR_NONE);
    must(file_read(path, 0, &text, &size, NULL) == ERROR_NONE);
    for (const char *line = text; line < text + size; line = strchr(line, '\n') + 1) {
        const int load = atoi(line); /* NOLINT(cert-err34-c) */
        most = load > most ? load : most;
    }
    memory_free(text);
    must(unlink(path) == 0);
    return most;
}
