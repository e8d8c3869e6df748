/*
 * arena - memory for one work unit: many small requests, one release.
 *
 * One range of addresses, reserved at the first request and given memory from its start as requests come
 * to need it. A reset keeps that memory, so once the largest unit was seen nothing is allocated and no page
 * is touched for the first time, however the sizes of the requests vary from unit to unit.
 * What it hands out is 64-byte aligned and is NOT zeroed.
 *
 * An arena that counts answers how much memory a piece of work takes, by the same code that does it: `used` grows as
 * ever, but what it hands out may not be read, and work that sees `counts` only asks for memory. Small things,
 * which say how large the others are, are real: see ARENA_REAL_BYTES.
 *
 * AddressSanitizer sees into an arena: there what was not handed out since the last reset, and 64 bytes behind each
 * thing that was, may not be touched.
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

struct arena { /* {0} is an empty arena */
    char *base;
    size_t reserved;  /* bytes of addresses from base */
    size_t committed; /* of them with memory */
    size_t used;      /* bytes handed out since the last reset */
    size_t guards; /* bytes that may not be touched, between what was handed out; when it counts, of
                       * what is real */
    size_t limit;  /* refuse to grow past this many bytes; 0: all that the machine has */
    bool counts;   /* set before the first request; then there is no limit */
};

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
