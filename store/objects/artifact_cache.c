#include "store/objects/artifact_cache.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/private_folder.h"
#include "store/objects/object_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_ATTEMPTS = 1000, POLL_MS = 5, SIZE_TEXT = 24 };

/* Largest piece of a file that is read at a time; remote backends read it in parallel ranges. Two
 * pieces are in memory. */
static const size_t piece_bytes_max = (size_t)16 << 20;
static const char lock_suffix[] = ".lock";

/* --- names --- */

/* Makes the user's folder of copies, if it is missing. No other user may write there. */
static enum error_code cache_folder(const struct store *store, char folder[FILE_PATH_SIZE],
                                    struct error *err)
{
    const enum error_code rc = file_path(folder, err, "%s/graphmill-cache-%ld",
                                         store_cache_of(store)->folder, (long)geteuid());
    return rc == ERROR_NONE ? private_folder_make(folder, err) : rc;
}

/* Returns the name of a copy; a random one if the copy is for one caller alone. */
static struct checksum name_of(const struct artifact_request *request)
{
    static const char kind[] = "artifact, version 1";
    const uint64_t own = host_random_64();
    const struct checksum_part part[] = {
        {kind, sizeof kind},
        {request->key, strlen(request->key)},
        {request->seal ? (const void *)request->seal : (const void *)&own,
         request->seal ? sizeof *request->seal : sizeof own}};
    return checksum_of_parts(part, sizeof part / sizeof *part);
}

static bool is_named(int fd, const char *path)
{
    struct stat opened, there;
    return fstat(fd, &opened) == 0 && stat(path, &there) == 0 && opened.st_dev == there.st_dev &&
           opened.st_ino == there.st_ino;
}

/* --- room --- */

/* The size of all copies, and the unused one that was used least recently. */
struct survey {
    const char *folder;
    uint64_t bytes;
    bool found;
    struct timespec oldest;
    char name[CHECKSUM_TEXT_SIZE];
};

static uint64_t size_in(int fd)
{
    char text[SIZE_TEXT] = "";
    int64_t size = 0;
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    return n > 0 && text_int64(text, (size_t)n, &size) && size > 0 ? (uint64_t)size : 0;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    struct survey *s = context;
    struct stat status;
    char path[FILE_PATH_SIZE];
    const size_t digits = CHECKSUM_TEXT_SIZE - 1;
    (void)err;
    if (strlen(name) != digits + sizeof lock_suffix - 1 ||
        strcmp(name + digits, lock_suffix) != 0 ||
        file_path(path, NULL, "%s/%s", s->folder, name) != ERROR_NONE)
        return ERROR_NONE;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return ERROR_NONE;
    s->bytes += size_in(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 &&
        (!s->found || is_before(&status.st_mtim, &s->oldest))) {
        s->found = true;
        s->oldest = status.st_mtim;
        (void)snprintf(s->name, sizeof s->name, "%.*s", (int)digits, name);
    }
    (void)close(fd);
    return ERROR_NONE;
}

/* Removes a copy that nobody uses. Returns whether it did. */
static bool remove_unused(const char *folder, const char *name)
{
    char path[FILE_PATH_SIZE], lock[FILE_PATH_SIZE];
    if (file_path(path, NULL, "%s/%s", folder, name) != ERROR_NONE ||
        file_path(lock, NULL, "%s%s", path, lock_suffix) != ERROR_NONE)
        return false;
    const int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const bool removes = flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, lock) &&
                         file_remove_all(path, NULL) == ERROR_NONE && unlink(lock) == 0;
    (void)close(fd);
    return removes;
}

/* Removes unused copies until `bytes` more fit the budget. Returns false if they do not. */
static bool make_room(const char *folder, uint64_t bytes, uint64_t budget)
{
    for (;;) {
        struct survey survey = {.folder = folder};
        if (file_list(folder, look_at, &survey, NULL) != ERROR_NONE)
            return false;
        if (survey.bytes + bytes <= budget)
            return true;
        if (!survey.found || !remove_unused(folder, survey.name))
            return false;
    }
}

/* --- download --- */

/* A piece of a file that is being read from the store. */
struct piece {
    const struct fetch *fetch;
    const char *file;
    uint64_t at;
    size_t size;
    char *bytes;
    enum error_code rc;
    struct error err;
    bool has_thread; /* a thread reads the piece */
    pthread_t thread;
};

