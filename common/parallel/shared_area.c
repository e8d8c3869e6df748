#define _GNU_SOURCE /* fallocate(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/parallel/shared_area.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { MARK_BYTES = 64, RUN_PAGES = 16, POLL_MS = 5, OPEN_ATTEMPTS = 1000 };

static const size_t page_bytes = (size_t)2 << 20, small_page_bytes = 4096;
static const char *folder = "/dev/shm";
static int64_t patience_ms = SHARED_AREA_PATIENCE_MS;

void shared_area_folder_set(const char *new_folder)
{
    folder = new_folder;
}

void shared_area_patience_set(int64_t ms)
{
    patience_ms = ms;
}

static size_t round_up(size_t number, size_t unit)
{
    return (number + unit - 1) / unit * unit;
}

/* --- the file --- */

/* The mark after a complete array. */
struct mark {
    char magic[16];
    uint64_t size;
    struct checksum name;
    uint8_t zeros[24];
};

_Static_assert(sizeof(struct mark) == MARK_BYTES, "the mark has its size in the comment");

static struct mark mark_of(const struct shared_area_content *content)
{
    return (struct mark){.magic = "graphmill area", .size = content->size, .name = content->name};
}

static size_t mark_offset(const struct shared_area_content *content)
{
    return round_up(content->size, MARK_BYTES);
}

static size_t file_bytes(const struct shared_area_content *content)
{
    return mark_offset(content) + MARK_BYTES;
}

static bool is_whole(int fd, const struct shared_area_content *content)
{
    const struct mark expected = mark_of(content);
    struct mark found;
    return pread(fd, &found, sizeof found, (off_t)mark_offset(content)) == (ssize_t)sizeof found &&
           memcmp(&found, &expected, sizeof found) == 0;
}

static enum error_code path_of(const struct checksum *name, char path[FILE_PATH_SIZE])
{
    char digits[CHECKSUM_TEXT_SIZE];
    checksum_text(name, digits);
    return file_path(path, NULL, "%s/graphmill-%ld-%s", folder, (long)geteuid(), digits);
}

/* Returns whether the file belongs to this user. Anyone may make files in /dev/shm. */
static bool is_ours(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 0077) == 0;
}

/* Returns whether `path` still names the file of `fd`. */
static bool is_named(int fd, const char *path)
{
    struct stat opened, there;
    return fstat(fd, &opened) == 0 && stat(path, &there) == 0 && opened.st_dev == there.st_dev &&
           opened.st_ino == there.st_ino;
}

/* --- sweep --- */

static enum error_code sweep_file(void *context, const char *name, struct error *err)
{
    char start[48], path[FILE_PATH_SIZE];
    (void)context;
    (void)err;
    (void)snprintf(start, sizeof start, "graphmill-%ld-", (long)geteuid());
    if (strncmp(name, start, strlen(start)) != 0 ||
        file_path(path, NULL, "%s/%s", folder, name) != ERROR_NONE)
        return ERROR_NONE;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return ERROR_NONE;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_ours(fd) && is_named(fd, path))
        (void)unlink(path);
    (void)close(fd);
    return ERROR_NONE;
}

/* Files that cannot be examined now are left to the next sweep. */
void shared_area_sweep(void)
{
    if (*folder)
        error_ignore(file_list(folder, sweep_file, NULL, NULL));
}

/* --- memory --- */

/* Maps the file at an address that is a multiple of 2 MB; only then can it have pages of that
 * size. */
