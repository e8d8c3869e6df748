/*
 * scaled_decimal - converts a decimal number to an integer of a smaller unit from its digits,
 * without floating point.
 *
 * "1.5" in thousandths is 1500, and "1562112000123456789" stays exact, while a double would round
 * it.
 */
#ifndef COMMON_FORMATS_TEXT_SCALED_DECIMAL_H
#define COMMON_FORMATS_TEXT_SCALED_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum scaled_decimal {
    SCALED_DECIMAL_EXACT,
    SCALED_DECIMAL_ROUNDED,   /* a fraction of the unit was rounded, half away from 0 */
    SCALED_DECIMAL_TOO_LARGE, /* it does not fit 64 bits */
    SCALED_DECIMAL_NO_NUMBER,
};

/* Reads `text` [size] as [+-]digits[.digits][e[+-]digits] and writes the number times 10^scale to
 * *out, unless the result is one of the last two, which leave *out alone. */
enum scaled_decimal scaled_decimal_read(const char *text, size_t size, int scale, int64_t *out);

#endif
