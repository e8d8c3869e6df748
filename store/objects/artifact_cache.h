/*
 * artifact_cache - makes a sealed artifact available as files of this host.
 *
 * An artifact that has a path is opened there, unless the caller wants to map it and its file
 * system is not of this host (STORE_IS_LOCAL; a topology on NFS, which LMDB does not allow).
 * Otherwise it is copied to a folder of this host, once for all processes of a user: the first
 * process downloads it and the others wait.
 *
 *   <folder>/graphmill-cache-<user>/<32 digits>        the copy, named by key and seal: a file or a
 *                                                      folder
 *   <folder>/graphmill-cache-<user>/<32 digits>.lock   readers hold a shared lock (flock), the
 *                                                      downloader an exclusive one; its text is the
 *                                                      size of the copy
 *
 * The downloader touches the lock file with each piece. If it makes no progress for a minute (its
 * disk hangs, it was stopped), the others stop waiting: each downloads a copy of its own, which is
 * removed when it is released. If the downloader dies, its lock is free and the next process
 * downloads instead.
 *
 * Bytes are hashed as they arrive: while one piece of 16 MiB is hashed and written, a thread reads
 * the next. Two pieces are in memory.
 *
 * A copy appears whole, by a rename. It stays for later readers until its room is needed: beyond
 * the budget, unused copies are removed, the longest unused first. Locks end with their process, so
 * a killed process leaves nothing that cannot be used or removed. An artifact larger than the
 * budget is downloaded nevertheless and removed when it is released.
 *
 * Threads: each handle has one owner.
 */
#ifndef STORE_OBJECTS_ARTIFACT_CACHE_H
#define STORE_OBJECTS_ARTIFACT_CACHE_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/files/file.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

struct artifact_request {
    struct store *store;
    const char *key;
    /* The hash that the seal vouches for; copies of the same content are shared. NULL: no seal is
     * known, and the copy is for this caller alone. */
    const struct checksum *seal;
    bool is_mapped; /* it must be on a file system of this host */
};

struct artifact_handle { /* {0} is released */
    char path[FILE_PATH_SIZE];
    bool is_copy;
    bool is_fresh;       /* this request downloaded the copy */
    struct checksum sum; /* ... and this is the hash of its bytes, if it is one file */
    bool goes;           /* remove the copy when it is released */
    int lock_plus_one;
};

/* Returns the artifact as files. Waits for another process that downloads the same artifact, as
 * long as that makes progress. The caller releases *out with artifact_release(). Fails:
 * ERROR_NOT_FOUND; ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code artifact_acquire(const struct artifact_request *request,
                                            struct artifact_handle *out, struct error *err);
void artifact_release(struct artifact_handle *handle);
/* Releases a copy that proved to be damaged and removes it, so that nobody else gets it. */
void artifact_discard(struct artifact_handle *handle);

#endif
