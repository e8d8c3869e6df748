/*
 * key_sort - sorts 64-bit keys, in memory that the caller provides.
 *
 * A key usually has an id in its high bits and a position in its low bits, so all keys differ and
 * the order is unique. It is a merge sort from runs that are sorted by insertion: rows of a graph
 * are short or contain sorted runs. qsort() is not used, because it may take quadratic time or
 * allocate.
 */
#ifndef COMMON_NUMBERS_KEY_SORT_H
#define COMMON_NUMBERS_KEY_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether key `a` goes before key `b`. */
typedef bool (*key_order)(const void *context, uint64_t a, uint64_t b);

/* Sorts key [count] in ascending order; scratch [count] is overwritten. */
void key_sort(uint64_t *key, uint64_t *scratch, uint64_t count);
/* Does the same in another order; keys that are equal in it keep their order. */
void key_sort_by(uint64_t *key, uint64_t *scratch, uint64_t count, key_order before,
                 const void *context);
/* Sorts numbers [count] in ascending order, in place. */
void key_sort_narrow(uint32_t *key, uint64_t count);

#endif
