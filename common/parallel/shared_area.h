/*
 * shared_area - a large array that is filled once and then only read, held once by all processes of a host.
 *
 *   /dev/shm/graphmill-<user>-<32 digits>     the array, from its start; behind it, from a multiple of 64 bytes, its
 *                                             mark: 64 bytes that are written when the array is whole
 *
 * The digits are the hash of whatever the array is a function of, so equal names hold equal bytes. Who opens an area
 * either finds it whole and maps it, or fills it while others wait:
 *
 *   - Who fills holds an exclusive lock (flock) on the file, who reads a shared one. The kernel gives a lock up when
 *     its owner ends, however it ends: half an area without a lock is filled anew by the next.
 *   - The last reader removes the file. What a killed one left lies there unlocked, whole or not: the next open of the
 *     same area uses it, and each open ends with shared_area_sweep(), which removes all others.
 *   - Memory is taken before it is touched (fallocate), so a full /dev/shm is an answer and no SIGBUS. Where it is too
 *     small (64 MB in a container by default), is not there, or whoever fills has stood still for
 *     SHARED_AREA_PATIENCE_MS, the area is private memory, which is told in the log: as fast, but not shared.
 *
 * Pages: an array that is read at random places wants pages of 2 MB. A tmpfs has them only when it was mounted so
 * (huge=) or when shmem_enabled allows it, which is "never" by default; MADV_COLLAPSE (Linux 6.1) makes them all the
 * same. On Linux 6.18 rows of 400 bytes are then gathered as quickly as from private pages of 2 MB, and 6 % slower from
 * pages of 4 KB, which is what older kernels give. MFD_HUGETLB needs pages that somebody reserved, and a memfd has no
 * name by which another process finds it.
 *
 * Threads: an area is opened and closed by one thread, and read by any number.
 */
#ifndef COMMON_PARALLEL_SHARED_AREA_H
#define COMMON_PARALLEL_SHARED_AREA_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller areas are private: they cost less than the file. */
enum { SHARED_AREA_BYTES_MIN = 1 << 20, SHARED_AREA_PATIENCE_MS = 15 * 1000 };

struct shared_area { /* {0} is closed */
    char *bytes;     /* [size], from a multiple of 4096; nobody writes there any more */
    size_t size;
    bool is_shared;
    struct checksum name;
    int lock_plus_one; /* descriptor that holds the lock */
    char *mapped;      /* addresses that `bytes` lies in, when shared */
    size_t mapped_bytes;
};

/* What an area holds: pieces in a row, each filled by one thread. */
struct shared_area_content {
    const char *what;     /* for messages: "tensor features of partition p" */
    struct checksum name; /* of everything that the bytes are a function of */
    size_t size;          /* at least 1 */
    bool only_shared;     /* there is no room for private memory: ERROR_NO_MEMORY instead */
    int64_t piece_count;
    const uint64_t *piece_start; /* [piece_count + 1]: from 0 to size, ascending */
    /* Fills the piece that starts at `to`. Several threads at once, each with a piece of its own. */
    enum error_code (*fill)(void *context, int64_t piece, char *to, struct error *err);
    void *context;
    struct thread_pool *pool; /* or NULL */
};

/* Fails: ERROR_NO_MEMORY; whatever `fill` fails with, nothing is left then. */
MUST_CHECK enum error_code shared_area_open(const struct shared_area_content *content,
                                            struct shared_area *out, struct error *err);
void shared_area_close(struct shared_area *area);
/* Removes the areas of this user that nobody reads or fills. */
void shared_area_sweep(void);

/* Test hooks: another folder than /dev/shm (borrowed), "" for none; another patience. */
void shared_area_folder_set(const char *folder);
void shared_area_patience_set(int64_t ms);

#endif
