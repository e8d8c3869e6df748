#include "common/formats/text/scaled_decimal.h"

#include <ctype.h>
#include <stdbool.h>

enum { EXPONENT_MAX = 100000 };

struct digits {
    const char *text, *end; /* the mantissa, with its point */
    int first_power;        /* the power of ten of the first digit */
    bool is_negative;
};

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* Reads the exponent after e. A very large one is clamped to EXPONENT_MAX, with the same result. */
static bool read_exponent(const char *at, const char *end, int *out)
{
    const bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    int exponent = 0;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : EXPONENT_MAX;
    }
    *out = is_negative ? -exponent : exponent;
    return true;
}

static bool find_digits(const char *text, size_t size, struct digits *out)
{
    const char *at = text, *end = text + size;
    int whole = 0, fraction = 0, exponent = 0;
    out->is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    out->text = at;
    for (; at < end && is_digit(*at); at++)
        whole++;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++)
            fraction++;
    out->end = at;
    if (whole + fraction == 0)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!read_exponent(at + 1, end, &exponent))
            return false;
        at = end;
    }
    out->first_power = whole - 1 + exponent;
    return at == end;
}

/* Computes value * 10 + digit. Returns false if it is above `limit`. */
static bool push(uint64_t *value, unsigned digit, uint64_t limit)
{
    if (*value > (limit - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

enum scaled_decimal scaled_decimal_read(const char *text, size_t size, int scale, int64_t *out)
{
    struct digits digits;
    if (!find_digits(text, size, &digits))
        return SCALED_DECIMAL_NO_NUMBER;
    const uint64_t limit = (uint64_t)INT64_MAX + (digits.is_negative ? 1 : 0);
    int power = digits.first_power + scale;
    uint64_t value = 0;
    bool has_rest = false, is_half = false, fits = true;
    for (const char *at = digits.text; at < digits.end; at++) {
        if (*at == '.')
            continue;
        const unsigned digit = (unsigned)(*at - '0');
        if (power >= 0)
            fits = fits && push(&value, digit, limit);
        has_rest |= power < 0 && digit != 0;
        is_half |= power == -1 && digit >= 5;
        power--;
    }
    for (; fits && value && power >= 0; power--)
        fits = push(&value, 0, limit);
    fits = fits && !(is_half && value == limit);
    if (!fits)
        return SCALED_DECIMAL_TOO_LARGE;
    value += is_half ? 1 : 0;
    *out = digits.is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return has_rest ? SCALED_DECIMAL_ROUNDED : SCALED_DECIMAL_EXACT;
}
