/*
 * block_cache - blocks of rows that were read and may be wanted again, within a number of bytes.
 *
 * The second-chance clock: a block that is wanted again is marked, the hand passes marked blocks by once
 * and takes the first unmarked one. A new block comes in unmarked, so that blocks wanted once, which a big
 * batch has many of, push out each other and not those that every batch wants.
 *
 * One block is always there, whatever the limit: the one on its way.
 */
#ifndef STORE_BLOCK_CACHE_H
#define STORE_BLOCK_CACHE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_cache;

/* For blocks 0 .. block_count - 1 of `block_bytes` each. */
MUST_CHECK enum error_code block_cache_new(uint64_t block_count, size_t block_bytes,
                                           struct block_cache **out, struct error *err);
void block_cache_free(struct block_cache *cache);
/* Bytes of such a cache while it is empty, the block on its way included. */
uint64_t block_cache_fixed_bytes(uint64_t block_count, size_t block_bytes);
/* Bytes of the blocks it holds beyond that. */
uint64_t block_cache_bytes(const struct block_cache *cache);
/* From here on at most `bytes` of blocks, beyond the one on its way; gives up what is over. */
void block_cache_limit(struct block_cache *cache, uint64_t bytes);
/* True: *room is block `number`. False: *room is where the caller puts it; valid until the next call. */
bool block_cache_get(struct block_cache *cache, uint64_t number, void **room);
/* Block `number` could not be read after all. */
void block_cache_forget(struct block_cache *cache, uint64_t number);

#endif
