#include "common/base/key_sort.h"

#include <string.h>

enum { RUN = 16 };

/* Inlined with a known `before`, so that comparing numbers is an instruction. */
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

void key_sort(uint64_t *key, uint64_t *scratch, uint64_t count)
{
    sort(key, scratch, count, is_less, NULL);
}

void key_sort_by(uint64_t *key, uint64_t *scratch, uint64_t count, key_order before,
                 const void *context)
{
    sort(key, scratch, count, before, context);
}
