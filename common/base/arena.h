/*
 * arena - memory for one work unit: many small requests, one release.
 *
 * An arena reserves a range of addresses at the first request and gives it memory from its start as
 * requests need it. A reset keeps that memory, so once the largest unit was seen nothing is
 * allocated and no page is touched for the first time, however the sizes of the requests vary from
 * unit to unit. What an arena hands out is 64-byte aligned and is NOT zeroed.
 *
 * The range has the size of `limit`, or of the memory budget of the program (arena_budget_set()).
 * If the addresses of the process are limited (ulimit -v), it is a small share of them. An arena
 * that needs more reserves another range, twice as large, and nothing moves; the next reset
 * replaces the ranges by one of the size that they had together.
 *
 * An arena that counts answers how much memory a piece of work takes, by the same code that does
 * the work: `used` grows as ever, but what it hands out may not be read, and work that sees
 * `counts` only asks for memory. Small requests, which say how large the others are, are real: see
 * ARENA_REAL_BYTES.
 *
 * AddressSanitizer sees into an arena: bytes that were not handed out since the last reset, and the
 * 64 bytes behind each request, may not be touched.
 */
#ifndef COMMON_BASE_ARENA_H
#define COMMON_BASE_ARENA_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_IS_GUARDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_IS_GUARDED 1
#endif
#endif
#ifndef ARENA_IS_GUARDED
#define ARENA_IS_GUARDED 0
#endif

/* The range before the present one. It stands at the start of the present one. */
struct arena_range {
    char *base;
    size_t reserved, committed;
    bool has_older;
};

struct arena { /* {0} is an empty arena */
    char *base;
    size_t reserved;  /* bytes of addresses from base */
    size_t committed; /* bytes of them that have memory */
    size_t at;        /* where in the range the next request goes */
    size_t used;      /* bytes handed out since the last reset */
    size_t largest;   /* bytes of the first range where more were needed than it had; 0: not yet */
    size_t limit;     /* refuse to grow past this many bytes; 0: all that the machine has */
    bool has_older;   /* whether the range begins with a struct arena_range */
    bool counts;      /* set before the first request; then there is no limit */
};

/* Sets the memory budget of this program. An arena without a limit reserves so many addresses
 * first; 0: as many as the machine has memory. Not for a program that already has arenas in several
 * threads. */
void arena_budget_set(size_t bytes);

/* Of an arena that counts, requests of at most this many bytes may be written and read. */
enum { ARENA_REAL_BYTES = 1 << 16 };

/* `count` elements in the arena, valid until arena_reset() or arena_release().
 * `out` is the address of any object pointer. Fails: ERROR_NO_MEMORY naming `what`. */
#define arena_new(arena, out, count, what, err)                                                    \
    arena_new_bytes(arena, (void **)(out), count, sizeof **(out), what, err)
MUST_CHECK enum error_code arena_new_bytes(struct arena *arena, void **out, size_t count,
                                           size_t size, const char *what, struct error *err);
void arena_reset(struct arena *arena);
void arena_release(struct arena *arena);

#endif