static bool map_file(struct shared_area *area, int fd, size_t size)
{
    const size_t reserved = size + page_bytes;
    char *all = memory_reserve(reserved);
    if (!all)
        return false;
    char *start = all + (page_bytes - (uintptr_t)all % page_bytes) % page_bytes;
    if (mmap(start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        memory_unmap(all, reserved);
        return false;
    }
    (void)madvise(start, size, MADV_HUGEPAGE); /* for systems with shmem_enabled "advise" */
    area->mapped = all;
    area->mapped_bytes = reserved;
    area->bytes = start;
    return true;
}

/* Allocates memory for a run of 2 MB pages: it touches one small page of each, and asks the kernel
 * to make it a large one. If the kernel does not, the pages are small. Returns false if there is no
 * room. */
static bool take_run(const struct shared_area *area, int fd, size_t first, size_t end)
{
    for (size_t at = first; at < end; at += page_bytes)
        if (fallocate(fd, 0, (off_t)at, (off_t)small_page_bytes) != 0)
            return false;
    return madvise(area->bytes + first, end - first, MADV_COLLAPSE) == 0 ||
           fallocate(fd, 0, (off_t)first, (off_t)(end - first)) == 0;
}

/* Allocates memory for bytes [first, end) of the file, and for the rest of their pages. */
static bool take_memory(const struct shared_area *area, int fd, size_t file_size, size_t first,
                        size_t end)
{
    const size_t large_end = file_size / page_bytes * page_bytes;
    if (end > large_end && fallocate(fd, 0, (off_t)large_end, (off_t)(file_size - large_end)) != 0)
        return false;
    end = round_up(end, page_bytes);
    end = end < large_end ? end : large_end;
    for (size_t at = first / page_bytes * page_bytes; at < end; at += RUN_PAGES * page_bytes) {
        const size_t run_end = at + RUN_PAGES * page_bytes;
        if (!take_run(area, fd, at, run_end < end ? run_end : end))
            return false;
    }
    return true;
}

/* --- filling --- */

struct filling {
    const struct shared_area_content *content;
    const struct shared_area *area;
    int fd;               /* -1: private memory, which is allocated already */
    pthread_mutex_t lock; /* protects the fields below */
    bool is_full;         /* the folder has no room */
    enum error_code rc;
    struct error *err;
};

static bool goes_on(struct filling *f)
{
    (void)pthread_mutex_lock(&f->lock);
    const bool goes = f->rc == ERROR_NONE && !f->is_full;
    (void)pthread_mutex_unlock(&f->lock);
    return goes;
}

static void fill_piece(void *context, int64_t piece, int thread)
{
    struct filling *f = context;
    const uint64_t *start = &f->content->piece_start[piece];
    struct error err = {0};
    (void)thread;
    if (start[0] == start[1] || !goes_on(f))
        return;
    const bool has_room = f->fd < 0 || take_memory(f->area, f->fd, file_bytes(f->content),
                                                   (size_t)start[0], (size_t)start[1]);
    const enum error_code rc =
        has_room ? f->content->fill(f->content->context, piece, f->area->bytes + start[0], &err)
                 : ERROR_NONE;
    (void)pthread_mutex_lock(&f->lock);
    f->is_full = f->is_full || !has_room;
    if (rc != ERROR_NONE && f->rc == ERROR_NONE) {
        f->rc = rc;
        if (f->err)
            *f->err = err;
    }
    (void)pthread_mutex_unlock(&f->lock);
}

/* Fills the area; *is_full: the folder has no room for it. */
static enum error_code fill(const struct shared_area_content *content,
                            const struct shared_area *area, int fd, bool *is_full,
                            struct error *err)
{
    struct filling f = {.content = content, .area = area, .fd = fd, .err = err};
    must(pthread_mutex_init(&f.lock, NULL) == 0);
    thread_pool_run(content->pool, content->piece_count, fill_piece, &f);
    (void)pthread_mutex_destroy(&f.lock);
    *is_full = f.is_full;
    return f.rc;
}

static enum error_code open_private(const struct shared_area_content *content,
                                    struct shared_area *out, struct error *err)
{
    bool is_full = false;
    struct shared_area area = {.size = content->size, .bytes = memory_map(content->size)};
    if (!area.bytes)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes", content->what,
                         content->size);
    const enum error_code rc = fill(content, &area, -1, &is_full, err);
    if (rc == ERROR_NONE)
        *out = area;
    else
        shared_area_close(&area);
    return rc;
}

/* --- sharing --- */

enum claim { CLAIM_NONE, CLAIM_FILL, CLAIM_READ };

/* Waits for a lock on the file of an area, to read it or to fill it. Returns CLAIM_NONE if the
 * process that fills it makes no progress. */
static enum claim wait_for(int fd, const struct shared_area_content *content)
{
    struct stat status;
    int64_t since = clock_ms();
    blkcnt_t blocks = -1;
    while (fstat(fd, &status) == 0) {
        if (flock(fd, LOCK_SH | LOCK_NB) == 0 && is_whole(fd, content))
            return CLAIM_READ;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            if (!is_whole(fd, content))
                return CLAIM_FILL;
            /* it became so between the two calls, and may have readers that are between two
             * locks */
            continue;
        }
        if (status.st_blocks != blocks)
            since = clock_ms();
        blocks = status.st_blocks;
        if (clock_ms() - since > patience_ms)
            break;
        clock_sleep_ms(POLL_MS);
    }
    return CLAIM_NONE;
}

