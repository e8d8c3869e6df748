/*
 * scratch_space - the part of a store's tmp/ folder that one process writes in, and the end of those of the dead.
 *
 *   tmp/<16 random digits>/         the space of one open store: made at its first need, removed when it closes
 *   tmp/<16 random digits>/lease    who has it; locked (flock) as long as its owner lives, touched each minute
 *   tmp/<16 random digits>/<n>      a scratch file or folder
 *   tmp/.<16 random digits>         a space that is being made, or taken apart
 *
 * What a killed process leaves must go, and what a live one writes must not, whoever looks: containers have the
 * same process numbers, share host names or not, clocks are set back and forth, processes stand still for hours
 * (SIGSTOP, a paused machine). So nothing is concluded from names, process numbers or from the time of day:
 *
 *   - A lease whose lock is held is alive. The kernel gives the lock up when the owner ends, however it ends.
 *   - A free lock of an owner that runs on this very kernel (the lease has its boot id and host name) is the lock
 *     of a dead one.
 *   - A free lock of another host's owner may be one that the file system does not carry over hosts. Such a
 *     space goes when its lease was not touched for SCRATCH_IDLE_MS while we looked on, by our own steady clock.
 *     So does whatever else lies in tmp/.
 *
 * An owner whose space was taken away all the same finds its files missing and makes another space.
 *
 * Threads: may be used by several at once; a fork's first use by one. A thread of its own touches the lease and looks at the others'.
 */
#ifndef STORE_BACKENDS_SCRATCH_SPACE_H
#define STORE_BACKENDS_SCRATCH_SPACE_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { SCRATCH_TOUCH_MS = 60 * 1000, SCRATCH_IDLE_MS = 15 * 60 * 1000, SCRATCH_SEEN_COUNT = 64 };

/* When something in tmp/ that is not ours was last seen to change. */
struct scratch_seen {
    uint64_t name; /* its hash; 0: a free place */
    struct timespec touched;
    int64_t since_ms; /* steady clock */
};

struct scratch_space {
    char tmp[FILE_PATH_SIZE];
    int64_t touch_ms, idle_ms; /* SCRATCH_TOUCH_MS, SCRATCH_IDLE_MS; others in tests */
    atomic_long next;          /* number of the next scratch file */
    pthread_mutex_t sweeping;  /* over `seen` */
    struct scratch_seen seen[SCRATCH_SEEN_COUNT];
    pthread_mutex_t lock;      /* over what follows */
    pthread_cond_t wake;       /* the keeper, to end */
    bool is_private;           /* everybody could have made `tmp`: it is checked before each use */
    char path[FILE_PATH_SIZE]; /* "" before the first need */
    int lease_plus_one;        /* descriptor that holds the lock */
    _Atomic(pid_t)
        owner; /* a fork leaves the space alone and makes its own; read without the lock */
    bool has_keeper, is_closing;
    pthread_t keeper;
};

MUST_CHECK enum error_code scratch_space_init(struct scratch_space *space, const char *tmp,
                                              struct error *err);
/* In the folder for temporary files, for stores that have no file system: each user has one there.
 * Later calls fail with
 * ERROR_DENIED where somebody else has made it, or a link of that name. */
MUST_CHECK enum error_code scratch_space_init_on_host(struct scratch_space *space,
                                                      struct error *err);
/* Removes the space with all in it. */
void scratch_space_close(struct scratch_space *space);

/* An empty folder. */
MUST_CHECK enum error_code scratch_space_folder(struct scratch_space *space,
                                                char path[FILE_PATH_SIZE], struct error *err);
/* An empty file, open for writing; the caller closes *fd. */
MUST_CHECK enum error_code scratch_space_file(struct scratch_space *space,
                                              char path[FILE_PATH_SIZE], int *fd,
                                              struct error *err);
/* A name where nothing stands, to rename something to. */
MUST_CHECK enum error_code scratch_space_free_name(struct scratch_space *space,
                                                   char path[FILE_PATH_SIZE], struct error *err);
/* Removes what is at `path`, and the scratch folder around it if that is empty then. */
MUST_CHECK enum error_code scratch_space_remove(struct scratch_space *space, const char *path,
                                                struct error *err);
/* Removes what the dead have left, as far as it can be known now. The keeper does so each minute. */
MUST_CHECK enum error_code scratch_space_sweep(struct scratch_space *space, struct error *err);

#endif
