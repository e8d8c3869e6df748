#include "pipelines/shared/child_process.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "pipelines/shared/log_relay.h"

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
    return error_set(err, ERROR_NOT_FOUND, "%s is not there; " ADVICE "build all programs first",
                     path);
}

/* Becomes the stage program in the new child. The stop signals are still blocked, as in the
 * caller. */
static _Noreturn void become(const struct child_command *command, const char *log_path,
                             int stdout_fd, pid_t parent)
{
    char *argument[CHILD_ARGUMENT_MAX + 1];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EX_TEMPFAIL); /* the driver ended before the prctl() above */
    (void)signal(SIGPIPE, SIG_DFL);
    if (log_path) {
        const int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd >= 0)
            (void)dup2(fd, STDERR_FILENO);
    }
    if (stdout_fd >= 0)
        (void)dup2(stdout_fd, STDOUT_FILENO);
    /* Each product uses one thread here, but OpenBLAS starts one thread for each core when it is
     * loaded, and they spin for a while. Seven programs that start at once would slow each other
     * down. */
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
    memcpy(argument, command->argument, sizeof argument);
    (void)execvp(argument[0], argument);
    (void)dprintf(STDERR_FILENO, "%s cannot be started: %s\n", argument[0], strerror(errno));
    _exit(EX_OSERR);
}

enum error_code child_start(const struct child_command *command, const char *log_path,
                            int stdout_fd, pid_t *pid, struct error *err)
{
    const pid_t parent = getpid();
    sigset_t held, before;
    (void)fflush(stdout);
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGTERM);
    (void)sigaddset(&held, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &held, &before);
    *pid = fork();
    if (*pid == 0)
        become(command, log_path, stdout_fd, parent);
    const int number = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    if (*pid < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be started", command->argument[0]);
    return ERROR_NONE;
}

int child_status(int wait_word)
{
    return WIFSIGNALED(wait_word) ? 128 + WTERMSIG(wait_word) : WEXITSTATUS(wait_word);
}

void child_status_text(int status, char text[CHILD_TEXT_SIZE])
{
    if (status > 128)
        (void)snprintf(text, CHILD_TEXT_SIZE, "was killed by signal %d (%s)", status - 128,
                       strsignal(status - 128));
    else
        (void)snprintf(text, CHILD_TEXT_SIZE, "ended with status %d", status);
}

enum { LOOK_MS = 100 };

/* Passes a stop signal on to the child; *asked_ms is the time of the first one. After CHILD_STOP_MS
 * it kills the child. */
static void pass_stop_on(pid_t pid, int64_t *asked_ms)
{
    if (!stop_signal_seen())
        return;
    if (*asked_ms == 0)
        *asked_ms = clock_ms();
    (void)kill(pid, clock_ms() - *asked_ms > CHILD_STOP_MS ? SIGKILL : SIGTERM);
}

/* Waits until `fd` can be read. It polls with a timeout, because a stop signal that arrives just
 * before poll() does not interrupt it. */
static void wait_readable(int fd, pid_t pid, int64_t *asked_ms, struct log_relay *relay)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    while (poll(&entry, 1, LOOK_MS) <= 0) {
        pass_stop_on(pid, asked_ms);
        if (relay)
            log_relay_run(relay);
    }
}

/* Reads the pipe to its end, and keeps the first line. The rest is read too, so that the child
 * never blocks on a full pipe. */
static void read_first_line(int fd, pid_t pid, struct log_relay *relay, char line[CHILD_TEXT_SIZE])
{
    char buffer[1024];
    size_t used = 0;
    int64_t asked_ms = 0;
    bool whole = false;
    for (;;) {
        wait_readable(fd, pid, &asked_ms, relay);
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
        read_first_line(ends[0], pid, command->relay, line);
        if (command->relay)
            log_relay_run(command->relay);
        while (waitpid(pid, &word, 0) < 0 && errno == EINTR)
            if (stop_signal_seen())
                (void)kill(pid, SIGTERM);
        *status = child_status(word);
    }
    (void)close(ends[0]);
    return rc;
}

static bool is_crash(int number)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (number == crashes[i])
            return true;
    return false;
}

enum error_code child_error_code(int status)
{
    static const enum error_code codes[] = {ERROR_USAGE, ERROR_INPUT,     ERROR_INVALID,
                                            ERROR_IO,    ERROR_NO_MEMORY, ERROR_UNAVAILABLE};
    if (status > 128)
        return is_crash(status - 128) ? ERROR_BUG : ERROR_UNAVAILABLE;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (error_exit_status(codes[i]) == status)
            return codes[i];
    return ERROR_BUG;
}

uint64_t child_log_end(const char *log_path)
{
    uint64_t size = 0;
    return file_size(log_path, &size, NULL) == ERROR_NONE ? size : 0;
}

enum { TAIL_SIZE = 16 << 10 };

/* Reads the end of the log, at most TAIL_SIZE bytes. */
static void read_tail(const char *path, uint64_t from, char tail[TAIL_SIZE + 1])
{
    const uint64_t end = child_log_end(path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const uint64_t start = end > from + TAIL_SIZE ? end - TAIL_SIZE : from;
    const ssize_t size = fd < 0 ? 0 : pread(fd, tail, TAIL_SIZE, (off_t)start);
    if (fd >= 0)
        (void)close(fd);
    tail[size > 0 ? size : 0] = '\0';
}

void child_last_words(const char *log_path, uint64_t from, char text[CHILD_TEXT_SIZE])
{
    char tail[TAIL_SIZE + 1] = "";
    bool is_error = false;
    (void)snprintf(text, CHILD_TEXT_SIZE, "it said nothing");
    read_tail(log_path, from, tail);
    for (const char *line = tail; *line; line += *line == '\n') {
        const size_t size = strcspn(line, "\n");
        struct log_line said = {.text = line, .size = size};
        const bool says = log_line_read(line, size, &said) && said.kind == LOG_IS_ERROR;
        if (says)
            (void)snprintf(text, CHILD_TEXT_SIZE, "%.*s", (int)said.size, said.text);
        else if (size && !is_error)
            (void)snprintf(text, CHILD_TEXT_SIZE, "%.*s", (int)size, line);
        is_error |= says;
        line += size;
    }
}

void child_progress(const char *log_path, uint64_t from, char *text, size_t size)
{
    char tail[TAIL_SIZE + 1] = "";
    text[0] = '\0';
    read_tail(log_path, from, tail);
    for (const char *line = tail; strchr(line, '\n'); line = strchr(line, '\n') + 1) {
        struct log_line said;
        if (log_line_read(line, strcspn(line, "\n"), &said) && said.kind == LOG_IS_PROGRESS)
            (void)snprintf(text, size, "%.*s", (int)said.size, said.text);
    }
}
