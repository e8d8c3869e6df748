/*
 * arena - memory for one work unit: many small requests, one release.
 *
 * An arena reserves a range of addresses at the first request, and commits memory from its start as
 * requests need it. A reset keeps that memory. So once the largest unit was processed, nothing is
 * allocated and no page is touched for the first time, however the sizes of the requests vary from
 * unit to unit. The memory of a request is 64-byte aligned and is NOT zeroed.
 *
 * The range has the size of `limit`, or of the memory budget of the program (arena_budget_set()).
 * If the addresses of the process are limited (ulimit -v), it is a small share of them. An arena
 * that needs more reserves another range, twice as large, and nothing moves; the next reset
 * replaces the ranges by one of their total size.
 *
 * A counting arena measures how much memory a piece of work needs, with the code that does the
 * work: `used` grows as usual, but the memory of a request may not be read, and work that sees
 * `counts` only requests memory. Requests of at most ARENA_REAL_BYTES are real, because their
 * contents determine the sizes of others.
 *
 * AddressSanitizer sees into an arena: bytes that were not requested since the last reset, and the
 * 64 bytes after each request, may not be touched.
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

/* The previous range. This struct is at the start of the range that followed it. */
struct arena_range {
    char *base;
    size_t reserved, committed;
    bool has_older;
};

struct arena { /* {0} is an empty arena */
    char *base;
    size_t reserved;  /* bytes of addresses from base */
    size_t committed; /* bytes of them that are committed */
    size_t at;        /* offset of the next request in the range */
    size_t used;      /* bytes requested since the last reset */
    size_t largest;   /* size that the first range should have had; 0: it was large enough */
    size_t limit;     /* requests beyond this many bytes fail; 0: limited by the machine */
    bool has_older;   /* the range begins with a struct arena_range */
    bool counts;      /* set before the first request; a counting arena has no limit */
};

/* Sets the memory budget of this program: the addresses that an arena without a limit reserves
 * first; 0 means as many as the machine has memory. A program must not call it once arenas exist in
 * several threads. */
void arena_budget_set(size_t bytes);

/* In a counting arena, requests of at most this many bytes may be written and read. */
enum { ARENA_REAL_BYTES = 1 << 16 };

/* Requests `count` elements, valid until arena_reset() or arena_release(). `out` is the address of
 * any object pointer. Fails: ERROR_NO_MEMORY naming `what`. */
#define arena_new(arena, out, count, what, err)                                                    \
    arena_new_bytes(arena, (void **)(out), count, sizeof **(out), what, err)
MUST_CHECK enum error_code arena_new_bytes(struct arena *arena, void **out, size_t count,
                                           size_t size, const char *what, struct error *err);
void arena_reset(struct arena *arena);
void arena_release(struct arena *arena);

#endif