/* Opens the file and takes a lock on it; *fd is -1 without a claim. If the file was removed between
 * the two, it starts again, because no other process can find that file. */
static enum claim claim_file(const struct shared_area_content *content, const char *path, int *fd,
                             const char **why)
{
    for (int i = 0; i < OPEN_ATTEMPTS; i++) {
        *why = "no file can be made";
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd < 0)
            return CLAIM_NONE;
        const bool ours = is_ours(*fd);
        *why = ours ? "whoever fills it stands still" : "its name is taken by a file of others";
        const enum claim claim = ours ? wait_for(*fd, content) : CLAIM_NONE;
        if (claim != CLAIM_NONE && is_named(*fd, path))
            return claim;
        (void)close(*fd);
        *fd = -1;
        if (claim == CLAIM_NONE)
            return CLAIM_NONE;
    }
    return CLAIM_NONE;
}

/* Fills the file, which this process has locked exclusively. */
static enum error_code fill_file(const struct shared_area_content *content,
                                 struct shared_area *area, int fd, bool *is_full, struct error *err)
{
    const struct mark mark = mark_of(content);
    enum error_code rc = ERROR_NONE;
    *is_full = ftruncate(fd, 0) != 0 || ftruncate(fd, (off_t)file_bytes(content)) != 0 ||
               !map_file(area, fd, file_bytes(content));
    if (!*is_full)
        rc = fill(content, area, fd, is_full, err);
    if (rc == ERROR_NONE && !*is_full)
        *is_full = pwrite(fd, &mark, sizeof mark, (off_t)mark_offset(content)) != MARK_BYTES;
    return rc;
}

/* Opens a shared area. *why is NULL on success, otherwise the reason why it is not shared. */
static enum error_code open_shared(const struct shared_area_content *content,
                                   struct shared_area *out, const char **why, struct error *err)
{
    struct shared_area area = {.size = content->size, .is_shared = true, .name = content->name};
    char path[FILE_PATH_SIZE];
    bool is_full = false;
    int fd = -1;
    enum error_code rc = ERROR_NONE;
    if (path_of(&content->name, path) != ERROR_NONE)
        return ERROR_NONE;
    const enum claim claim = claim_file(content, path, &fd, why);
    if (claim == CLAIM_NONE)
        return ERROR_NONE;
    area.lock_plus_one = fd + 1;
    if (claim == CLAIM_FILL)
        rc = fill_file(content, &area, fd, &is_full, err);
    else
        is_full = !map_file(&area, fd, file_bytes(content));
    if (rc != ERROR_NONE || is_full) {
        *why = "there is no room";
        shared_area_close(&area);
        return rc;
    }
    (void)mprotect(area.bytes, file_bytes(content), PROT_READ);
    /* A sweep may remove the file between the release of one lock and the other; then the area is
     * simply ours alone. */
    (void)flock(fd, LOCK_SH);
    *why = NULL;
    *out = area;
    return ERROR_NONE;
}

enum error_code shared_area_open(const struct shared_area_content *content, struct shared_area *out,
                                 struct error *err)
{
    char size[32];
    enum error_code rc = ERROR_NONE;
    must(content->size > 0 && content->piece_start[content->piece_count] == content->size);
    const bool is_small = content->size < SHARED_AREA_BYTES_MIN;
    const char *why = is_small ? "it is too small for that" : "there is no folder";
    if (!is_small && *folder) {
        rc = open_shared(content, out, &why, err);
        shared_area_sweep();
    }
    if (rc != ERROR_NONE || !why)
        return rc;
    (void)text_size(content->size, size);
    if (content->only_shared)
        return error_set(err, ERROR_NO_MEMORY, "%s (%s) cannot be shared in %s: %s", content->what,
                         size, folder, why);
    if (!is_small && *folder)
        log_info("%s (%s) is in memory of this process alone, not shared in %s: %s", content->what,
                 size, folder, why);
    return open_private(content, out, err);
}

void shared_area_close(struct shared_area *area)
{
    char path[FILE_PATH_SIZE];
    const int fd = area->lock_plus_one - 1;
    if (area->is_shared)
        memory_unmap(area->mapped, area->mapped_bytes);
    else
        memory_unmap(area->bytes, area->size);
    /* A process that gets the exclusive lock is the last reader. */
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && path_of(&area->name, path) == ERROR_NONE &&
        is_named(fd, path))
        (void)unlink(path);
    if (fd >= 0)
        (void)close(fd);
    *area = (struct shared_area){0};
}
