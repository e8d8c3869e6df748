#include "stages/partition/rules/isolated_call.h"

#include "common/base/host.h"
#include "common/base/stop_signal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100, HEAD_BYTES = 64 };

/* The memory that parent and child share. The result is HEAD_BYTES after its start. */
struct shared {
    bool returned; /* a library that calls exit(0) must not look like success */
    int status;
};

static _Noreturn void run_child(isolated_body body, void *context, struct shared *shared,
                                pid_t parent)
{
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT,
                 SIG_IGN); /* Ctrl-C reaches the parent too, which then stops this process */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* it died before the line above */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    shared->status = body(context, (char *)shared + HEAD_BYTES);
    shared->returned = true;
    (void)fflush(stdout); /* what a library printed before it gave up */
    _exit(0);
}

/* Waits for the end of the child, which closes the other end of `pipe_end`. Kills it when the
 * program is asked to stop. */
static enum error_code wait_child(const char *name, pid_t child, int pipe_end, int *wait_status,
                                  struct error *err)
{
    bool stopped = false;
    for (;;) {
        struct pollfd fd = {.fd = pipe_end, .events = POLLIN};
        stopped = stop_signal_seen();
        if (stopped || poll(&fd, 1, POLL_MS) > 0)
            break;
    }
    if (stopped)
        (void)kill(child, SIGKILL);
    while (waitpid(child, wait_status, 0) < 0)
        if (errno != EINTR)
            return error_set_errno(err, ERROR_IO, "%s: cannot wait for its process", name);
    return stopped ? error_set(err, ERROR_UNAVAILABLE, "%s: asked to stop", name) : ERROR_NONE;
}

/* Finds who killed the child. No library ends by this signal: it was the kernel for want of memory,
 * which counts its kills, or somebody from outside. */
static enum error_code judge_kill(const char *name, uint64_t kills_before, struct error *err)
{
    uint64_t kills = 0;
    if (!host_oom_kills(&kills) || kills != kills_before)
        return error_set(err, ERROR_NO_MEMORY,
                         "%s: its process was killed by signal 9: there was no memory for it",
                         name);
    return error_set(err, ERROR_UNAVAILABLE,
                     "%s: its process was killed by signal 9, not for want of memory", name);
}

static enum error_code judge(const char *name, const struct shared *shared, int wait_status,
                             uint64_t kills_before, struct error *err)
{
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
        return judge_kill(name, kills_before, err);
    if (WIFSIGNALED(wait_status))
        return error_set(err, ERROR_INPUT, "%s: its process was ended by signal %d (%s)", name,
                         WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    if (!shared->returned)
        return error_set(err, ERROR_INPUT, "%s: its process exited with status %d on its own", name,
                         WEXITSTATUS(wait_status));
    return ERROR_NONE;
}

static enum error_code fork_and_wait(const char *name, isolated_body body, void *context,
                                     struct shared *shared, struct error *err)
{
    int end[2], wait_status = 0;
    uint64_t kills_before = 0;
    (void)host_oom_kills(&kills_before);
    if (pipe(end) != 0)
        return error_set_errno(err, ERROR_IO, "%s: no pipe", name);
    (void)fflush(stdout); /* otherwise the child might print it a second time */
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        run_child(body, context, shared, parent);
    (void)close(end[1]);
    enum error_code rc = child < 0
                             ? error_set_errno(err, errno == ENOMEM ? ERROR_NO_MEMORY : ERROR_IO,
                                               "%s: no process", name)
                             : wait_child(name, child, end[0], &wait_status, err);
    (void)close(end[0]);
    return rc == ERROR_NONE ? judge(name, shared, wait_status, kills_before, err) : rc;
}

enum error_code isolated_call(const char *name, isolated_body body, void *context, void *out,
                              size_t result_bytes, int *status, struct error *err)
{
    must(result_bytes <= SIZE_MAX - HEAD_BYTES);
    const size_t bytes = HEAD_BYTES + result_bytes;
    struct shared *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_set_errno(err, ERROR_NO_MEMORY, "%s: no memory for its result, %zu bytes",
                               name, bytes);
    const enum error_code rc = fork_and_wait(name, body, context, shared, err);
    if (rc == ERROR_NONE) {
        *status = shared->status;
        if (*status == 0)
            memcpy(out, (char *)shared + HEAD_BYTES, result_bytes);
    }
    (void)munmap(shared, bytes);
    return rc;
}
