#include "common/base/arena.h"

#include "common/base/memory.h"

enum { ALIGNMENT = 64, BLOCK_BYTES_MIN = 1 << 20, MAPPED_BYTES_MIN = 1 << 22 };

struct arena_block {
    struct arena_block *next;
    size_t bytes; /* of the whole block, this header with it */
    size_t used;
    int mapped; /* from memory_map(), not from the heap */
};

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Heap blocks are aligned by hand: the first free byte is the next multiple of 64. */
static size_t first_free(const struct arena_block *block)
{
    const uintptr_t base = (uintptr_t)block;
    return (size_t)(((base + sizeof *block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT) - base);
}

static struct arena_block *block_new(size_t wanted)
{
    const size_t least = wanted + sizeof(struct arena_block) + ALIGNMENT;
    const size_t bytes = least < BLOCK_BYTES_MIN ? BLOCK_BYTES_MIN : least;
    const int mapped = bytes >= MAPPED_BYTES_MIN;
    struct arena_block *block = mapped ? memory_map(bytes) : memory_alloc(1, bytes);
    if (!block)
        return NULL;
    block->bytes = bytes;
    block->mapped = mapped;
    block->used = first_free(block);
    return block;
}

static void *take(struct arena_block *block, size_t bytes)
{
    if (block->bytes - block->used < bytes)
        return NULL;
    void *p = (char *)block + block->used;
    block->used += bytes;
    return p;
}

/* An arena with a limit is one block of that size: its pages become memory when they are first used, so it
 * takes what the largest unit takes. Blocks of their own for large requests would be passed over by a
 * unit whose sizes are a little different, and add up to a multiple. */
static struct arena_block *block_for(const struct arena *arena, size_t bytes)
{
    struct arena_block *block = NULL;
    if (!arena->first && arena->limit >= MAPPED_BYTES_MIN && arena->limit < SIZE_MAX / 2)
        block = block_new(arena->limit);
    return block ? block : block_new(bytes);
}

/* Looks in the current block and those after it, which a reset has emptied; then adds one. */
static void *find_or_grow(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->current;
    while (block) {
        void *p = take(block, bytes);
        if (p) {
            arena->current = block;
            return p;
        }
        if (!block->next)
            break;
        block = block->next;
    }
    struct arena_block *added = block_for(arena, bytes);
    if (!added)
        return NULL;
    if (block)
        block->next = added;
    else
        arena->first = added;
    arena->current = added;
    return take(added, bytes);
}

enum error_code arena_new_bytes(struct arena *arena, void **out, size_t count, size_t size,
                                const char *what, struct error *err)
{
    *out = NULL;
    if (size && count > (SIZE_MAX / 2) / size)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x %zu bytes", what, count,
                         size);
    const size_t bytes = rounded(count && size ? count * size : 1);
    if (arena->limit &&
        bytes > arena->limit - (arena->used < arena->limit ? arena->used : arena->limit))
        return error_set(err, ERROR_NO_MEMORY,
                         "%s needs %zu bytes, %zu of the budget of %zu are used", what, bytes,
                         arena->used, arena->limit);
    *out = find_or_grow(arena, bytes);
    if (!*out)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    arena->used += bytes;
    return ERROR_NONE;
}

void arena_reset(struct arena *arena)
{
    for (struct arena_block *block = arena->first; block; block = block->next)
        block->used = first_free(block);
    arena->current = arena->first;
    arena->used = 0;
}

void arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->first, *next; block; block = next) {
        next = block->next;
        if (block->mapped)
            memory_unmap(block, block->bytes);
        else
            memory_free(block);
    }
    *arena = (struct arena){.limit = arena->limit};
}
