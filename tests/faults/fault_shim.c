/*
 * fault_shim - an LD_PRELOAD library that counts the calls of one program, and kills the process or
 * fails the call at exactly the k-th. It is much cheaper than a tracer, so every k can be tried.
 *
 *   FAULT_BOARD=PATH   file of BOARD_SIZE bytes shared by all processes of a trial: the counts, and
 *                      the rules that have fired
 *   FAULTS=RULE[,RULE] in sequence: a rule is armed once the one before has fired
 *   FAULT_NO_FLUSH=1   fsync() and similar calls do nothing
 *
 *   RULE  PROGRAM:CALL:K:ACTION[:LASTING]
 *     PROGRAM  name of the process: graphmill, graphmill-sample, redis-server
 *     CALL     write, flush, rename, link, make (a folder), create, open, read, remove, resize,
 *              map; talk: a read or write of a socket; change: the k-th of all calls that change
 *              the disk, in the order in which the process makes them
 *     K        from 1, counted in each process from its start
 *     ACTION   kill: SIGKILL before the call; killed-after: the call is made first; short: a write
 *              of half; or the name of an error: ENOSPC EIO EMFILE ENOMEM EDQUOT EINTR ECONNRESET
 *     LASTING  once, or process: every later such call of this process fails too; a lack of space
 *              ends when it is lifted
 *
 * A clock offset on the board is added to the wall clock of all processes whose program is named in
 * FAULT_CLOCK=PROGRAM[,..].
 *
 * Calls inside the C library (stdio, the dynamic loader) do not pass through this library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Replaces functions of the C library, whose declarations have other parameter names, and passes
 * types to macros. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-macro-parentheses,performance-no-int-to-ptr) */

enum call {
    CALL_WRITE,
    CALL_FLUSH,
    CALL_RENAME,
    CALL_LINK,
    CALL_MAKE,
    CALL_CREATE,
    CALL_OPEN,
    CALL_READ,
    CALL_REMOVE,
    CALL_RESIZE,
    CALL_MAP,
    CALL_TALK,
    CALL_CHANGE,
    CALL_COUNT
};
static const char *const call_name[CALL_COUNT] = {"write",  "flush", "rename", "link",   "make",
                                                  "create", "open",  "read",   "remove", "resize",
                                                  "map",    "talk",  "change"};

static const char *const program_name[] = {"graphmill",
                                           "graphmill-ingest",
                                           "graphmill-partition",
                                           "graphmill-sample",
                                           "graphmill-train-step",
                                           "graphmill-aggregate",
                                           "graphmill-checkpoint",
                                           "graphmill-infer",
                                           "redis-server"};
enum { PROGRAM_COUNT = 9, RULE_MAX = 4, RULE_TEXT_SIZE = 64 };

/* The file FAULT_BOARD; tests/faults/harness/shim.py reads and writes it. */
struct board {
    _Atomic uint64_t fired; /* number of rules that have fired */
    _Atomic int64_t clock_offset_s;
    _Atomic uint64_t lifted; /* not 0: the disk has room again, and lasting ENOSPC and EDQUOT end */
    /* for each program, the calls of the process with most calls */
    _Atomic uint64_t most[PROGRAM_COUNT][CALL_COUNT];
};

enum action { ACTION_KILL, ACTION_KILL_AFTER, ACTION_SHORT, ACTION_FAIL };

struct rule {
    bool mine; /* the rule is for this program */
    bool lasting;
    enum call call;
    uint64_t at;
    enum action action;
    int error;
};

static struct board *board;
static int program = -1;
static struct rule rules[RULE_MAX];
static int rule_count;
static _Atomic uint64_t counted[CALL_COUNT];
static _Atomic int lasting_rule = -1;
static bool no_flush, own_clock;

