/*
 * memory - the only access to the heap.
 *
 * Every allocation is checked for overflow and counted, and tests can make the nth one fail. Memory
 * is zeroed, so `{0}` must be a valid value of every struct in it.
 */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates `count` zeroed elements of `size` bytes. Returns NULL when there is no memory or the
 * product overflows, but never for zero bytes. Free with memory_free(). */
void *memory_alloc(size_t count, size_t size);

/* Does the same as memory_alloc(), and reports a failure: sets *out, or leaves NULL there and
 * returns ERROR_NO_MEMORY with a message that names `what` and the bytes. `out` is the address of
 * any object pointer. */
#define memory_new(out, count, what, err)                                                          \
    memory_new_bytes((void **)(out), count, sizeof **(out), what, err)
MUST_CHECK enum error_code memory_new_bytes(void **out, size_t count, size_t size, const char *what,
                                            struct error *err);

/* Grows or shrinks to `count` elements; new ones are not zeroed. On failure it returns NULL, and
 * the caller still owns `p`. */
void *memory_resize(void *p, size_t count, size_t size);

/* Makes room for at least `count` elements in an array that never shrinks. It grows by half, so
 * adding elements one by one takes linear time. `array` is the address of any object pointer,
 * `capacity` of a size_t. A failure is ERROR_NO_MEMORY with a message that names `what`, and
 * changes neither. New elements are not zeroed. */
#define memory_grow(array, capacity, count, what, err)                                             \
    memory_grow_bytes((void **)(array), capacity, count, sizeof **(array), what, err)
MUST_CHECK enum error_code memory_grow_bytes(void **array, size_t *capacity, size_t count,
                                             size_t size, const char *what, struct error *err);

void memory_free(void *p);
/* Returns freed memory to the system, if the C library keeps some. */
void memory_trim(void);

/* Maps a large zeroed area on 2 MB pages (a hint), page-aligned, outside the heap. Returns NULL on
 * failure. The first touch of its pages is slow on virtual machines: allocate once and reuse. */
void *memory_map(size_t bytes);
void memory_unmap(void *p, size_t bytes);
/* Returns the pages after the first `kept` bytes to the system. Returns how many bytes are left. */
size_t memory_unmap_tail(void *p, size_t bytes, size_t kept);

/* Reserves addresses without memory, page-aligned; NULL on failure. Touching them before
 * memory_commit() crashes. memory_unmap() releases addresses and memory. */
void *memory_reserve(size_t bytes);
/* Provides zeroed memory on 2 MB pages (a hint) for `bytes` reserved addresses from `p`; both are
 * multiples of the page size. */
MUST_CHECK bool memory_commit(void *p, size_t bytes);

/* Test hooks: the next `n` allocations succeed and all later ones fail; -1 turns that off. */
void memory_fail_after(long n);
long memory_live_blocks(void);
/* Returns the number of allocations since the start of the program; a warm loop does not change
 * it. */
long memory_allocation_count(void);

#endif
