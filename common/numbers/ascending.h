/*
 * ascending - lookups in sorted arrays.
 */
#ifndef COMMON_NUMBERS_ASCENDING_H
#define COMMON_NUMBERS_ASCENDING_H

#include <stdint.h>

/* Returns how many numbers of the ascending value [count] are below `end`, by bisection. */
static inline uint64_t ascending_below(const uint32_t *value, uint64_t count, uint64_t end)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (value[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
