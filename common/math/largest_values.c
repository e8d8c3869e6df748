#include "common/math/largest_values.h"

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns a magnitude as an integer: without the sign, the bits of floats have the order of their
 * values. */
static uint32_t magnitude(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffff;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Returns the least magnitude that is kept, found digit by digit from the top. *ties is the number
 * of values of exactly that magnitude that are kept. */
static uint32_t least_kept(const float *value, size_t count, size_t kept, size_t *ties)
{
    uint32_t prefix = 0, known = 0; /* known bits of the magnitude, and a mask of their positions */
    *ties = kept;
    for (int shift = 2 * DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        size_t of_digit[DIGITS] = {0};
        uint32_t digit = DIGITS - 1;
        for (size_t i = 0; i < count; i++)
            if ((magnitude(value[i]) & known) == prefix)
                of_digit[magnitude(value[i]) >> shift & (DIGITS - 1)]++;
        for (; *ties > of_digit[digit]; digit--)
            *ties -= of_digit[digit];
        prefix |= digit << shift;
        known |= (uint32_t)(DIGITS - 1) << shift;
    }
    return prefix;
}

void largest_values_split(float *value, size_t count, size_t kept, float *rest)
{
    size_t ties = 0;
    must(kept <= count);
    const uint32_t least = kept ? least_kept(value, count, kept, &ties) : UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = magnitude(value[i]);
        const bool is_kept = size > least || (size == least && ties > 0);
        ties -= size == least && is_kept;
        rest[i] = is_kept ? 0.0F : value[i];
        value[i] = is_kept ? value[i] : 0.0F;
    }
}
