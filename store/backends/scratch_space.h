/*
 * scratch_space - the part of a store's tmp/ folder that one process writes in, and the removal of
 * the parts that dead processes left.
 *
 *   tmp/<16 random digits>/         the space of one open store, from first use to close
 *   tmp/<16 random digits>/lease    names the owner; locked (flock) while it lives; touched each
 *                                   minute
 *   tmp/<16 random digits>/<n>      a scratch file or folder
 *   tmp/.<16 random digits>         a space that is being made or taken apart
 *
 * Files that a killed process left must be removed, and files that a live process writes must not,
 * whichever host looks. Containers have the same process numbers and may share host names; clocks
 * are set back and forth; a process may be stopped for hours (SIGSTOP, a paused machine). So
 * nothing is concluded from names, process numbers or the time of day:
 *
 *   - If the lock of a lease is held, the owner is alive. The kernel releases the lock when the
 *     owner ends, in whatever way.
 *   - If the lock is free and the owner ran on this very kernel (the lease has its boot id and host
 *     name), the owner is dead.
 *   - If the lock is free and the owner ran on another host, the file system may not share locks
 *     between hosts. Such a space is removed when its lease was not touched for SCRATCH_IDLE_MS
 *     while this process watched, by its own monotonic clock. Any other entry of tmp/ is removed by
 *     the same rule.
 *
 * An owner whose space was removed nevertheless finds its files missing and makes another space.
 *
 * Threads: several may use a space at once; after a fork, one thread makes the first call. A thread
 * of its own (the keeper) touches the lease and checks the other spaces.
 */
#ifndef STORE_BACKENDS_SCRATCH_SPACE_H
#define STORE_BACKENDS_SCRATCH_SPACE_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { SCRATCH_TOUCH_MS = 60 * 1000, SCRATCH_IDLE_MS = 15 * 60 * 1000, SCRATCH_SEEN_COUNT = 64 };

/* Records when an entry of tmp/ that is not ours was last seen to change. */
struct scratch_seen {
    uint64_t name; /* hash of the entry's name; 0: the slot is free */
    struct timespec touched;
    int64_t since_ms; /* by the monotonic clock */
};

struct scratch_space {
    char tmp[FILE_PATH_SIZE];
    int64_t touch_ms, idle_ms; /* SCRATCH_TOUCH_MS, SCRATCH_IDLE_MS; tests set others */
    atomic_long next;          /* number of the next scratch file */
    pthread_mutex_t sweeping;  /* guards `seen` */
    struct scratch_seen seen[SCRATCH_SEEN_COUNT];
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t wake;  /* tells the keeper to end */
    /* any user could have made `tmp`, so it is checked before each use */
    bool is_private;
    char path[FILE_PATH_SIZE]; /* "" before the first use */
    int lease_plus_one;        /* descriptor that holds the lock, plus one */
    _Atomic(pid_t) owner;      /* a forked process makes its own space; read without the lock */
    bool has_keeper, is_closing;
    pthread_t keeper;
};

/* Initialises a space in the folder `tmp`, which is not touched before the first use. */
MUST_CHECK enum error_code scratch_space_init(struct scratch_space *space, const char *tmp,
                                              struct error *err);
/* Initialises a space in the host's folder for temporary files, for stores that have no file
 * system. Each user has a folder there. Later calls fail with ERROR_DENIED if another user made
 * that folder, or if it is a link. */
MUST_CHECK enum error_code scratch_space_init_on_host(struct scratch_space *space,
                                                      struct error *err);
/* Removes the space and everything in it. */
void scratch_space_close(struct scratch_space *space);

/* Makes an empty folder. */
MUST_CHECK enum error_code scratch_space_folder(struct scratch_space *space,
                                                char path[FILE_PATH_SIZE], struct error *err);
/* Makes an empty file, open for writing. The caller closes *fd. */
MUST_CHECK enum error_code scratch_space_file(struct scratch_space *space,
                                              char path[FILE_PATH_SIZE], int *fd,
                                              struct error *err);
/* Writes a path that does not exist, as the target of a rename. */
MUST_CHECK enum error_code scratch_space_free_name(struct scratch_space *space,
                                                   char path[FILE_PATH_SIZE], struct error *err);
/* Removes `path`, and the scratch folder around it if that is empty then. */
MUST_CHECK enum error_code scratch_space_remove(struct scratch_space *space, const char *path,
                                                struct error *err);
/* Removes what dead processes left, as far as that can be decided now. The keeper does this each
 * minute. */
MUST_CHECK enum error_code scratch_space_sweep(struct scratch_space *space, struct error *err);

#endif