struct fetch {
    const struct artifact_request *request;
    const struct object_backend *backend;
    void *state;
    const char *to;          /* file or folder */
    int lock;                /* of the copy */
    uint64_t bytes, largest; /* bytes of all files; largest file */
    size_t piece_bytes;
    char *buffer; /* [2][piece_bytes] */
    struct checksum_stream *sum;
};

static enum error_code add_size(void *context, const char *file, uint64_t size, struct error *err)
{
    struct fetch *f = context;
    (void)file;
    (void)err;
    f->bytes += size;
    if (size > f->largest)
        f->largest = size;
    return ERROR_NONE;
}

static void *read_piece(void *context)
{
    struct piece *p = context;
    const struct fetch *f = p->fetch;
    for (size_t done = 0; p->rc == ERROR_NONE && done < p->size;) {
        size_t got = 0;
        p->rc = f->backend->get_range(f->state, f->request->key, p->file, p->at + done,
                                      p->bytes + done, p->size - done, &got, &p->err);
        if (p->rc == ERROR_NONE && got == 0)
            p->rc =
                error_set(&p->err, ERROR_IO,
                          "artifact %s: file %s ends after %" PRIu64 " bytes, expected %zu more",
                          f->request->key, p->file, p->at + done, p->size - done);
        (void)futimens(f->lock, NULL); /* shows progress to those who wait */
        done += got;
    }
    return NULL;
}

/* Begins to read piece number `i` of a file, at `at`. A thread reads it while the piece before is
 * hashed and written. The first piece has none before it, so it is read here, as is any piece if no
 * thread can be started. */
static void begin_piece(const struct fetch *f, const char *file, uint64_t size, uint64_t at,
                        struct piece *p)
{
    const uint64_t left = size - at;
    *p = (struct piece){.fetch = f,
                        .file = file,
                        .at = at,
                        .size = left < f->piece_bytes ? (size_t)left : f->piece_bytes,
                        .bytes = f->buffer + (at / f->piece_bytes % 2) * f->piece_bytes};
    p->has_thread = at != 0 && pthread_create(&p->thread, NULL, read_piece, p) == 0;
    if (!p->has_thread)
        (void)read_piece(p);
}

static void end_piece(struct piece *p)
{
    if (p->has_thread)
        must(pthread_join(p->thread, NULL) == 0);
    p->has_thread = false;
}

static enum error_code keep_piece(const struct fetch *f, const struct piece *p, int fd,
                                  const char *path, struct error *err)
{
    if (p->rc != ERROR_NONE) {
        if (err)
            *err = p->err;
        return p->rc;
    }
    const enum error_code rc = file_write_all(fd, p->bytes, p->size, path, err);
    if (rc == ERROR_NONE)
        checksum_stream_add(f->sum, p->bytes, p->size);
    return rc;
}

static enum error_code fetch_bytes(const struct fetch *f, const char *file, uint64_t size, int fd,
                                   const char *path, struct error *err)
{
    struct piece piece[2] = {{.rc = ERROR_NONE}};
    enum error_code rc = ERROR_NONE;
    if (size)
        begin_piece(f, file, size, 0, &piece[0]);
    for (uint64_t at = 0, i = 0; rc == ERROR_NONE && at < size; i++) {
        struct piece *now = &piece[i % 2], *next = &piece[(i + 1) % 2];
        end_piece(now);
        at += now->size;
        if (now->rc == ERROR_NONE && at < size)
            begin_piece(f, file, size, at, next);
        rc = keep_piece(f, now, fd, path, err);
    }
    end_piece(&piece[0]); /* it was begun, but an earlier piece could not be written */
    end_piece(&piece[1]);
    return rc;
}

static enum error_code fetch_file(void *context, const char *file, uint64_t size, struct error *err)
{
    const struct fetch *f = context;
    char path[FILE_PATH_SIZE], folder[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s%s%s", f->to, *file ? "/" : "", file);
    if (rc == ERROR_NONE)
        rc = file_path(folder, err, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (rc == ERROR_NONE)
        rc = file_make_folders(folder, err);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", path);
    rc = fetch_bytes(f, file, size, fd, path, err);
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be closed", path);
    return rc;
}

static enum error_code note_size(int fd, uint64_t bytes, struct error *err)
{
    char text[SIZE_TEXT];
    const int size = snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)size, 0) != size)
        return error_set_errno(err, ERROR_IO, "the lock of a copy cannot be written");
    return ERROR_NONE;
}

