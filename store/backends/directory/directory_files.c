#define _GNU_SOURCE /* renameat2(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "store/backends/directory/directory_files.h"

#include "common/base/clock.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RETRY_COUNT = 100 };

/* --- folders --- */

bool directory_to_parent(const struct directory *directory, char *path)
{
    char *slash = strrchr(path, '/');
    if (slash <= path + strlen(directory->root))
        return false;
    *slash = '\0';
    return true;
}

enum error_code directory_flush_folders(const struct directory *directory,
                                        const char path[FILE_PATH_SIZE], struct error *err)
{
    char folder[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    (void)text_copy(folder, sizeof folder, path);
    while (rc == ERROR_NONE && directory_to_parent(directory, folder)) {
        rc = file_sync(folder, err);
        rc = rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
    }
    return rc == ERROR_NONE ? file_sync(directory->root, err) : rc;
}

enum error_code directory_make_parents(const struct directory *directory,
                                       const char path[FILE_PATH_SIZE], struct error *err)
{
    char folder[FILE_PATH_SIZE];
    (void)text_copy(folder, sizeof folder, path);
    return directory_to_parent(directory, folder) ? file_make_folders(folder, err) : ERROR_NONE;
}

void directory_remove_empty_parents(const struct directory *directory,
                                    const char path[FILE_PATH_SIZE])
{
    char folder[FILE_PATH_SIZE];
    (void)text_copy(folder, sizeof folder, path);
    while (directory_to_parent(directory, folder) && rmdir(folder) == 0)
        continue;
}

/* --- final names --- */

/* Returns whether the file was linked, whatever link() returned: over NFS an answer can be lost,
 * and the repeated request then fails with EEXIST (open(2)). */
static bool link_was_made(const char *temporary, const char *path)
{
    struct stat ours, there;
    return stat(temporary, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

/* Returns whether this error of link() means that the file system has no hard links. EMLINK does
 * not. */
static bool has_no_links(int cause)
{
    return cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS;
}

static int link_or_move(struct directory *directory, const char *temporary, const char *path)
{
    if (!atomic_load(&directory->no_links)) {
        if (link(temporary, path) == 0)
            return 0;
        if (!has_no_links(errno) && errno != EMLINK)
            return -1;
        atomic_store(&directory->no_links, has_no_links(errno));
    }
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);
}

enum error_code directory_link_first(struct directory *directory, const char *temporary,
                                     const char *path, bool *existed, struct error *err)
{
    *existed = false;
    for (int i = 0; i < RETRY_COUNT; i++) {
        if (link_or_move(directory, temporary, path) == 0)
            return ERROR_NONE;
        const int cause = errno;
        if (link_was_made(temporary, path))
            return ERROR_NONE;
        *existed = cause == EEXIST;
        if (*existed)
            return ERROR_NONE;
        errno = cause;
        if (cause != ENOENT)
            break;
        if (access(temporary, F_OK) != 0 && errno == ENOENT)
            return error_set(err, ERROR_UNAVAILABLE,
                             "%s is gone: it was removed, or the folder of the store was",
                             temporary);
        const enum error_code rc = directory_make_parents(directory, path, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return error_set_errno(
        err, ERROR_IO,
        "%s cannot be named %s (a store needs hard links, or renames that do not "
        "replace)",
        temporary, path);
}

enum error_code directory_rename_first(const struct directory *directory, const char *from,
                                       const char *path, bool *existed, struct error *err)
{
    for (int i = 0; i < RETRY_COUNT; i++) {
        bool found = false;
        enum error_code rc = directory_make_parents(directory, path, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = file_rename(from, path, err);
        const int cause = errno;
        *existed = rc != ERROR_NONE && (cause == EEXIST || cause == ENOTEMPTY || cause == ENOTDIR);
        if (rc == ERROR_NONE || *existed)
            return ERROR_NONE;
        if (cause != ENOENT || file_is_there(from, &found, NULL) != ERROR_NONE || !found)
            return rc;
    }
    return error_set(err, ERROR_IO, "%s: its folders are removed each time they are made", path);
}

/* --- contents --- */

/* Writes the pieces with as few calls as the system allows, since a record has many small ones. */
static enum error_code write_pieces(int fd, const struct object_piece *piece, size_t piece_count,
                                    const char *path, struct error *err)
{
    struct iovec vector[OBJECT_PIECE_COUNT_MAX];
    size_t first = 0,
           skipped = 0; /* written so far: the pieces before `first`, and `skipped` bytes of it */
    while (first < piece_count) {
        size_t count = 0;
        for (size_t i = first; i < piece_count; i++, count++) {
            const size_t skip = i == first ? skipped : 0;
            memcpy(&vector[count].iov_base, &piece[i].data, sizeof vector[count].iov_base);
            vector[count].iov_base = (char *)vector[count].iov_base + skip;
            vector[count].iov_len = piece[i].size - skip;
        }
        const ssize_t n = writev(fd, vector, (int)count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(err, ERROR_IO, "%s cannot be written", path);
        skipped += (size_t)n;
        while (first < piece_count && skipped >= piece[first].size)
            skipped -= piece[first++].size;
    }
    return ERROR_NONE;
}

static enum error_code write_body(int fd, const struct object_body *body, const char *path,
                                  struct error *err)
{
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    uint64_t offset = 0;
    for (size_t count = 1; rc == ERROR_NONE && count;) {
        rc = body->next(body->context, offset, piece, &count, err);
        for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
            offset += piece[i].size;
        if (rc == ERROR_NONE)
            rc = write_pieces(fd, piece, count, path, err);
    }
    return rc;
}

enum error_code directory_write_temporary(struct directory *directory,
                                          const struct object_body *body,
                                          enum store_durability durability,
                                          char path[FILE_PATH_SIZE], struct error *err)
{
    int fd = -1;
    enum error_code rc = ERROR_NONE;
    const size_t size = (size_t)body->size;
    const bool is_spare = spare_files_take(&directory->spares, size, path, &fd);
    if (!is_spare)
        rc = scratch_space_file(&directory->scratch, path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    const double before = clock_thread_seconds();
    rc = write_body(fd, body, path, err);
    if (directory->is_local)
        spare_files_note(&directory->spares, size, is_spare, clock_thread_seconds() - before);
    if (rc == ERROR_NONE && is_spare && ftruncate(fd, (off_t)size) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be truncated", path);
    if (rc == ERROR_NONE && durability == STORE_DURABLE && fsync(fd) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be flushed", path);
    if (rc == ERROR_NONE && durability == STORE_RECOMPUTABLE && directory->is_local)
        written_files_add(&directory->written, fd, size);
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be closed", path);
    if (rc != ERROR_NONE)
        (void)unlink(path);
    return rc;
}

/* Touches a file of the store and reads its time. If that fails, nothing else can write there
 * either, and this host's clock is used. */
int64_t directory_now(const struct directory *directory)
{
    char path[FILE_PATH_SIZE];
    struct stat info;
    if (file_path(path, NULL, "%s/switch/.lock", directory->root) != ERROR_NONE)
        return time(NULL);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const bool is_touched = fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &info) == 0;
    if (fd >= 0)
        (void)close(fd);
    return is_touched ? info.st_mtime : time(NULL);
}

enum error_code directory_written_at(const char path[FILE_PATH_SIZE], int64_t *seconds,
                                     struct error *err)
{
    struct stat info;
    if (lstat(path, &info) == 0) {
        *seconds = info.st_mtime;
        return ERROR_NONE;
    }
    return errno == ENOENT || errno == ENOTDIR
               ? error_set(err, ERROR_NOT_FOUND, "%s is not there", path)
               : error_set_errno(err, ERROR_IO, "%s cannot be looked at", path);
}
