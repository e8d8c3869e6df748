#include "common/base/arena.h"

#include "common/base/host.h"
#include "common/base/memory.h"

#include <stdint.h>

#if ARENA_IS_GUARDED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size)   ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

enum { ALIGNMENT = 64, COMMIT_BYTES = 1 << 21, GUARD_BYTES = ARENA_IS_GUARDED ? 64 : 0 };

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Addresses for all that can ever be asked for; they cost nothing until they have memory. */
static bool reserve(struct arena *arena)
{
    const size_t machine = rounded((size_t)host_memory_bytes(), COMMIT_BYTES);
    const size_t wanted = arena->limit && !arena->counts && arena->limit < machine
                              ? rounded(arena->limit, COMMIT_BYTES)
                              : machine;
    const size_t reserved = ARENA_IS_GUARDED ? 2 * wanted : wanted;
    arena->base = memory_reserve(reserved);
    arena->reserved = arena->base ? reserved : 0;
    return arena->base != NULL;
}

/* An eighth more than is asked for, so that units of slowly growing sizes do not each come back. */
static bool commit(struct arena *arena, size_t end)
{
    if (end <= arena->committed)
        return true;
    if (end > arena->reserved)
        return false;
    const size_t to = smaller(rounded(end + end / 8, COMMIT_BYTES), arena->reserved);
    if (!memory_commit(arena->base + arena->committed, to - arena->committed))
        return false;
    ASAN_POISON_MEMORY_REGION(arena->base + arena->committed, to - arena->committed);
    arena->committed = to;
    return true;
}

static size_t sum_or_most(size_t a, size_t b)
{
    return b < SIZE_MAX / 2 - a ? a + b : SIZE_MAX / 2;
}

/* Large things are all at one place where nobody may look; `guards` is what the small ones take. */
static enum error_code count_bytes(struct arena *arena, void **out, size_t bytes, const char *what,
                                   struct error *err)
{
    static _Alignas(ALIGNMENT) char nowhere[ALIGNMENT];
    arena->used = sum_or_most(arena->used, bytes);
    *out = nowhere;
    if (bytes > ARENA_REAL_BYTES)
        return ERROR_NONE;
    if ((!arena->base && !reserve(arena)) || !commit(arena, arena->guards + bytes))
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    *out = arena->base + arena->guards;
    ASAN_UNPOISON_MEMORY_REGION(*out, bytes);
    arena->guards += bytes;
    return ERROR_NONE;
}

enum error_code arena_new_bytes(struct arena *arena, void **out, size_t count, size_t size,
                                const char *what, struct error *err)
{
    *out = NULL;
    if (size && count > (SIZE_MAX / 4) / size)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x %zu bytes", what, count,
                         size);
    const size_t bytes = rounded(count && size ? count * size : 1, ALIGNMENT);
    const size_t at = arena->used + arena->guards;
    if (arena->counts)
        return count_bytes(arena, out, bytes, what, err);
    if (arena->limit && bytes > arena->limit - smaller(arena->used, arena->limit))
        return error_set(err, ERROR_NO_MEMORY,
                         "%s needs %zu bytes, %zu of the budget of %zu are used", what, bytes,
                         arena->used, arena->limit);
    if ((!arena->base && !reserve(arena)) || !commit(arena, at + bytes + GUARD_BYTES))
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    *out = arena->base + at;
    ASAN_UNPOISON_MEMORY_REGION(*out, count * size);
    arena->used += bytes;
    arena->guards += GUARD_BYTES;
    return ERROR_NONE;
}

void arena_reset(struct arena *arena)
{
    ASAN_POISON_MEMORY_REGION(arena->base,
                              arena->counts ? arena->guards : arena->used + arena->guards);
    arena->used = 0;
    arena->guards = 0;
}

void arena_release(struct arena *arena)
{
    ASAN_UNPOISON_MEMORY_REGION(arena->base, arena->committed);
    memory_unmap(arena->base, arena->reserved);
    *arena = (struct arena){.limit = arena->limit, .counts = arena->counts};
}
