/*
 * key_sort - sorts 64-bit keys, in the memory that it is given.
 *
 * A key is mostly an id above and a place below, so that all keys differ and there is one right answer. Merge sort
 * from runs that are sorted by insertion: rows of a graph are short or hold sorted runs. qsort() would do, but is free
 * to be anything from quadratic to allocating.
 */
#ifndef COMMON_BASE_KEY_SORT_H
#define COMMON_BASE_KEY_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether key `a` goes before key `b`. */
typedef bool (*key_order)(const void *context, uint64_t a, uint64_t b);

/* key [count] ascending; scratch [count] is overwritten. */
void key_sort(uint64_t *key, uint64_t *scratch, uint64_t count);
/* The same in another order; keys that it does not tell apart stay as they stand. */
void key_sort_by(uint64_t *key, uint64_t *scratch, uint64_t count, key_order before,
                 const void *context);
/* Numbers [count] ascending, in place. */
void key_sort_narrow(uint32_t *key, uint64_t count);

#endif