static const struct {
    const char *name;
    int number;
} error_table[] = {{"ENOSPC", ENOSPC},         {"EIO", EIO},       {"EMFILE", EMFILE},
                   {"ENOMEM", ENOMEM},         {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
                   {"ECONNRESET", ECONNRESET}, {NULL, 0}};

static void bad_rule(const char *text)
{
    (void)fprintf(stderr, "fault_shim: cannot read the rule '%s'\n", text);
    _exit(99);
}

static void parse_action(struct rule *rule, const char *name, const char *text)
{
    if (strcmp(name, "kill") == 0)
        rule->action = ACTION_KILL;
    else if (strcmp(name, "killed-after") == 0)
        rule->action = ACTION_KILL_AFTER;
    else if (strcmp(name, "short") == 0)
        rule->action = ACTION_SHORT;
    else {
        rule->action = ACTION_FAIL;
        for (int i = 0; error_table[i].name; i++)
            if (strcmp(name, error_table[i].name) == 0)
                rule->error = error_table[i].number;
        if (rule->error == 0)
            bad_rule(text);
    }
}

static void parse_rule(const char *text)
{
    char copy[RULE_TEXT_SIZE], *rest = NULL;
    struct rule *rule = &rules[rule_count++];
    (void)snprintf(copy, sizeof copy, "%s", text);
    const char *name = strtok_r(copy, ":", &rest), *call = strtok_r(NULL, ":", &rest);
    const char *at = strtok_r(NULL, ":", &rest), *action = strtok_r(NULL, ":", &rest);
    const char *lasting = strtok_r(NULL, ":", &rest);
    if (!action)
        bad_rule(text);
    rule->mine = strcmp(name, program_invocation_short_name) == 0;
    rule->call = CALL_COUNT;
    for (int i = 0; i < CALL_COUNT; i++)
        if (strcmp(call, call_name[i]) == 0)
            rule->call = (enum call)i;
    rule->at = strtoull(at, NULL, 10);
    rule->lasting = lasting && strcmp(lasting, "process") == 0;
    parse_action(rule, action, text);
    if (rule->call == CALL_COUNT || rule->at == 0)
        bad_rule(text);
}

static void parse_rules(const char *text)
{
    while (*text && rule_count < RULE_MAX) {
        char one[RULE_TEXT_SIZE];
        const size_t size = strcspn(text, ",");
        (void)snprintf(one, sizeof one, "%.*s", (int)size, text);
        parse_rule(one);
        text += size + (text[size] == ',');
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_BOARD"), *text = getenv("FAULTS"),
               *clocks = getenv("FAULT_CLOCK");
    no_flush = getenv("FAULT_NO_FLUSH") != NULL;
    for (int i = 0; i < PROGRAM_COUNT; i++)
        if (strcmp(program_name[i], program_invocation_short_name) == 0)
            program = i;
    if (!path || program < 0)
        return;
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *board, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, (int)fd, 0L);
    (void)syscall(SYS_close, (int)fd);
    if (memory == MAP_FAILED)
        return;
    parse_rules(text ? text : "");
    own_clock = clocks && strstr(clocks, program_invocation_short_name) != NULL;
    board = memory;
}

/* The effect on a call: none, an error for the caller, half of the call, or death after it. */
enum verdict { GO_ON, FAIL, HALF, DIE_AFTER };

static bool changes(enum call call)
{
    return call != CALL_OPEN && call != CALL_READ && call != CALL_MAP && call != CALL_TALK;
}

static uint64_t count(enum call call)
{
    const uint64_t n = atomic_fetch_add(&counted[call], 1) + 1;
    uint64_t most = atomic_load(&board->most[program][call]);
    while (most < n && !atomic_compare_exchange_weak(&board->most[program][call], &most, n))
        ;
    return n;
}

static enum verdict act(const struct rule *rule)
{
    switch (rule->action) {
    case ACTION_KILL:
        (void)syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
        return GO_ON;
    case ACTION_KILL_AFTER:
        return DIE_AFTER;
    case ACTION_SHORT:
        return HALF;
    case ACTION_FAIL:
        errno = rule->error;
        return FAIL;
    }
    return GO_ON;
}

/* Returns whether a lasting rule that has fired in this process applies to the call. */
static bool lasts(enum call call)
{
    const int fired = atomic_load(&lasting_rule);
    if (fired < 0)
        return false;
    const struct rule *rule = &rules[fired];
    const bool is_space = rule->error == ENOSPC || rule->error == EDQUOT;
    if (is_space && atomic_load(&board->lifted))
        return false;
    return rule->call == call || (rule->call == CALL_CHANGE && changes(call));
}

static enum verdict judge(enum call call)
{
    if (!board)
        return GO_ON;
    const uint64_t n = count(call), of_all = changes(call) ? count(CALL_CHANGE) : 0;
    if (lasts(call))
        return act(&rules[atomic_load(&lasting_rule)]);
    uint64_t next = atomic_load(&board->fired);
    if (next >= (uint64_t)rule_count)
        return GO_ON;
    const struct rule *rule = &rules[next];
    const uint64_t reached = rule->call == call ? n : rule->call == CALL_CHANGE ? of_all : 0;
    if (!rule->mine || reached < rule->at ||
        !atomic_compare_exchange_strong(&board->fired, &next, next + 1))
        return GO_ON;
    if (rule->lasting)
        atomic_store(&lasting_rule, (int)next);
    return act(rule);
}

static bool is_socket(int fd)
{
    struct stat kind;
    return board && fstat(fd, &kind) == 0 && S_ISSOCK(kind.st_mode);
}

static void die_if(enum verdict verdict)
{
    if (verdict == DIE_AFTER)
        (void)syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
}

/* The function that this library replaces. */
#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))
static void *real(void *_Atomic *found, const char *name)
{
    void *function = atomic_load(found);
    if (!function) {
        function = dlsym(RTLD_NEXT, name);
        atomic_store(found, function);
    }
    return function;
}

/* Defines a call that returns -1 when it fails. */
#define FORWARD(type, name, call, parameters, arguments)                                           \
    static void *_Atomic real_##name;                                                              \
    type name parameters                                                                           \
    {                                                                                              \
        const enum verdict verdict = judge(call);                                                  \
        if (verdict == FAIL)                                                                       \
            return -1;                                                                             \
        const type result = REAL(name) arguments;                                                  \
        die_if(verdict);                                                                           \
        return result;                                                                             \
    }

/* Defines a write, of which half may be made. */
#define FORWARD_WRITE(name, parameters, arguments)                                                 \
    static void *_Atomic real_##name;                                                              \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        const enum verdict verdict = judge(is_socket(fd) ? CALL_TALK : CALL_WRITE);                \
        if (verdict == FAIL)                                                                       \
            return -1;                                                                             \
        if (verdict == HALF && size > 1)                                                           \
            size /= 2;                                                                             \
        const ssize_t result = REAL(name) arguments;                                               \
        die_if(verdict);                                                                           \
        return result;                                                                             \
    }

