/*
 * artifact_cache - a sealed artifact as files of this host.
 *
 * An artifact that lies at a path is opened there, unless the caller wants to map it and its file system is not of this
 * host (STORE_IS_LOCAL; TOPOLOGY on NFS, which LMDB does not allow). Else it is copied to a folder of this host, once for all
 * processes of a user: who comes first fetches it, the others wait.
 *
 *   <folder>/graphmill-cache-<user>/<32 digits>        the copy, named by key and seal; a file or a folder
 *   <folder>/graphmill-cache-<user>/<32 digits>.lock   who uses it holds a shared lock (flock), who fetches it an
 *                                                      exclusive one; its text is the size of the copy
 *
 * Whoever fetches touches the lock with each piece. One that does not get on for a minute (its machine's disk hangs, it was stopped)
 * is not waited for any longer: the others fetch a copy each for themselves, which goes when it is released. One that died
 * holds no lock, and the next in line fetches in its place.
 *
 * What comes is hashed on its way: while one piece of 16 MiB is hashed and written, a thread reads the next one. Two of them take memory.
 *
 * A copy appears whole, by a rename. It stays for the next who wants it, until others need its room: beyond the budget those
 * that nobody uses go, the longest unused first. A lock ends with its process, so a kill leaves nothing that cannot
 * be used or removed. One that is larger than the budget is fetched all the same, and goes when it is released.
 *
 * Threads: each handle has one owner.
 */
#ifndef STORE_OBJECTS_ARTIFACT_CACHE_H
#define STORE_OBJECTS_ARTIFACT_CACHE_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/file.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

struct artifact_request {
    struct store *store;
    const char *key;
    /* Of what its seal vouches for: copies of the same content are one. NULL: it is not known to be sealed, and a copy is of
     * this caller alone. */
    const struct checksum *seal;
    bool is_mapped; /* it has to lie on a file system of this host */
};

struct artifact_handle { /* {0} is released */
    char path[FILE_PATH_SIZE];
    bool is_copy;
    bool is_fresh;       /* a copy that this very request has fetched */
    struct checksum sum; /* ... and the hash of its bytes, when it is one file */
    bool goes;           /* with its release */
    int lock_plus_one;
};

/* Waits for another process that fetches the same, as long as that gets on.
 * Fails: ERROR_NOT_FOUND; ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. Release with artifact_release(). */
MUST_CHECK enum error_code artifact_acquire(const struct artifact_request *request,
                                            struct artifact_handle *out, struct error *err);
void artifact_release(struct artifact_handle *handle);
/* Releases a copy that turned out to be damaged: nobody else gets it. */
void artifact_discard(struct artifact_handle *handle);

#endif
