#include "store/backends/scratch_space.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/files/private_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_RETRY_COUNT = 100, OWNER_SIZE = 256 };

#define LEASE_NAME "lease"

static void init_locks(struct scratch_space *space)
{
    pthread_condattr_t steady;
    must(pthread_mutex_init(&space->sweeping, NULL) == 0);
    must(pthread_mutex_init(&space->lock, NULL) == 0);
    must(pthread_condattr_init(&steady) == 0);
    must(pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) == 0);
    must(pthread_cond_init(&space->wake, &steady) == 0);
    (void)pthread_condattr_destroy(&steady);
}

static void close_lease(struct scratch_space *space)
{
    if (space->lease_plus_one)
        (void)close(space->lease_plus_one - 1);
    space->lease_plus_one = 0;
}

/* Drops the parent's space after a fork: the child has locks in an unknown state, no keeper, and a
 * descriptor that holds the lock of the parent's lease and would outlive the parent. */
static void leave_parent(struct scratch_space *space)
{
    if (!space->owner || space->owner == getpid())
        return;
    init_locks(space);
    close_lease(space);
    space->path[0] = '\0';
    space->owner = 0;
    space->has_keeper = false;
}

enum error_code scratch_space_init(struct scratch_space *space, const char *tmp, struct error *err)
{
    *space = (struct scratch_space){.touch_ms = SCRATCH_TOUCH_MS, .idle_ms = SCRATCH_IDLE_MS};
    init_locks(space);
    return file_path(space->tmp, err, "%s", tmp);
}

/* --- who we are --- */

/* Writes "<host> <boot id>", which identifies the running kernel. Returns false on a host that does
 * not show its boot id; its leases never count as ours. */
static bool describe_kernel(char text[OWNER_SIZE])
{
    char host[128] = "", boot[64] = "";
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t size = read(file, boot, sizeof boot - 1);
    (void)close(file);
    boot[strcspn(boot, "\n")] = '\0';
    must(gethostname(host, sizeof host - 1) == 0);
    (void)snprintf(text, OWNER_SIZE, "%s %s\n", host, boot);
    return size > 0 && *boot;
}

/* Writes the lease: the first line identifies the kernel, the second is for people. */
static enum error_code write_lease(int fd, const char *path, struct error *err)
{
    char kernel[OWNER_SIZE] = "unknown\n", text[OWNER_SIZE + 64];
    if (!describe_kernel(kernel))
        (void)snprintf(kernel, sizeof kernel, "unknown\n");
    const int size = snprintf(text, sizeof text, "%sprocess %ld\n", kernel, (long)getpid());
    return file_write_all(fd, text, (size_t)size, path, err);
}

static bool is_of_this_kernel(int fd)
{
    char ours[OWNER_SIZE], text[OWNER_SIZE + 64] = "";
    const ssize_t size = pread(fd, text, sizeof text - 1, 0);
    if (size <= 0 || !describe_kernel(ours))
        return false;
    return strncmp(text, ours, strlen(ours)) == 0;
}

/* --- our own space --- */

/* Makes the space under a name that no process takes for a space, and locks it before it gets its
 * real name: no process ever sees the space of a live owner with a free lock. */
static enum error_code make_locked(const char *building, int *lease, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/%s", building, LEASE_NAME);
    if (rc == ERROR_NONE && mkdir(building, 0777) != 0)
        rc = error_set_errno(err, ERROR_IO, "folder %s cannot be made", building);
    if (rc != ERROR_NONE)
        return rc;
    *lease = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*lease < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", path);
    /* without file locks, other processes go by the lease's age */
    (void)flock(*lease, LOCK_EX | LOCK_NB);
    return write_lease(*lease, path, err);
}

/* Removes group and other permissions, because older versions made the folder with those that umask
 * left. */
static enum error_code make_private(const char *path, struct error *err)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0077))
        (void)fchmod(fd, 0700);
    if (fd >= 0)
        (void)close(fd);
    return private_folder_make(path, err);
}