/* Downloads the artifact to handle->path, whole. `fd` is its exclusive lock. */
static enum error_code fetch(const struct artifact_request *request, const char *folder, int fd,
                             struct artifact_handle *handle, struct error *err)
{
    char incomplete[FILE_PATH_SIZE];
    struct fetch f = {.request = request, .to = incomplete, .lock = fd};
    bool found = false;
    f.backend = store_backend_of(request->store, &f.state);
    enum error_code rc = file_path(incomplete, err, "%s.incomplete", handle->path);
    if (rc == ERROR_NONE)
        rc = file_remove_all(incomplete, err); /* left by a killed process */
    if (rc == ERROR_NONE)
        rc = f.backend->files(f.state, request->key, add_size, &f, err);
    if (rc == ERROR_NONE)
        rc = note_size(fd, f.bytes, err);
    if (rc == ERROR_NONE && !make_room(folder, 0, store_cache_of(request->store)->budget_bytes))
        handle->goes = true;
    f.piece_bytes = f.largest < piece_bytes_max ? (size_t)f.largest : piece_bytes_max;
    f.piece_bytes += f.piece_bytes == 0;
    if (rc == ERROR_NONE)
        rc = memory_new(&f.buffer, (f.largest > f.piece_bytes ? 2 : 1) * f.piece_bytes,
                        "pieces of an artifact", err);
    if (rc == ERROR_NONE)
        rc = checksum_stream_new(&f.sum, err);
    if (rc == ERROR_NONE)
        rc = f.backend->files(f.state, request->key, fetch_file, &f, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(incomplete, &found, err);
    if (rc == ERROR_NONE && !found) /* an artifact without files */
        rc = file_make_folders(incomplete, err);
    if (rc == ERROR_NONE)
        rc = file_rename(incomplete, handle->path, err);
    if (rc == ERROR_NONE) {
        handle->is_fresh = true;
        handle->sum = checksum_stream_sum(f.sum);
    } else if (file_remove_all(incomplete, NULL) != ERROR_NONE) {
        /* the next process tries again */
    }
    checksum_stream_free(f.sum);
    memory_free(f.buffer);
    return rc;
}

/* --- acquiring --- */

/* A wait for a lock that another process holds. */
struct waiting {
    int64_t most_ms, since_ms; /* longest time without progress; time since the last touch */
    struct timespec touched;
};

static bool is_patient(struct waiting *w, int fd)
{
    struct stat status;
    const int64_t now = clock_ms();
    if (fstat(fd, &status) == 0 && (!w->since_ms || is_before(&w->touched, &status.st_mtim))) {
        w->touched = status.st_mtim;
        w->since_ms = now;
    }
    return now - w->since_ms < w->most_ms;
}

/* The result of locking a copy. */
enum lock_state {
    LOCK_OF_READER,  /* shared: we read the copy that is there */
    LOCK_OF_FETCHER, /* exclusive: there is no copy */
    LOCK_GONE,       /* the copy was removed meanwhile; there may be another */
    LOCK_STANDS,     /* another process holds it and makes no progress */
};

static enum error_code take_lock(int fd, const char *path, const char *lock, int64_t wait_ms,
                                 enum lock_state *out, struct error *err)
{
    struct waiting waiting = {.most_ms = wait_ms};
    for (;;) {
        bool found = false;
        enum error_code rc = ERROR_NONE;
        if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
            rc = file_is_there(path, &found, err);
            *out = LOCK_OF_READER;
            if (rc != ERROR_NONE || found)
                return rc;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            rc = file_is_there(path, &found, err);
            *out = LOCK_OF_FETCHER;
            if (rc != ERROR_NONE || !found)
                return rc;
            continue; /* the copy appeared between the two locks */
        }
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_set_errno(err, ERROR_IO, "%s cannot be locked", lock);
        *out = is_named(fd, lock) ? LOCK_STANDS : LOCK_GONE;
        if (*out == LOCK_GONE || !is_patient(&waiting, fd))
            return ERROR_NONE;
        clock_sleep_ms(POLL_MS);
    }
}

/* Checks that the store has the artifact. The copy may belong to an equal artifact in another
 * store, or to one that was removed; code that makes artifacts would then believe that it
 * exists. */
static enum error_code expect_in_store(const struct artifact_request *request, struct error *err)
{
    bool found = false;
    const enum error_code rc = store_has(request->store, request->key, &found, err);
    return rc != ERROR_NONE || found
               ? rc
               : error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", request->key);
}

