#include "common/base/arena.h"

#include "common/base/host.h"
#include "common/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum { ALIGNMENT = 64, COMMIT_BYTES = 1 << 21 };

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
    const size_t wanted =
        arena->limit && arena->limit < machine ? rounded(arena->limit, COMMIT_BYTES) : machine;
    arena->base = memory_reserve(wanted);
    arena->reserved = arena->base ? wanted : 0;
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
    arena->committed = to;
    return true;
}

enum error_code arena_new_bytes(struct arena *arena, void **out, size_t count, size_t size,
                                const char *what, struct error *err)
{
    *out = NULL;
    if (size && count > (SIZE_MAX / 4) / size)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x %zu bytes", what, count,
                         size);
    const size_t bytes = rounded(count && size ? count * size : 1, ALIGNMENT);
    if (arena->limit && bytes > arena->limit - smaller(arena->used, arena->limit))
        return error_set(err, ERROR_NO_MEMORY,
                         "%s needs %zu bytes, %zu of the budget of %zu are used", what, bytes,
                         arena->used, arena->limit);
    if ((!arena->base && !reserve(arena)) || !commit(arena, arena->used + bytes))
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    *out = arena->base + arena->used;
    arena->used += bytes;
    return ERROR_NONE;
}

void arena_reset(struct arena *arena)
{
    arena->used = 0;
}

void arena_release(struct arena *arena)
{
    memory_unmap(arena->base, arena->reserved);
    *arena = (struct arena){.limit = arena->limit};
}
