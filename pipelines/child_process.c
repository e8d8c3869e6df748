#include "pipelines/child_process.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

void child_add(struct child_command *command, const char *argument)
{
    must(command->count < CHILD_ARGUMENT_MAX);
    command->argument[command->count++] = argument;
}

void child_add_option(struct child_command *command, const char *name, const char *value)
{
    child_add(command, name);
    if (value)
        child_add(command, value);
}

enum error_code child_program(const char *stage, char path[FILE_PATH_SIZE], struct error *err)
{
    char own[FILE_PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size <= 0)
        return error_set_errno(err, ERROR_IO, "/proc/self/exe");
    own[size] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    const enum error_code rc = file_path(path, err, "%s/graphmill-%s", own, stage);
    if (rc != ERROR_NONE || access(path, X_OK) == 0)
        return rc;
    return error_set(err, ERROR_NOT_FOUND, "%s is not there; build all programs first", path);
}

static _Noreturn void become(const struct child_command *command, const char *log_path,
                             int stdout_fd, pid_t parent)
{
    char *argument[CHILD_ARGUMENT_MAX + 1];
    sigset_t none;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EX_TEMPFAIL); /* it died before the line above */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (log_path) {
        const int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd >= 0)
            (void)dup2(fd, STDERR_FILENO);
    }
    if (stdout_fd >= 0)
        (void)dup2(stdout_fd, STDOUT_FILENO);
    /* A product has one thread here, but OpenBLAS starts one a core when it is loaded, and they spin for a
     * while: with seven programs starting at once that is felt. */
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
    memcpy(argument, command->argument, sizeof argument);
    (void)execvp(argument[0], argument);
    (void)dprintf(STDERR_FILENO, "error %s cannot be started: %s\n", argument[0], strerror(errno));
    _exit(EX_OSERR);
}

enum error_code child_start(const struct child_command *command, const char *log_path,
                            int stdout_fd, pid_t *pid, struct error *err)
{
    const pid_t parent = getpid();
    (void)fflush(stdout);
    *pid = fork();
    if (*pid < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be started", command->argument[0]);
    if (*pid == 0)
        become(command, log_path, stdout_fd, parent);
    return ERROR_NONE;
}

int child_status(int wait_word)
{
    return WIFSIGNALED(wait_word) ? 128 + WTERMSIG(wait_word) : WEXITSTATUS(wait_word);
}

enum { LOOK_MS = 100 };

/* Waits until `fd` can be read, and passes a request to stop on to the child. Not by an interrupted call
 * alone: the signal may have come just before. */
static void wait_readable(int fd, pid_t pid)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    while (poll(&entry, 1, LOOK_MS) <= 0)
        if (stop_signal_seen())
            (void)kill(pid, SIGTERM);
}

/* Reads all of the pipe, keeps the first line. */
static void read_first_line(int fd, pid_t pid, char line[CHILD_TEXT_SIZE])
{
    char buffer[1024];
    size_t used = 0;
    bool whole = false;
    for (;;) {
        wait_readable(fd, pid);
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n && !whole; i++) {
            whole = buffer[i] == '\n' || used + 1 == CHILD_TEXT_SIZE;
            if (!whole)
                line[used++] = buffer[i];
        }
    }
    line[used] = '\0';
}

enum error_code child_run(const struct child_command *command, const char *log_path,
                          char line[CHILD_TEXT_SIZE], int *status, struct error *err)
{
    int ends[2];
    int word = 0;
    pid_t pid = 0;
    line[0] = '\0';
    if (pipe(ends) != 0)
        return error_set_errno(err, ERROR_IO, "no pipe");
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const enum error_code rc = child_start(command, log_path, ends[1], &pid, err);
    (void)close(ends[1]);
    if (rc == ERROR_NONE) {
        read_first_line(ends[0], pid, line);
        while (waitpid(pid, &word, 0) < 0 && errno == EINTR)
            if (stop_signal_seen())
                (void)kill(pid, SIGTERM);
        *status = child_status(word);
    }
    (void)close(ends[0]);
    return rc;
}

void child_last_error(const char *log_path, char text[CHILD_TEXT_SIZE])
{
    char *data = NULL;
    size_t size = 0;
    text[0] = '\0';
    if (file_read(log_path, 0, &data, &size, NULL) != ERROR_NONE)
        return;
    const char *last = NULL;
    for (const char *mark = data; (mark = strstr(mark, "error "));) {
        last = mark;
        mark += strcspn(mark, "\n");
    }
    if (last)
        (void)snprintf(text, CHILD_TEXT_SIZE, "%.*s", (int)strcspn(last, "\n"), last);
    memory_free(data);
}

enum error_code child_error_code(int status)
{
    static const enum error_code codes[] = {ERROR_USAGE, ERROR_INPUT,     ERROR_INVALID,
                                            ERROR_IO,    ERROR_NO_MEMORY, ERROR_UNAVAILABLE};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (error_exit_status(codes[i]) == status)
            return codes[i];
    return (enum error_code) - 1; /* our bug: error_exit_status() makes EX_SOFTWARE of it */
}
