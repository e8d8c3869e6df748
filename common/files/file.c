#define _GNU_SOURCE /* sync_file_range(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/files/file.h"

#include "common/base/host.h"
#include "common/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STALE_RETRY_COUNT = 3, NAME_RETRY_COUNT = 100 };

static enum error_code code_of_errno(void)
{
    return errno == ENOENT || errno == ENOTDIR ? ERROR_NOT_FOUND : ERROR_IO;
}

/* Calls stat(2); a handle that NFS calls stale is looked up again. */
static int stat_path(const char *path, struct stat *status)
{
    int result = stat(path, status);
    for (int i = 0; result != 0 && errno == ESTALE && i < STALE_RETRY_COUNT; i++)
        result = stat(path, status);
    return result;
}

/* Opens a file for reading, again with a second try for a stale handle. O_NONBLOCK keeps it from
 * blocking on a FIFO that replaced the file a moment ago. If a file server has lent the file to
 * somebody (a lease), it refuses a non-blocking call. */
static int open_to_read(const char *path)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = open(path, flags);
    for (int i = 0; fd < 0 && i < STALE_RETRY_COUNT; i++) {
        if (errno == EWOULDBLOCK)
            flags &= ~O_NONBLOCK;
        else if (errno != ESTALE && errno != EINTR)
            break;
        fd = open(path, flags);
    }
    return fd;
}

static enum error_code check_is_file(const char *path, mode_t mode, struct error *err)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return ERROR_NONE;
    case S_IFDIR:
        return error_set(err, ERROR_INPUT, "%s is a folder, expected a file", path);
    case S_IFIFO:
        return error_set(err, ERROR_INPUT,
                         "%s is a FIFO (a named pipe, or a shell's <(...)), expected a file: it is "
                         "read more than once, " ADVICE "so write the data to a file first",
                         path);
    default:
        return error_set(err, ERROR_INPUT, "%s is a %s, expected a file", path,
                         S_ISSOCK(mode) ? "socket" : "device");
    }
}

