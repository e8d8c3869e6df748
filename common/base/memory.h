/*
 * memory - the only door to the heap.
 *
 * Every allocation is checked for overflow and counted, and tests can make the nth one fail. Memory
 * comes zeroed, so that `{0}` is a valid value of what is put there.
 */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `count` zeroed elements of `size` bytes. NULL when there is no memory or the product overflows.
 * Never NULL for zero bytes. Free with memory_free(). */
void *memory_alloc(size_t count, size_t size);

/* As memory_alloc(), and says so: sets *out, or leaves NULL there with ERROR_NO_MEMORY and a
 * message that names `what` and the bytes wanted. `out` is the address of any object pointer. */
#define memory_new(out, count, what, err)                                                          \
    memory_new_bytes((void **)(out), count, sizeof **(out), what, err)
MUST_CHECK enum error_code memory_new_bytes(void **out, size_t count, size_t size, const char *what,
                                            struct error *err);

/* Grows or shrinks to `count` elements; what is new is not zeroed. On failure returns NULL and `p`
 * is still owned by the caller. */
void *memory_resize(void *p, size_t count, size_t size);

/* Room for at least `count` elements in an array that grows, and never shrinks: half as many again as there are, so that
 * adding one after the other takes linear time. `array` is the address of any object pointer, `capacity` of a size_t; a
 * failure, ERROR_NO_MEMORY with a message that names `what`, leaves both. What is new is not zeroed. */
#define memory_grow(array, capacity, count, what, err)                                             \
    memory_grow_bytes((void **)(array), capacity, count, sizeof **(array), what, err)
MUST_CHECK enum error_code memory_grow_bytes(void **array, size_t *capacity, size_t count,
                                             size_t size, const char *what, struct error *err);

void memory_free(void *p);
/* Gives memory that was freed back to the system, where the C library keeps some. */
void memory_trim(void);

/* A large zeroed area on 2 MB pages (a hint), page-aligned, outside the heap. NULL when refused.
 * The first touch of its pages is the slow part on virtual machines: allocate once and reuse. */
void *memory_map(size_t bytes);
void memory_unmap(void *p, size_t bytes);
/* Gives back what lies behind the first `kept` bytes, page by page; how many bytes are left. */
size_t memory_unmap_tail(void *p, size_t bytes, size_t kept);

/* Addresses without memory, page-aligned; NULL when refused. Touching them before memory_commit() is a
 * crash. Give them back, memory and all, with memory_unmap(). */
void *memory_reserve(size_t bytes);
/* Zeroed memory on 2 MB pages (a hint) for `bytes` of them from `p`; both multiples of the page size. */
MUST_CHECK bool memory_commit(void *p, size_t bytes);

/* Test hooks. The next `n` allocations succeed, all after them fail; -1 turns that off. */
void memory_fail_after(long n);
long memory_live_blocks(void);
/* Allocations since the program started; a warm loop leaves it unchanged. */
long memory_allocation_count(void);

#endif
