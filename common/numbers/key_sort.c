#include "common/numbers/key_sort.h"

#include <string.h>

enum { RUN = 16 };

/* It is inlined with a constant `before`, so that comparing numbers is one instruction. */
static inline __attribute__((always_inline)) void sort_run(uint64_t *key, uint64_t count,
                                                           key_order before, const void *context)
{
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t moving = key[i];
        uint64_t at = i;
        for (; at > 0 && before(context, moving, key[at - 1]); at--)
            key[at] = key[at - 1];
        key[at] = moving;
    }
}

static inline __attribute__((always_inline)) void merge(const uint64_t *from, uint64_t middle,
                                                        uint64_t end, uint64_t *to,
                                                        key_order before, const void *context)
{
    uint64_t a = 0, b = middle;
    for (uint64_t at = 0; at < end; at++) {
        const bool takes_right = a >= middle || (b < end && before(context, from[b], from[a]));
        to[at] = takes_right ? from[b++] : from[a++];
    }
}

static inline __attribute__((always_inline)) void
sort(uint64_t *key, uint64_t *scratch, uint64_t count, key_order before, const void *context)
{
    uint64_t *from = key, *to = scratch;
    for (uint64_t at = 0; at < count; at += RUN)
        sort_run(&key[at], count - at < RUN ? count - at : RUN, before, context);
    for (uint64_t width = RUN; width < count; width *= 2) {
        for (uint64_t at = 0; at < count; at += 2 * width) {
            const uint64_t end = count - at < 2 * width ? count - at : 2 * width;
            merge(&from[at], end < width ? end : width, end, &to[at], before, context);
        }
        uint64_t *const merged = to;
        to = from;
        from = merged;
    }
    if (from != key)
        memcpy(key, from, count * sizeof *key);
}

static inline bool is_less(const void *context, uint64_t a, uint64_t b)
{
    (void)context;
    return a < b;
}

static bool are_ascending(const uint64_t *key, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (key[i] < key[i - 1])
            return false;
    return true;
}

void key_sort(uint64_t *key, uint64_t *scratch, uint64_t count)
{
    if (!are_ascending(key, count))
        sort(key, scratch, count, is_less, NULL);
}

void key_sort_by(uint64_t *key, uint64_t *scratch, uint64_t count, key_order before,
                 const void *context)
{
    sort(key, scratch, count, before, context);
}

static void insert_narrow(uint32_t *key, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const uint32_t moving = key[i];
        uint64_t at = i;
        for (; at > 0 && key[at - 1] > moving; at--)
            key[at] = key[at - 1];
        key[at] = moving;
    }
}

/* Sorts by radix exchange: all keys agree in the bits above `bit`. */
static void exchange_narrow(uint32_t *key, uint64_t count, int bit)
{
    enum { SMALL = 32 };
    while (count > SMALL && bit >= 0) {
        uint64_t low = 0, high = count;
        while (low < high) {
            if (!(key[low] >> bit & 1)) {
                low++;
                continue;
            }
            const uint32_t moved = key[--high];
            key[high] = key[low];
            key[low] = moved;
        }
        bit--;
        exchange_narrow(key, low, bit);
        key += low;
        count -= low;
    }
    insert_narrow(key, count);
}

void key_sort_narrow(uint32_t *key, uint64_t count)
{
    uint32_t differing = 0;
    for (uint64_t i = 1; i < count; i++)
        differing |= key[i] ^ key[0];
    if (differing)
        exchange_narrow(key, count, 31 - __builtin_clz(differing));
}
