#include "store/backends/directory/directory_refs.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/directory/directory_files.h"
#include "store/backends/directory/key_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { REF_SIZE = 8192, LOCK_POLL_MS = 2 };

static enum error_code ref_path(const struct directory *directory, const char *name,
                                char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/switch/%s", directory->root, name);
}

enum error_code directory_ref_get(void *state, const char *name, char *text, size_t size,
                                  struct error *err)
{
    char path[FILE_PATH_SIZE];
    char *data = NULL;
    size_t length = 0;
    enum error_code rc = ref_path(state, name, path, err);
    if (rc == ERROR_NONE)
        rc = file_read(path, REF_SIZE, &data, &length, err);
    if (rc == ERROR_NONE && (strlen(data) != length || !text_copy(text, size, data)))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu",
                       path, size - 1, length);
    memory_free(data);
    return rc == ERROR_INPUT ? ERROR_CORRUPT : rc;
}

static enum error_code next_of_text(void *context, uint64_t offset,
                                    struct object_piece piece[OBJECT_PIECE_COUNT_MAX],
                                    size_t *count, struct error *err)
{
    const char *text = context;
    (void)err;
    piece[0] = (struct object_piece){text, strlen(text)};
    *count = offset < strlen(text);
    return ERROR_NONE;
}

/* Replaces a ref. The new text is flushed before the rename, because a ref must not be lost when
 * the record that it names is not. */
static enum error_code replace_ref(struct directory *directory, const char *path, const char *text,
                                   struct error *err)
{
    char temporary[FILE_PATH_SIZE], *given = NULL;
    memcpy(&given, &text, sizeof given); /* read only */
    const struct object_body body = {.size = strlen(text), .next = next_of_text, .context = given};
    enum error_code rc = directory_make_parents(directory, path, err);
    if (rc == ERROR_NONE)
        rc = directory_write_temporary(directory, &body, STORE_DURABLE, temporary, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_rename(temporary, path, err);
    if (rc != ERROR_NONE) {
        (void)unlink(temporary);
        return rc;
    }
    return directory_flush_folders(directory, path, err);
}

static enum error_code set_ref(void *state, const char *name, const char *text, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = ref_path(state, name, path, err);
    if (rc == ERROR_NONE && text)
        return replace_ref(state, path, text, err);
    if (rc == ERROR_NONE && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be removed", path);
    return rc;
}

/* Locks all refs for a process that changes one; the caller closes *fd. A file system without locks
 * gives none: two hosts that exchange the same ref there within microseconds may both succeed. */
static enum error_code lock_refs(const struct directory *directory, int *fd, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const int64_t end = clock_ms() + directory->timeout_ms;
    enum error_code rc = ref_path(directory, ".lock", path, err);
    if (rc == ERROR_NONE)
        rc = directory_make_parents(directory, path, err);
    if (rc != ERROR_NONE)
        return rc;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be opened", path);
    while (flock(*fd, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
        if (clock_ms() >= end) {
            (void)close(*fd);
            return error_set(err, ERROR_UNAVAILABLE,
                             "%s: another process has held this lock for %lld ms", path,
                             (long long)directory->timeout_ms);
        }
        clock_sleep_ms(LOCK_POLL_MS);
    }
    return ERROR_NONE;
}

/* Unlocks before closing: a failed close may leave the descriptor open, and with it the lock. */
static void unlock_refs(int fd)
{
    (void)flock(fd, LOCK_UN);
    (void)close(fd);
}

enum error_code directory_ref_set(void *state, const char *name, const char *text,
                                  struct error *err)
{
    int fd = -1;
    enum error_code rc = lock_refs(state, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = set_ref(state, name, text, err);
    unlock_refs(fd);
    return rc;
}

enum error_code directory_ref_exchange(void *state, const char *name, const char *expected,
                                       const char *text, bool *matched, struct error *err)
{
    char found[REF_SIZE];
    int fd = -1;
    *matched = false;
    enum error_code rc = lock_refs(state, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = directory_ref_get(state, name, found, sizeof found, err);
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND) {
        *matched = rc == ERROR_NONE ? expected && strcmp(found, expected) == 0 : !expected;
        rc = *matched ? set_ref(state, name, text, err) : ERROR_NONE;
    }
    unlock_refs(fd);
    return rc;
}

enum error_code directory_ref_list(void *state, store_visitor visit, void *context,
                                   struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const enum error_code rc =
        file_path(folder, err, "%s/switch", ((const struct directory *)state)->root);
    return rc == ERROR_NONE ? key_walk(folder, "", "", visit, context, err) : rc;
}
