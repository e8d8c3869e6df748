#define _GNU_SOURCE // NOLINT: the C library asks for this name
/* both forms of a call are replaced, because our code and the libraries' use one each */
#undef _FILE_OFFSET_BITS
#include "tests/support/failing_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The functions below have the names of the C library's, some of which have no prototype in its
 * headers. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static _Thread_local struct {
    enum failing_call call;
    long passed, left, failed;
    int number;
    bool is_done_first;
} plan;

static void make_plan(enum failing_call call, long passed, long count, int number, bool first)
{
    plan.call = call;
    plan.passed = passed;
    plan.left = count;
    plan.failed = 0;
    plan.number = number;
    plan.is_done_first = first;
}

void failing_calls_plan(enum failing_call call, long passed, long count, int number)
{
    make_plan(call, passed, count, number, false);
}

void failing_calls_plan_lost_answers(enum failing_call call, long passed, long count, int number)
{
    make_plan(call, passed, count, number, true);
}

long failing_calls_end(void)
{
    plan.call = CALL_NONE;
    return plan.failed;
}

static bool fails(enum failing_call call)
{
    if (plan.call != call || plan.left == 0)
        return false;
    if (plan.passed > 0) {
        plan.passed--;
        return false;
    }
    plan.left -= plan.left > 0;
    plan.failed++;
    return true;
}

/* The result of a call: the system's, or the planned failure before or after the real call. */
#define ANSWER(call, result)                                                                       \
    do {                                                                                           \
        if (!fails(call))                                                                          \
            return result;                                                                         \
        if (plan.is_done_first)                                                                    \
            (void)(result);                                                                        \
        errno = plan.number;                                                                       \
        return -1;                                                                                 \
    } while (0)

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    ANSWER(CALL_OPEN, (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    ANSWER(CALL_OPEN, (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int stat(const char *path, struct stat *status)
{
    ANSWER(CALL_STAT, (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

int stat64(const char *path, struct stat64 *status)
{
    ANSWER(CALL_STAT, (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

int lstat(const char *path, struct stat *status)
{
    ANSWER(CALL_STAT, (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}

int lstat64(const char *path, struct stat64 *status)
{
    ANSWER(CALL_STAT, (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}

int fstat(int fd, struct stat *status)
{
    ANSWER(CALL_FSTAT, (int)syscall(SYS_fstat, fd, status));
}

int fstat64(int fd, struct stat64 *status)
{
    ANSWER(CALL_FSTAT, (int)syscall(SYS_fstat, fd, status));
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    ANSWER(CALL_PREAD, syscall(SYS_pread64, fd, buffer, size, offset));
}

ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
    ANSWER(CALL_PREAD, syscall(SYS_pread64, fd, buffer, size, offset));
}

ssize_t read(int fd, void *buffer, size_t size)
{
    ANSWER(CALL_READ, syscall(SYS_read, fd, buffer, size));
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    ANSWER(CALL_WRITE, syscall(SYS_write, fd, buffer, size));
}

ssize_t writev(int fd, const struct iovec *vector, int count)
{
    ANSWER(CALL_WRITE, syscall(SYS_writev, fd, vector, count));
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    ANSWER(CALL_WRITE, syscall(SYS_pwrite64, fd, buffer, size, offset));
}

ssize_t pwrite64(int fd, const void *buffer, size_t size, off_t offset)
{
    ANSWER(CALL_WRITE, syscall(SYS_pwrite64, fd, buffer, size, offset));
}

int fsync(int fd)
{
    ANSWER(CALL_FSYNC, (int)syscall(SYS_fsync, fd));
}

int fdatasync(int fd)
{
    ANSWER(CALL_FSYNC, (int)syscall(SYS_fdatasync, fd));
}

int ftruncate(int fd, off_t size)
{
    ANSWER(CALL_FTRUNCATE, (int)syscall(SYS_ftruncate, fd, size));
}

int ftruncate64(int fd, off64_t size)
{
    ANSWER(CALL_FTRUNCATE, (int)syscall(SYS_ftruncate, fd, size));
}

int link(const char *from, const char *to)
{
    ANSWER(CALL_LINK, (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int rename(const char *from, const char *to)
{
    ANSWER(CALL_RENAME, (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    ANSWER(CALL_RENAMEAT2, (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}

int mkdir(const char *path, mode_t mode)
{
    ANSWER(CALL_MKDIR, (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlink(const char *path)
{
    ANSWER(CALL_UNLINK, (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int flock(int fd, int operation)
{
    ANSWER(CALL_FLOCK, (int)syscall(SYS_flock, fd, operation));
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!fails(CALL_MMAP))
        return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset); // NOLINT
    errno = plan.number;
    return MAP_FAILED;
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

int close(int fd)
{
    ANSWER(CALL_CLOSE, (int)syscall(SYS_close, fd));
}

int socket(int domain, int type, int protocol)
{
    ANSWER(CALL_SOCKET, (int)syscall(SYS_socket, domain, type, protocol));
}

/* It is declared with a union of all kinds of addresses. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    ANSWER(CALL_CONNECT, (int)syscall(SYS_connect, fd, address, size));
}
#pragma GCC diagnostic pop

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ANSWER(CALL_WRITE, syscall(SYS_sendto, fd, data, size, flags, NULL, 0));
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    ANSWER(CALL_READ, syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL));
}