static enum error_code open_copy(const struct artifact_request *request, const char *folder,
                                 const char *lock, struct artifact_handle *handle,
                                 enum lock_state *state, struct error *err)
{
    const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be opened", lock);
    enum error_code rc =
        take_lock(fd, handle->path, lock, store_cache_of(request->store)->wait_ms, state, err);
    if (rc == ERROR_NONE && *state != LOCK_STANDS && !is_named(fd, lock))
        *state = LOCK_GONE; /* evicted before we had the lock */
    if (rc == ERROR_NONE && *state == LOCK_OF_READER)
        rc = expect_in_store(request, err);
    if (rc == ERROR_NONE && *state == LOCK_OF_FETCHER)
        rc = fetch(request, folder, fd, handle, err);
    if (rc != ERROR_NONE || *state == LOCK_GONE || *state == LOCK_STANDS) {
        if (rc != ERROR_NONE && *state == LOCK_OF_FETCHER)
            (void)unlink(lock);
        (void)close(fd);
        return rc;
    }
    (void)futimens(fd, NULL); /* marks it as used now */
    if (*state == LOCK_OF_FETCHER)
        (void)flock(fd, LOCK_SH);
    handle->lock_plus_one = fd + 1;
    return ERROR_NONE;
}

static enum error_code acquire_named(const struct artifact_request *request,
                                     struct artifact_handle *handle, enum lock_state *state,
                                     struct error *err)
{
    char folder[FILE_PATH_SIZE], lock[FILE_PATH_SIZE], digits[CHECKSUM_TEXT_SIZE];
    const struct checksum name = name_of(request);
    checksum_text(&name, digits);
    handle->is_copy = true;
    handle->goes = !request->seal;
    *state = LOCK_GONE;
    enum error_code rc = cache_folder(request->store, folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(handle->path, err, "%s/%s", folder, digits);
    if (rc == ERROR_NONE)
        rc = file_path(lock, err, "%s%s", handle->path, lock_suffix);
    for (int i = 0; rc == ERROR_NONE && *state == LOCK_GONE && i < OPEN_ATTEMPTS; i++)
        rc = open_copy(request, folder, lock, handle, state, err);
    return rc == ERROR_NONE && *state == LOCK_GONE
               ? error_set(err, ERROR_BUSY, "%s is removed each time it appears", lock)
               : rc;
}

static enum error_code acquire_copy(const struct artifact_request *request,
                                    struct artifact_handle *handle, struct error *err)
{
    enum lock_state state = LOCK_GONE;
    struct artifact_request own = *request;
    own.seal = NULL; /* makes the name private to this caller */
    if (store_cache_of(request->store)->is_bypassed)
        request = &own;
    enum error_code rc = acquire_named(request, handle, &state, err);
    if (rc == ERROR_NONE && state == LOCK_STANDS)
        rc = acquire_named(&own, handle, &state, err);
    return rc == ERROR_NONE && state == LOCK_STANDS
               ? error_set(err, ERROR_BUSY, "%s cannot be locked", handle->path)
               : rc;
}

enum error_code artifact_acquire(const struct artifact_request *request,
                                 struct artifact_handle *out, struct error *err)
{
    const unsigned can = store_capabilities(request->store);
    const bool in_place =
        can & STORE_HAS_PATHS && (!request->is_mapped || can & STORE_IS_LOCAL ||
                                  store_cache_of(request->store)->storage_is_local);
    *out = (struct artifact_handle){.path = ""};
    enum error_code rc = in_place ? store_artifact(request->store, request->key, out->path, err)
                                  : acquire_copy(request, out, err);
    if (rc != ERROR_NONE)
        *out = (struct artifact_handle){.path = ""};
    return rc;
}

void artifact_release(struct artifact_handle *handle)
{
    char lock[FILE_PATH_SIZE];
    const int fd = handle->lock_plus_one - 1;
    if (fd >= 0) {
        if (handle->goes && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            file_path(lock, NULL, "%s%s", handle->path, lock_suffix) == ERROR_NONE &&
            is_named(fd, lock) && file_remove_all(handle->path, NULL) == ERROR_NONE)
            (void)unlink(lock);
        (void)close(fd);
    }
    *handle = (struct artifact_handle){.path = ""};
}

/* Discards a copy. Processes that have it open keep their files. The copy is removed before the
 * name of its lock: a process that waits for the lock then finds both gone, and downloads again. */
void artifact_discard(struct artifact_handle *handle)
{
    char lock[FILE_PATH_SIZE];
    if (handle->is_copy && file_path(lock, NULL, "%s%s", handle->path, lock_suffix) == ERROR_NONE &&
        is_named(handle->lock_plus_one - 1, lock) &&
        file_remove_all(handle->path, NULL) == ERROR_NONE)
        (void)unlink(lock);
    artifact_release(handle);
}
