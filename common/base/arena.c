#include "common/base/arena.h"

#include "common/base/host.h"
#include "common/base/memory.h"

#include <stdint.h>
#include <string.h>

#if ARENA_IS_GUARDED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size)   ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

enum {
    ALIGNMENT = 64,
    COMMIT_BYTES = 1 << 21,
    GUARD_BYTES = ARENA_IS_GUARDED ? 64 : 0,
    COUNTING_BYTES = 1 << 26,
    ADDRESS_SHARE = 32, /* the share of limited addresses that a first range takes */
};

static size_t budget;

void arena_budget_set(size_t bytes)
{
    budget = bytes;
}

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns the size of a first range. Addresses cost nothing until they are committed, but `ulimit
 * -v` may limit them. */
static size_t first_range_bytes(const struct arena *arena)
{
    const size_t machine = (size_t)host_memory_bytes();
    const size_t own = budget && budget < machine ? budget : machine;
    const size_t wanted = arena->counts  ? COUNTING_BYTES
                          : arena->limit ? smaller(arena->limit, machine)
                                         : own;
    const size_t share = (size_t)(host_addresses_left() / ADDRESS_SHARE);
    return larger(smaller(ARENA_IS_GUARDED ? 2 * wanted : wanted, share), arena->largest);
}

/* Returns whether a range is larger than the machine's memory. It is refused here, before the
 * kernel kills a process. */
static bool is_too_much(const struct arena *arena, size_t bytes)
{
    const size_t machine = (size_t)host_memory_bytes();
    return !arena->limit && !arena->counts && bytes > machine - smaller(arena->used, machine);
}

/* Reserves a range that has room for `bytes`. The previous range stays unchanged. */
static bool add_range(struct arena *arena, size_t bytes)
{
    const struct arena_range older = {arena->base, arena->reserved, arena->committed,
                                      arena->has_older};
    const size_t head = older.base ? ALIGNMENT : 0;
    const size_t least = rounded(head + bytes, COMMIT_BYTES);
    const size_t wanted = older.base ? 2 * older.reserved : first_range_bytes(arena);
    size_t reserved = larger(least, rounded(wanted, COMMIT_BYTES));
    if (is_too_much(arena, bytes))
        return false;
    char *base = memory_reserve(reserved);
    if (!base && reserved > least)
        base = memory_reserve(reserved = least);
    if (base && head && !memory_commit(base, COMMIT_BYTES)) {
        memory_unmap(base, reserved);
        base = NULL;
    }
    if (!base)
        return false;
    if (head) {
        memcpy(base, &older, sizeof older);
        ASAN_POISON_MEMORY_REGION(base, COMMIT_BYTES);
    }
    arena->base = base;
    arena->reserved = reserved;
    arena->committed = head ? COMMIT_BYTES : 0;
    arena->at = head;
    arena->has_older = head > 0;
    return true;
}

/* Commits memory of the range up to `end`, and an eighth more, so that units of slowly growing
 * sizes do not commit again each time. */
static bool commit(struct arena *arena, size_t end)
{
    if (end <= arena->committed)
        return true;
    const size_t to = smaller(rounded(end + end / 8, COMMIT_BYTES), arena->reserved);
    if (!memory_commit(arena->base + arena->committed, to - arena->committed))
        return false;
    ASAN_POISON_MEMORY_REGION(arena->base + arena->committed, to - arena->committed);
    arena->committed = to;
    return true;
}

/* Returns the next `bytes` of the range, or of a new one; NULL: there is no memory. */
static void *take(struct arena *arena, size_t bytes)
{
    if ((!arena->base || bytes + GUARD_BYTES > arena->reserved - arena->at) &&
        !add_range(arena, bytes + GUARD_BYTES))
        return NULL;
    if (!commit(arena, arena->at + bytes + GUARD_BYTES))
        return NULL;
    char *taken = arena->base + arena->at;
    arena->at += bytes + GUARD_BYTES;
    return taken;
}

/* Releases all ranges. */
static void drop_ranges(struct arena *arena)
{
    while (arena->base) {
        struct arena_range older = {0};
        ASAN_UNPOISON_MEMORY_REGION(arena->base, arena->committed);
        if (arena->has_older)
            memcpy(&older, arena->base, sizeof older);
        memory_unmap(arena->base, arena->reserved);
        arena->base = older.base;
        arena->reserved = older.reserved;
        arena->committed = older.committed;
        arena->has_older = older.has_older;
    }
    arena->committed = arena->at = 0;
}

static enum error_code refused(const char *what, size_t bytes, struct error *err)
{
    char note[HOST_NOTE_SIZE];
    host_address_note(note);
    return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes%s", what, bytes, note);
}

static size_t sum_or_most(size_t a, size_t b)
{
    return b < SIZE_MAX / 2 - a ? a + b : SIZE_MAX / 2;
}

/* Counts the bytes. Large arrays all get one address, which nobody may read or write. */
static enum error_code count_bytes(struct arena *arena, void **out, size_t bytes, const char *what,
                                   struct error *err)
{
    static _Alignas(ALIGNMENT) char nowhere[ALIGNMENT];
    arena->used = sum_or_most(arena->used, bytes);
    *out = bytes > ARENA_REAL_BYTES ? nowhere : take(arena, bytes);
    if (!*out)
        return refused(what, bytes, err);
    if (*out != nowhere)
        ASAN_UNPOISON_MEMORY_REGION(*out, bytes);
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
    if (arena->counts)
        return count_bytes(arena, out, bytes, what, err);
    if (arena->limit && bytes > arena->limit - smaller(arena->used, arena->limit))
        return error_set(err, ERROR_NO_MEMORY,
                         "%s needs %zu bytes, %zu of the budget of %zu are used", what, bytes,
                         arena->used, arena->limit);
    *out = take(arena, bytes);
    if (!*out)
        return refused(what, bytes, err);
    ASAN_UNPOISON_MEMORY_REGION(*out, count * size);
    arena->used += bytes;
    return ERROR_NONE;
}

/* Resets the arena. Several ranges become one at the next request, since a unit of this size may
 * come again. */
void arena_reset(struct arena *arena)
{
    if (arena->has_older && !arena->counts)
        arena->largest =
            rounded((1 + ARENA_IS_GUARDED) * (arena->used + arena->used / 8), COMMIT_BYTES);
    if (arena->has_older)
        drop_ranges(arena);
    else if (arena->base)
        ASAN_POISON_MEMORY_REGION(arena->base, arena->at);
    arena->at = arena->used = 0;
}

void arena_release(struct arena *arena)
{
    drop_ranges(arena);
    *arena = (struct arena){.limit = arena->limit, .counts = arena->counts};
}
