/*
 * shared_area - a large array that is filled once and then only read, shared by all processes of a
 * host.
 *
 *   /dev/shm/graphmill-<user>-<32 digits>     the array from offset 0; after it, at a multiple of
 *                                             64 bytes, its mark: 64 bytes that are written when
 *                                             the array is complete
 *
 * The digits are the hash of everything that the array is computed from, so equal names have equal
 * bytes. A process that opens an area either finds it complete and maps it, or fills it while
 * others wait:
 *
 *   - A process that fills has an exclusive lock (flock) on the file, a reader a shared one. The
 *     kernel releases a lock when its owner ends, in whatever way: an incomplete area without a
 *     lock is filled again by the next process.
 *   - The last reader removes the file. After a kill the file stays without a lock, complete or
 *     not: the next open of the same area uses it, and each open ends with shared_area_sweep(),
 *     which removes all others.
 *   - Memory is allocated before it is touched (fallocate), so a full /dev/shm is an error and not
 *     a SIGBUS. If it is too small (64 MB in a container by default) or missing, or if the process
 *     that fills makes no progress for SHARED_AREA_PATIENCE_MS, the area is private memory, which
 *     the log says: as fast, but not shared.
 *
 * Pages: an array that is read at random positions should have pages of 2 MB. A tmpfs has them only
 * if it was mounted so (huge=) or if shmem_enabled allows it, which is "never" by default;
 * MADV_COLLAPSE (Linux 6.1) makes them in any case. On Linux 6.18 rows of 400 bytes are then
 * gathered as fast as from private pages of 2 MB, and 6 % slower from pages of 4 KB, which is what
 * older kernels give. MFD_HUGETLB needs pages that somebody has reserved, and other processes
 * cannot find a memfd by a name.
 *
 * Threads: an area is opened and closed by one thread, and read by any number.
 */
#ifndef COMMON_PARALLEL_SHARED_AREA_H
#define COMMON_PARALLEL_SHARED_AREA_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller areas are private, because a file costs more than it saves. */
enum { SHARED_AREA_BYTES_MIN = 1 << 20, SHARED_AREA_PATIENCE_MS = 15 * 1000 };

struct shared_area { /* {0} is closed */
    char *bytes;     /* [size], from a multiple of 4096; read-only once it is open */
    size_t size;
    bool is_shared;
    struct checksum name;
    int lock_plus_one; /* descriptor that holds the lock */
    char *mapped;      /* the mapping that contains `bytes`, if it is shared */
    size_t mapped_bytes;
};

/* The contents of an area: consecutive pieces, each filled by one thread. */
struct shared_area_content {
    const char *what;     /* for messages: "tensor features of partition p" */
    struct checksum name; /* hash of everything that the bytes are computed from */
    size_t size;          /* at least 1 */
    bool only_shared;     /* fail with ERROR_NO_MEMORY instead of using private memory */
    int64_t piece_count;
    const uint64_t *piece_start; /* [piece_count + 1], from 0 to size, ascending */
    /* Fills the piece that starts at `to`. Several threads call it at once, each with its own
     * piece. */
    enum error_code (*fill)(void *context, int64_t piece, char *to, struct error *err);
    void *context;
    struct thread_pool *pool; /* may be NULL */
};

/* Opens an area. Fails: ERROR_NO_MEMORY; as `fill` does, and then nothing is left behind. */
MUST_CHECK enum error_code shared_area_open(const struct shared_area_content *content,
                                            struct shared_area *out, struct error *err);
void shared_area_close(struct shared_area *area);
/* Removes the areas of this user that nobody reads or fills. */
void shared_area_sweep(void);

/* Test hooks: a folder in place of /dev/shm (borrowed; "" for none), and another patience. */
void shared_area_folder_set(const char *folder);
void shared_area_patience_set(int64_t ms);

#endif