FORWARD_WRITE(write, (int fd, const void *from, size_t size), (fd, from, size))
FORWARD_WRITE(pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
FORWARD_WRITE(pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
FORWARD(ssize_t, read, is_socket(fd) ? CALL_TALK : CALL_READ, (int fd, void *to, size_t size),
        (fd, to, size))
FORWARD(ssize_t, send, CALL_TALK, (int fd, const void *from, size_t size, int flags),
        (fd, from, size, flags))
FORWARD(ssize_t, recv, CALL_TALK, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
FORWARD(ssize_t, pread, CALL_READ, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
FORWARD(ssize_t, pread64, CALL_READ, (int fd, void *to, size_t size, off64_t at),
        (fd, to, size, at))
FORWARD(int, rename, CALL_RENAME, (const char *from, const char *to), (from, to))
FORWARD(int, link, CALL_LINK, (const char *from, const char *to), (from, to))
FORWARD(int, symlink, CALL_LINK, (const char *from, const char *to), (from, to))
FORWARD(int, mkdir, CALL_MAKE, (const char *path, mode_t mode), (path, mode))
FORWARD(int, unlink, CALL_REMOVE, (const char *path), (path))
FORWARD(int, rmdir, CALL_REMOVE, (const char *path), (path))
FORWARD(int, ftruncate, CALL_RESIZE, (int fd, off_t size), (fd, size))
FORWARD(int, ftruncate64, CALL_RESIZE, (int fd, off64_t size), (fd, size))
FORWARD(int, fallocate, CALL_RESIZE, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
FORWARD(int, mkstemp, CALL_CREATE, (char *path), (path))

/* Leaves out one of several buffers, or half of a single one, like a short write. */
static void *_Atomic real_writev;
ssize_t writev(int fd, const struct iovec *part, int part_count)
{
    const enum verdict verdict = judge(is_socket(fd) ? CALL_TALK : CALL_WRITE);
    if (verdict == FAIL)
        return -1;
    const ssize_t result = verdict == HALF && part_count > 1
                               ? REAL(writev)(fd, part, part_count - 1)
                               : REAL(writev)(fd, part, part_count);
    die_if(verdict);
    return result;
}

/* It reports errors by its result, not by errno. */
static void *_Atomic real_posix_fallocate;
int posix_fallocate(int fd, off_t at, off_t size)
{
    const enum verdict verdict = judge(CALL_RESIZE);
    if (verdict == FAIL)
        return errno;
    const int result = REAL(posix_fallocate)(fd, at, size);
    die_if(verdict);
    return result;
}
static void *_Atomic real_posix_fallocate64;
int posix_fallocate64(int fd, off64_t at, off64_t size)
{
    const enum verdict verdict = judge(CALL_RESIZE);
    if (verdict == FAIL)
        return errno;
    const int result = REAL(posix_fallocate64)(fd, at, size);
    die_if(verdict);
    return result;
}

#define FORWARD_FLUSH(name, parameters, arguments)                                                 \
    static void *_Atomic real_##name;                                                              \
    int name parameters                                                                            \
    {                                                                                              \
        if (no_flush)                                                                              \
            return 0;                                                                              \
        const enum verdict verdict = judge(CALL_FLUSH);                                            \
        if (verdict == FAIL)                                                                       \
            return -1;                                                                             \
        const int result = REAL(name) arguments;                                                   \
        die_if(verdict);                                                                           \
        return result;                                                                             \
    }
FORWARD_FLUSH(fsync, (int fd), (fd))
FORWARD_FLUSH(fdatasync, (int fd), (fd))
FORWARD_FLUSH(sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags),
              (fd, at, size, flags))
FORWARD_FLUSH(msync, (void *memory, size_t size, int flags), (memory, size, flags))

#define FORWARD_OPEN(name)                                                                         \
    static void *_Atomic real_##name;                                                              \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list list;                                                                          \
            va_start(list, flags);                                                                 \
            mode = va_arg(list, mode_t);                                                           \
            va_end(list);                                                                          \
        }                                                                                          \
        const enum verdict verdict = judge(flags & O_CREAT ? CALL_CREATE : CALL_OPEN);             \
        if (verdict == FAIL)                                                                       \
            return -1;                                                                             \
        const int result = REAL(name)(path, flags, mode);                                          \
        die_if(verdict);                                                                           \
        return result;                                                                             \
    }
FORWARD_OPEN(open)
FORWARD_OPEN(open64)

#define FORWARD_FOPEN(name)                                                                        \
    static void *_Atomic real_##name;                                                              \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        const enum verdict verdict = judge(mode[0] == 'r' ? CALL_OPEN : CALL_CREATE);              \
        if (verdict == FAIL)                                                                       \
            return NULL;                                                                           \
        FILE *const result = REAL(name)(path, mode);                                               \
        die_if(verdict);                                                                           \
        return result;                                                                             \
    }
FORWARD_FOPEN(fopen)
FORWARD_FOPEN(fopen64)

/* Only mappings of files fail. Without memory the allocator gives up, which is another
 * experiment. */
#define FORWARD_MMAP(name, offset_type)                                                            \
    void *name(void *address, size_t size, int protection, int flags, int fd, offset_type at)      \
    {                                                                                              \
        if (fd >= 0 && judge(CALL_MAP) == FAIL)                                                    \
            return MAP_FAILED;                                                                     \
        return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, at);                \
    }
FORWARD_MMAP(mmap, off_t)
FORWARD_MMAP(mmap64, off64_t)

/* --- the wall clock; no dlsym() here, Redis's allocator asks for the time before it can serve
 * --- */

static int64_t offset_s(clockid_t clock)
{
    return board && own_clock && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
               ? atomic_load(&board->clock_offset_s)
               : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, out);
    out->tv_sec += offset_s(clock);
    return result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-macro-parentheses,performance-no-int-to-ptr) */
