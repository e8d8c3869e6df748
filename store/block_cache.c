#include "store/block_cache.h"

#include "common/base/memory.h"

#define NO_SLOT UINT32_MAX

struct slot {
    void *rows;
    uint64_t number; /* of the block in it; NO_BLOCK: none */
    bool wanted_again;
};

#define NO_BLOCK UINT64_MAX

struct block_cache {
    size_t block_bytes;
    uint64_t block_count;
    void *passing;     /* where a block goes that is not kept */
    uint32_t *slot_of; /* [block_count], NO_SLOT: not here */
    struct slot *slot; /* [block_count], of which slot_count have rows */
    uint32_t slot_count;
    uint32_t slot_limit;
    uint32_t hand;
};

uint64_t block_cache_fixed_bytes(uint64_t block_count, size_t block_bytes)
{
    return block_bytes + block_count * (sizeof(uint32_t) + sizeof(struct slot));
}

uint64_t block_cache_bytes(const struct block_cache *cache)
{
    return (uint64_t)cache->slot_count * cache->block_bytes;
}

enum error_code block_cache_new(uint64_t block_count, size_t block_bytes, struct block_cache **out,
                                struct error *err)
{
    struct block_cache *cache = NULL;
    must(block_count < NO_SLOT);
    enum error_code rc = memory_new(&cache, 1, "a block cache", err);
    if (rc != ERROR_NONE)
        return rc;
    cache->block_bytes = block_bytes;
    cache->block_count = block_count;
    rc = memory_new_bytes(&cache->passing, 1, block_bytes, "a block of rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&cache->slot_of, block_count, "a block cache", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&cache->slot, block_count, "a block cache", err);
    if (rc != ERROR_NONE) {
        block_cache_free(cache);
        return rc;
    }
    for (uint64_t i = 0; i < block_count; i++)
        cache->slot_of[i] = NO_SLOT;
    *out = cache;
    return ERROR_NONE;
}

static void empty_slot(struct block_cache *cache, struct slot *slot)
{
    if (slot->number != NO_BLOCK)
        cache->slot_of[slot->number] = NO_SLOT;
    slot->number = NO_BLOCK;
    slot->wanted_again = false;
}

void block_cache_free(struct block_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < cache->slot_count; i++)
        memory_free(cache->slot[i].rows);
    memory_free(cache->slot);
    memory_free(cache->slot_of);
    memory_free(cache->passing);
    memory_free(cache);
}

void block_cache_limit(struct block_cache *cache, uint64_t bytes)
{
    const uint64_t blocks = bytes / cache->block_bytes;
    cache->slot_limit = (uint32_t)(blocks < cache->block_count ? blocks : cache->block_count);
    while (cache->slot_count > cache->slot_limit) {
        struct slot *last = &cache->slot[--cache->slot_count];
        empty_slot(cache, last);
        memory_free(last->rows);
        *last = (struct slot){0};
    }
}

/* A slot for a new block: a fresh one while there is room, else what the hand finds. NULL: none. */
static struct slot *take_slot(struct block_cache *cache)
{
    if (cache->slot_count < cache->slot_limit) {
        struct slot *fresh = &cache->slot[cache->slot_count];
        fresh->rows = memory_alloc(1, cache->block_bytes);
        fresh->number = NO_BLOCK;
        if (fresh->rows)
            return &cache->slot[cache->slot_count++];
    }
    while (cache->slot_count) {
        cache->hand = cache->hand + 1 < cache->slot_count ? cache->hand + 1 : 0;
        struct slot *slot = &cache->slot[cache->hand];
        if (!slot->wanted_again)
            return slot;
        slot->wanted_again = false;
    }
    return NULL;
}

bool block_cache_get(struct block_cache *cache, uint64_t number, void **room)
{
    must(number < cache->block_count);
    if (cache->slot_of[number] != NO_SLOT) {
        struct slot *held = &cache->slot[cache->slot_of[number]];
        held->wanted_again = true;
        *room = held->rows;
        return true;
    }
    struct slot *slot = take_slot(cache);
    *room = slot ? slot->rows : cache->passing;
    if (!slot)
        return false;
    empty_slot(cache, slot);
    slot->number = number;
    cache->slot_of[number] = (uint32_t)(slot - cache->slot);
    return false;
}

void block_cache_forget(struct block_cache *cache, uint64_t number)
{
    if (cache->slot_of[number] != NO_SLOT)
        empty_slot(cache, &cache->slot[cache->slot_of[number]]);
}