enum error_code file_open(const char *path, int *fd, struct error *err)
{
    struct stat status;
    *fd = -1;
    if (stat_path(path, &status) != 0)
        return error_set_errno(err, code_of_errno(), "%s", path);
    enum error_code rc = check_is_file(path, status.st_mode, err);
    if (rc != ERROR_NONE)
        return rc;
    *fd = open_to_read(path);
    if (*fd < 0 || fstat(*fd, &status) != 0)
        rc = error_set_errno(err, code_of_errno(), "%s", path);
    if (rc == ERROR_NONE)
        rc = check_is_file(path, status.st_mode, err);
    if (rc != ERROR_NONE && *fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return rc;
}

enum error_code file_path(char out[FILE_PATH_SIZE], struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(out, FILE_PATH_SIZE, format, args);
    va_end(args);
    if (size < 0 || size >= FILE_PATH_SIZE)
        return error_set(err, ERROR_INVALID, "path is longer than %d bytes: %.200s...",
                         FILE_PATH_SIZE - 1, out);
    return ERROR_NONE;
}

enum error_code file_look(const char *path, enum file_kind *kind, struct error *err)
{
    struct stat status;
    *kind = FILE_ABSENT;
    if (stat_path(path, &status) == 0)
        *kind = S_ISDIR(status.st_mode) ? FILE_FOLDER : FILE_PLAIN;
    else if (code_of_errno() != ERROR_NOT_FOUND)
        return error_set_errno(err, ERROR_IO, "%s cannot be looked at", path);
    return ERROR_NONE;
}

enum error_code file_is_there(const char *path, bool *found, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    const enum error_code rc = file_look(path, &kind, err);
    *found = kind != FILE_ABSENT;
    return rc;
}

/* Appends `name` to `out`, a path without symbolic links, and resolves it. */
static enum error_code step_into(char out[FILE_PATH_SIZE], const char *name, size_t size,
                                 struct error *err)
{
    char next[FILE_PATH_SIZE];
    if (size == 0 || (size == 1 && name[0] == '.'))
        return ERROR_NONE;
    if (size == 2 && name[0] == '.' && name[1] == '.') {
        *strrchr(out, '/') = '\0';
        return out[0] ? ERROR_NONE : file_path(out, err, "/");
    }
    const enum error_code rc = file_path(next, err, "%s/%.*s", out[1] ? out : "", (int)size, name);
    if (rc != ERROR_NONE)
        return rc;
    char *real =
        /* it fails if nothing is there; then the path stays as it is written */
        realpath(next, NULL);
    memcpy(out, next, sizeof next);
    const enum error_code copied = real ? file_path(out, err, "%s", real) : ERROR_NONE;
    free(real);
    return copied;
}

enum error_code file_absolute(char out[FILE_PATH_SIZE], const char *path, struct error *err)
{
    enum error_code rc = file_path(out, err, "/");
    if (rc == ERROR_NONE && path[0] != '/' && !getcwd(out, FILE_PATH_SIZE))
        return error_set_errno(err, ERROR_IO, "the working directory has no name");
    while (rc == ERROR_NONE && *path) {
        const size_t size = strcspn(path, "/");
        rc = step_into(out, path, size, err);
        path += size + (path[size] == '/');
    }
    return rc;
}

enum error_code file_size(const char *path, uint64_t *bytes, struct error *err)
{
    struct stat status;
    if (stat_path(path, &status) != 0)
        return error_set_errno(err, code_of_errno(), "%s", path);
    *bytes = (uint64_t)status.st_size;
    return ERROR_NONE;
}

/* Makes one folder. *again: another process removed its parent in the meantime. */
static enum error_code make_folder(const char *path, bool *again, struct error *err)
{
    struct stat status;
    *again = false;
    if (mkdir(path, 0777) == 0)
        return ERROR_NONE;
    if (errno == EEXIST && stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return ERROR_NONE;
        errno = ENOTDIR;
    }
    *again = errno == ENOENT;
    return error_set_errno(err, ERROR_IO, "folder %s cannot be made", path);
}

enum error_code file_make_folders(const char *path, struct error *err)
{
    enum { RETRY_COUNT = 100 };
    char partial[FILE_PATH_SIZE];
    int retries = 0;
    bool again = false;
    enum error_code rc = file_path(partial, err, "%s", path);
    if (rc != ERROR_NONE)
        return rc;
    for (char *slash = partial + (*partial != '\0');; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        const char kept = *slash;
        *slash = '\0';
        rc = make_folder(partial, &again, err);
        *slash = kept;
        if (rc != ERROR_NONE && (!again || ++retries > RETRY_COUNT))
            return rc;
        if (rc != ERROR_NONE)
            slash = partial; /* again from the top */
        else if (kept == '\0')
            return ERROR_NONE;
    }
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct name_list {
    char **name;
    size_t count, capacity;
};

static void name_list_release(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free(list->name[i]);
    memory_free(list->name);
    *list = (struct name_list){0};
}

static enum error_code name_list_add(struct name_list *list, const char *name, struct error *err)
{
    static const char what[] = "a folder's names";
    const size_t size = strlen(name) + 1;
    char *copy = NULL;
    enum error_code rc = memory_grow(&list->name, &list->capacity, list->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&copy, size, what, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(copy, name, size);
    list->name[list->count++] = copy;
    return ERROR_NONE;
}

enum error_code file_list(const char *folder, file_visitor visit, void *context, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    struct name_list list = {0};
    DIR *dir = opendir(folder);
    if (!dir)
        return error_set_errno(err, code_of_errno(), "%s", folder);
    while (rc == ERROR_NONE) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno != 0)
            rc = error_set_errno(err, ERROR_IO, "folder %s cannot be read", folder);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = name_list_add(&list, entry->d_name, err);
    }
    (void)closedir(dir);
    if (rc == ERROR_NONE && list.count > 1)
        qsort(list.name, list.count, sizeof *list.name, name_order);
    for (size_t i = 0; rc == ERROR_NONE && i < list.count; i++)
        rc = visit(context, list.name[i], err);
    name_list_release(&list);
    return rc;
}

static enum error_code remove_child(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

enum error_code file_remove_all(const char *path, struct error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return ERROR_NONE;
    if (errno != EISDIR && errno != EPERM)
        return error_set_errno(err, ERROR_IO, "%s cannot be removed", path);
    char folder[FILE_PATH_SIZE];
    enum error_code rc = file_path(folder, err, "%s", path);
    if (rc == ERROR_NONE)
        rc = file_list(folder, remove_child, folder, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE && rmdir(path) != 0 && errno != ENOENT)
        rc = error_set_errno(err, ERROR_IO, "folder %s cannot be removed", path);
    return rc;
}

/* Reads up to `size` bytes from `offset` on, or for a negative offset from the current position. It
 * reads fewer only at the end of the file. */
static enum error_code read_some(int fd, int64_t offset, char *buffer, size_t size, size_t *got,
                                 const char *path, struct error *err)
{
    for (*got = 0; *got < size;) {
        char *to = buffer + *got;
        const size_t left = size - *got;
        const ssize_t n =
            offset < 0 ? read(fd, to, left) : pread(fd, to, left, (off_t)(offset + (int64_t)*got));
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return error_set_errno(err, ERROR_IO, "%s cannot be read", path);
        *got += n > 0 ? (size_t)n : 0;
    }
    return ERROR_NONE;
}

enum error_code file_read(const char *path, size_t limit, char **data, size_t *size,
                          struct error *err)
{
    struct stat status;
    char *buffer = NULL;
    size_t at = 0, capacity = 0;
    int fd = -1;
    enum error_code rc = file_open(path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    if (fstat(fd, &status) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s", path);
    else
        capacity = (size_t)status.st_size + 1;
    if (rc == ERROR_NONE && limit && capacity - 1 > limit)
        rc = error_set(err, ERROR_INPUT, "%s has %zu bytes, at most %zu are read", path,
                       capacity - 1, limit);
    if (rc == ERROR_NONE)
        rc = memory_new(&buffer, capacity, path, err);
    if (rc == ERROR_NONE)
        rc = read_some(fd, -1, buffer, capacity - 1, &at, path, err);
    (void)close(fd);
    if (rc != ERROR_NONE) {
        memory_free(buffer);
        return rc;
    }
    buffer[at] = '\0';
    *data = buffer;
    *size = at;
    return ERROR_NONE;
}

enum error_code file_read_range(const char *path, uint64_t offset, void *buffer, size_t size,
                                size_t *got, struct error *err)
{
    int fd = -1;
    enum error_code rc = file_open(path, &fd, err);
    *got = 0;
    if (rc != ERROR_NONE)
        return rc;
    rc = read_some(fd, (int64_t)offset, buffer, size, got, path, err);
    (void)close(fd);
    return rc;
}

enum error_code file_write_all(int fd, const void *data, size_t size, const char *path,
                               struct error *err)
{
    const char *from = data;
    while (size) {
        const ssize_t n = write(fd, from, size < (1UL << 30) ? size : (1UL << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(err, ERROR_IO, "%s cannot be written", path);
        from += n;
        size -= (size_t)n;
    }
    return ERROR_NONE;
}

enum error_code file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                              const char *path, struct error *err)
{
    const char *from = data;
    while (size) {
        const ssize_t n = pwrite(fd, from, size < (1UL << 30) ? size : (1UL << 30), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(err, ERROR_IO, "%s cannot be written", path);
        from += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ERROR_NONE;
}

enum error_code file_read_at(int fd, void *data, size_t size, uint64_t offset, const char *path,
                             struct error *err)
{
    char *to = data;
    while (size) {
        const ssize_t n = pread(fd, to, size < (1UL << 30) ? size : (1UL << 30), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(err, ERROR_IO, "%s cannot be read", path);
        if (n == 0)
            return error_set(err, ERROR_IO, "%s ends at byte %" PRIu64 ", expected %zu more", path,
                             offset, size);
        to += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ERROR_NONE;
}

void file_flush_begin(int fd, uint64_t offset, uint64_t size)
{
    (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
}

static enum error_code sync_folder_of(const char *path, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const enum error_code rc = file_path(folder, err, "%s", path);
    if (rc != ERROR_NONE)
        return rc;
    char *slash = strrchr(folder, '/');
    if (!slash)
        return file_sync(".", err);
    slash[slash == folder ? 1 : 0] = '\0';
    return file_sync(folder, err);
}

/* Makes a name that no other process on any host makes. */
static enum error_code temporary_name(const char *path, char temporary[FILE_PATH_SIZE],
                                      struct error *err)
{
    return file_path(temporary, err, "%s.%016" PRIx64 ".tmp", path, host_random_64());
}

enum error_code file_create_temporary(const char *path, char temporary[FILE_PATH_SIZE], int *fd,
                                      struct error *err)
{
    for (int i = 0; i < NAME_RETRY_COUNT; i++) {
        const enum error_code rc = temporary_name(path, temporary, err);
        if (rc != ERROR_NONE)
            return rc;
        *fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return ERROR_NONE;
        if (errno != EEXIST)
            break;
    }
    return error_set_errno(err, ERROR_IO, "%s cannot be created", temporary);
}

struct temporary_sweep {
    const char *folder, *prefix;
};

static bool is_temporary(const char *name, const char *prefix)
{
    static const char end[] = ".tmp", digits[] = "0123456789abcdef";
    enum { DIGITS = 16, END = sizeof end - 1 };
    const size_t size = strlen(name);
    if (size <= DIGITS + END + 1 || strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    const char *last = name + size - END - DIGITS;
    return last[-1] == '.' && strspn(last, digits) == DIGITS && strcmp(last + DIGITS, end) == 0;
}

static enum error_code sweep_name(void *context, const char *name, struct error *err)
{
    const struct temporary_sweep *sweep = context;
    char path[FILE_PATH_SIZE];
    if (!is_temporary(name, sweep->prefix))
        return ERROR_NONE;
    const enum error_code rc = file_path(path, err, "%s/%s", sweep->folder, name);
    if (rc == ERROR_NONE && unlink(path) != 0 && errno != ENOENT && errno != EISDIR)
        return error_set_errno(err, ERROR_IO, "%s cannot be removed", path);
    return rc;
}

enum error_code file_sweep_temporary(const char *folder, const char *prefix, struct error *err)
{
    struct temporary_sweep sweep = {.folder = folder, .prefix = prefix};
    return file_list(folder, sweep_name, &sweep, err);
}

enum error_code file_link_replace(const char *path, const char *target, struct error *err)
{
    char temporary[FILE_PATH_SIZE];
    const enum error_code rc = temporary_name(path, temporary, err);
    if (rc != ERROR_NONE)
        return rc;
    if (symlink(target, temporary) == 0 && rename(temporary, path) == 0)
        return ERROR_NONE;
    const int cause = errno;
    (void)unlink(temporary);
    errno = cause;
    return error_set_errno(err, ERROR_IO, "%s cannot be linked to %s", path, target);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

enum error_code file_rename(const char *from, const char *to, struct error *err)
{
    struct stat before, after;
    const bool known = stat(from, &before) == 0;
    if (rename(from, to) == 0)
        return ERROR_NONE;
    const int cause = errno;
    if (known && stat(from, &after) != 0 && stat_path(to, &after) == 0 &&
        is_same_file(&before, &after))
        return ERROR_NONE;
    errno = cause;
    const enum error_code rc =
        error_set_errno(err, ERROR_IO, "%s cannot be renamed to %s", from, to);
    errno = cause;
    return rc;
}

enum error_code file_replace(const char *path, const void *data, size_t size, bool durable,
                             struct error *err)
{
    char temporary[FILE_PATH_SIZE];
    int fd = -1;
    enum error_code rc = file_create_temporary(path, temporary, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_write_all(fd, data, size, temporary, err);
    if (rc == ERROR_NONE && durable && fsync(fd) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be flushed", temporary);
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be closed", temporary);
    if (rc == ERROR_NONE)
        rc = file_rename(temporary, path, err);
    if (rc != ERROR_NONE) {
        (void)unlink(temporary);
        return rc;
    }
    return durable ? sync_folder_of(path, err) : ERROR_NONE;
}

static bool is_folder(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

enum error_code file_sync(const char *path, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const int fd = open_to_read(path);
    if (fd < 0)
        return error_set_errno(err, code_of_errno(), "%s", path);
    if (fsync(fd) != 0) {
        const int cause = errno;
        const bool cannot = (cause == EINVAL || cause == ENOTSUP) && is_folder(fd);
        errno = cause;
        if (!cannot)
            rc = error_set_errno(err, ERROR_IO, "%s cannot be flushed", path);
    }
    (void)close(fd);
    return rc;
}

static enum error_code sync_child(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    return rc == ERROR_NONE ? file_sync_tree(path, err) : rc;
}

enum error_code file_sync_tree(const char *path, struct error *err)
{
    struct stat status;
    char folder[FILE_PATH_SIZE];
    enum error_code rc = file_path(folder, err, "%s", path);
    if (rc == ERROR_NONE && stat_path(path, &status) != 0)
        rc = error_set_errno(err, code_of_errno(), "%s", path);
    if (rc == ERROR_NONE && S_ISDIR(status.st_mode))
        rc = file_list(folder, sync_child, folder, err);
    return rc == ERROR_NONE ? file_sync(path, err) : rc;
}

static enum error_code copy_file(const char *from, const char *to, struct error *err)
{
    enum { BUFFER_BYTES = 1 << 20 };
    char *buffer = NULL;
    enum error_code rc = memory_new(&buffer, BUFFER_BYTES, "a copy buffer", err);
    int in = -1;
    if (rc == ERROR_NONE)
        rc = file_open(from, &in, err);
    const int out =
        rc == ERROR_NONE ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (rc == ERROR_NONE && out < 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be created", to);
    for (size_t got = BUFFER_BYTES; rc == ERROR_NONE && got == BUFFER_BYTES;) {
        rc = read_some(in, -1, buffer, BUFFER_BYTES, &got, from, err);
        if (rc == ERROR_NONE)
            rc = file_write_all(out, buffer, got, to, err);
    }
    if (in >= 0)
        (void)close(in);
    if (out >= 0 && close(out) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be closed", to);
    memory_free(buffer);
    return rc;
}

struct copy_context {
    const char *from;
    const char *to;
};

static enum error_code copy_child(void *context, const char *name, struct error *err)
{
    const struct copy_context *copy = context;
    char from[FILE_PATH_SIZE], to[FILE_PATH_SIZE];
    enum error_code rc = file_path(from, err, "%s/%s", copy->from, name);
    if (rc == ERROR_NONE)
        rc = file_path(to, err, "%s/%s", copy->to, name);
    return rc == ERROR_NONE ? file_copy_tree(from, to, err) : rc;
}

enum error_code file_copy_tree(const char *from, const char *to, struct error *err)
{
    struct stat status;
    if (stat_path(from, &status) != 0)
        return error_set_errno(err, code_of_errno(), "%s", from);
    if (!S_ISDIR(status.st_mode))
        return copy_file(from, to, err);
    const enum error_code rc = file_make_folders(to, err);
    struct copy_context copy = {.from = from, .to = to};
    return rc == ERROR_NONE ? file_list(from, copy_child, &copy, err) : rc;
}