/* Tries to make the space. *gone: a folder that existed a moment ago does not, because the whole
 * store was lost. */
static enum error_code try_to_make_space(struct scratch_space *space, bool *gone, struct error *err)
{
    char building[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    const uint64_t name = host_random_64();
    int lease = -1;
    enum error_code rc = file_path(building, err, "%s/.%016" PRIx64, space->tmp, name);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/%016" PRIx64, space->tmp, name);
    if (rc == ERROR_NONE)
        rc = space->is_private ? make_private(space->tmp, err) : file_make_folders(space->tmp, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = make_locked(building, &lease, err);
    if (rc == ERROR_NONE)
        rc = file_rename(building, path, err);
    *gone = rc != ERROR_NONE && errno == ENOENT;
    if (rc != ERROR_NONE) {
        if (lease >= 0)
            (void)close(lease);
        (void)!file_remove_all(building, NULL); /* else it is removed when it is old enough */
        return rc;
    }
    close_lease(space);
    memcpy(space->path, path, sizeof path);
    space->lease_plus_one = lease + 1;
    space->owner = getpid();
    return ERROR_NONE;
}

static enum error_code make_space(struct scratch_space *space, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool gone = true;
    for (int i = 0; gone && i < NAME_RETRY_COUNT; i++) {
        gone = false;
        rc = try_to_make_space(space, &gone, err);
    }
    return rc;
}

static void *keep(void *context);

/* Starts the keeper. If that fails, the store still works: the lock shows that it is alive. Signals
 * are blocked in the keeper, so that they reach the threads that wait for them. */
static void start_keeper(struct scratch_space *space)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    space->has_keeper = pthread_create(&space->keeper, NULL, keep, space) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Makes the space. `lost` is the path of a space in which no file could be made, or NULL. */
static enum error_code open_space(struct scratch_space *space, const char *lost, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    leave_parent(space);
    (void)pthread_mutex_lock(&space->lock);
    if (!space->path[0] || (lost && strcmp(lost, space->path) == 0))
        rc = make_space(space, err);
    if (rc == ERROR_NONE && !space->has_keeper)
        start_keeper(space);
    (void)pthread_mutex_unlock(&space->lock);
    return rc;
}

static enum error_code next_name(struct scratch_space *space, char own[FILE_PATH_SIZE],
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    enum error_code rc = open_space(space, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)pthread_mutex_lock(&space->lock);
    memcpy(own, space->path, FILE_PATH_SIZE);
    (void)pthread_mutex_unlock(&space->lock);
    return file_path(path, err, "%s/%ld", own, atomic_fetch_add(&space->next, 1));
}

enum error_code scratch_space_free_name(struct scratch_space *space, char path[FILE_PATH_SIZE],
                                        struct error *err)
{
    char own[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = next_name(space, own, path, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(own, &found, err);
    if (rc != ERROR_NONE || found)
        return rc;
    rc = open_space(space, own, err);
    return rc == ERROR_NONE ? next_name(space, own, path, err) : rc;
}

/* Makes something at a free path. Returns a file descriptor, or 0 for a folder; -1 with errno. */
typedef int (*scratch_maker)(const char *path);

static int make_folder(const char *path)
{
    return mkdir(path, 0777);
}

static int make_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Makes something in the space. If another process removed the space meanwhile, makes it again. */
static enum error_code make_in_space(struct scratch_space *space, scratch_maker make,
                                     char path[FILE_PATH_SIZE], int *made, struct error *err)
{
    char own[FILE_PATH_SIZE];
    for (int i = 0; i < NAME_RETRY_COUNT; i++) {
        enum error_code rc = next_name(space, own, path, err);
        if (rc != ERROR_NONE)
            return rc;
        *made = make(path);
        if (*made >= 0)
            return ERROR_NONE;
        if (errno != ENOENT)
            break;
        rc = open_space(space, own, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return error_set_errno(err, ERROR_IO, "%s cannot be made", path);
}

enum error_code scratch_space_folder(struct scratch_space *space, char path[FILE_PATH_SIZE],
                                     struct error *err)
{
    int made = -1;
    return make_in_space(space, make_folder, path, &made, err);
}

enum error_code scratch_space_file(struct scratch_space *space, char path[FILE_PATH_SIZE], int *fd,
                                   struct error *err)
{
    return make_in_space(space, make_file, path, fd, err);
}

/* --- the others' --- */

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Returns whether `name`, last touched at `touched`, has not changed for idle_ms while this process
 * watched. If there are more entries than `seen` can hold, they are watched once others are
 * gone. */
static bool is_idle(struct scratch_space *space, const char *name, const struct timespec *touched)
{
    const uint64_t hash = checksum_64(name, strlen(name)) | 1;
    const int64_t now = clock_ms();
    struct scratch_seen *place = NULL;
    for (int i = 0; i < SCRATCH_SEEN_COUNT && (!place || place->name != hash); i++)
        if (space->seen[i].name == hash || (!place && !space->seen[i].name))
            place = &space->seen[i];
    if (!place)
        return false;
    if (place->name != hash || !is_same_time(&place->touched, touched))
        *place = (struct scratch_seen){.name = hash, .touched = *touched, .since_ms = now};
    return now - place->since_ms >= space->idle_ms;
}

static void forget(struct scratch_space *space, const char *name)
{
    const uint64_t hash = checksum_64(name, strlen(name)) | 1;
    for (int i = 0; i < SCRATCH_SEEN_COUNT; i++)
        if (space->seen[i].name == hash)
            space->seen[i] = (struct scratch_seen){0};
}

/* Returns whether the owner of a space is dead. The lock of a dead space stays ours until its lease
 * is removed. */
static bool is_dead(struct scratch_space *space, const char *name, const char *path, int *lease)
{
    char lease_path[FILE_PATH_SIZE];
    struct stat status;
    *lease = -1;
    if (file_path(lease_path, NULL, "%s/%s", path, LEASE_NAME) != ERROR_NONE)
        return false;
    const bool is_space = name[0] != '.' && strlen(name) == 16;
    if (is_space)
        *lease = open(lease_path, O_RDWR | O_CLOEXEC);
    if (*lease >= 0) {
        const bool locked = flock(*lease, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno == EWOULDBLOCK)
            return false;
        if (locked && is_of_this_kernel(*lease))
            return true;
        return fstat(*lease, &status) == 0 && is_idle(space, name, &status.st_mtim);
    }
    return lstat(path, &status) == 0 && is_idle(space, name, &status.st_mtim);
}

struct sweep {
    struct scratch_space *space;
    char own[FILE_PATH_SIZE];
};

static enum error_code sweep_one(const struct sweep *sweep, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE], apart[FILE_PATH_SIZE];
    int lease = -1;
    enum error_code rc = file_path(path, err, "%s/%s", sweep->space->tmp, name);
    if (rc != ERROR_NONE || strcmp(path, sweep->own) == 0)
        return rc;
    const bool dead = is_dead(sweep->space, name, path, &lease);
    if (dead)
        forget(sweep->space, name);
    if (dead)
        rc = file_path(apart, err, "%s/.%016" PRIx64, sweep->space->tmp, host_random_64());
    /* The space is renamed first: if its owner lives after all, it finds no space instead of half
     * of one. */
    if (dead && rc == ERROR_NONE && rename(path, apart) == 0)
        rc = file_remove_all(apart, err);
    if (lease >= 0)
        (void)close(lease);
    return rc;
}

/* Sweeps all spaces. Does not use file_list(), so that the keeper's allocations do not count in
 * memory.h, whose counts and limits are for the threads that work. */
static enum error_code sweep_all(const struct sweep *sweep, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const struct dirent *entry = NULL;
    DIR *folder = opendir(sweep->space->tmp);
    if (!folder)
        return errno == ENOENT
                   ? ERROR_NONE
                   : error_set_errno(err, ERROR_IO, "%s cannot be read", sweep->space->tmp);
    while (rc == ERROR_NONE && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = sweep_one(sweep, entry->d_name, err);
    (void)closedir(folder);
    return rc;
}

enum error_code scratch_space_sweep(struct scratch_space *space, struct error *err)
{
    struct sweep sweep = {.space = space};
    if (space->is_private) {
        const enum error_code checked = private_folder_check(space->tmp, err);
        if (checked != ERROR_NONE)
            return checked == ERROR_NOT_FOUND ? ERROR_NONE : checked;
    }
    (void)pthread_mutex_lock(&space->lock);
    memcpy(sweep.own, space->path, sizeof sweep.own);
    (void)pthread_mutex_unlock(&space->lock);
    (void)pthread_mutex_lock(&space->sweeping);
    const enum error_code rc = sweep_all(&sweep, err);
    (void)pthread_mutex_unlock(&space->sweeping);
    return rc;
}

/* --- the keeper --- */

static struct timespec after_ms(int64_t ms)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += ms / 1000;
    time.tv_nsec += ms % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* Touches the lease, with the time of the file's server. Releases the lock meanwhile, since a
 * server may be slow. */
static void touch_lease(struct scratch_space *space)
{
    const int lease = fcntl(space->lease_plus_one - 1, F_DUPFD_CLOEXEC, 0);
    (void)pthread_mutex_unlock(&space->lock);
    if (lease >= 0) {
        (void)futimens(lease, NULL);
        (void)close(lease);
    }
}

/* Runs the keeper. What a failed sweep leaves, the next one finds again. */
static void *keep(void *context)
{
    struct scratch_space *space = context;
    (void)pthread_mutex_lock(&space->lock);
    while (!space->is_closing) {
        touch_lease(space);
        (void)!scratch_space_sweep(space, NULL);
        (void)pthread_mutex_lock(&space->lock);
        const struct timespec until = after_ms(space->touch_ms);
        while (!space->is_closing &&
               pthread_cond_timedwait(&space->wake, &space->lock, &until) == 0)
            continue;
    }
    (void)pthread_mutex_unlock(&space->lock);
    return NULL;
}

enum error_code scratch_space_init_on_host(struct scratch_space *space, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const char *base = getenv("TMPDIR");
    enum error_code rc = file_path(folder, err, "%s/graphmill-scratch-%ld",
                                   base && *base ? base : "/tmp", (long)geteuid());
    if (rc == ERROR_NONE)
        rc = scratch_space_init(space, folder, err);
    space->is_private = true;
    return rc;
}

void scratch_space_close(struct scratch_space *space)
{
    leave_parent(space);
    (void)pthread_mutex_lock(&space->lock);
    space->is_closing = true;
    (void)pthread_cond_signal(&space->wake);
    (void)pthread_mutex_unlock(&space->lock);
    if (space->has_keeper)
        (void)pthread_join(space->keeper, NULL);
    if (space->path[0])
        (void)!file_remove_all(space->path, NULL); /* else another process sweeps it */
    close_lease(space);
    (void)pthread_cond_destroy(&space->wake);
    (void)pthread_mutex_destroy(&space->lock);
    (void)pthread_mutex_destroy(&space->sweeping);
    space->path[0] = '\0';
}

enum error_code scratch_space_remove(struct scratch_space *space, const char *path,
                                     struct error *err)
{
    enum { NAME_SIZE = 16 }; /* of the space itself, which must stay */
    char folder[FILE_PATH_SIZE];
    const size_t tmp = strlen(space->tmp);
    const enum error_code rc = file_remove_all(path, err);
    if (rc == ERROR_NONE && strncmp(path, space->tmp, tmp) == 0 &&
        text_copy(folder, sizeof folder, path)) {
        *strrchr(folder, '/') = '\0';
        if (strlen(folder) > tmp + 1 + NAME_SIZE)
            (void)rmdir(folder);
    }
    return rc;
}
