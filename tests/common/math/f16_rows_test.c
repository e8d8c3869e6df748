/* Compares all forms of both conversions with the definition of binary16, in double precision. */
#include "common/base/memory.h"
#include "common/math/f16.h"
#include "common/math/f16_rows.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <math.h>

enum { HALVES = 1 << 16, FLOATS = 1 << 20 };

static double value_of(f16 x)
{
    const int exponent = x >> 10 & 31;
    const double fraction = x & 1023, sign = x & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return exponent ? sign * ldexp(1024 + fraction, exponent - 25) : sign * ldexp(fraction, -24);
}

/* Rounds to nearest, ties to even, like nearbyint(): to a multiple of the last bit. */
static double rounded(double x)
{
    int exponent = 0;
    (void)frexp(x, &exponent);
    const int last = exponent - 11 < -24 ? -24 : exponent - 11;
    const double value = ldexp(nearbyint(ldexp(x, -last)), last);
    return fabs(value) > 65504 ? copysign((double)INFINITY, x) : value;
}

/* Fills in the float of every f16, the number half way to the next, and its neighbours; then any
 * bits. */
static void fill(uint32_t *bits)
{
    size_t at = 0;
    for (uint32_t i = 0; i < HALVES; i++) {
        const float x = (float)value_of((f16)i);
        uint32_t own;
        memcpy(&own, &x, sizeof own);
        bits[at++] = own;
        bits[at++] = own ^ 0x1000U;
        bits[at++] = (own ^ 0x1000U) + 1;
        bits[at++] = (own ^ 0x1000U) - 1;
    }
    for (uint64_t seed = 1; at < FLOATS; at++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        bits[at] = (uint32_t)(seed >> 32);
    }
}

static void each_form_rounds_to_nearest_even(void **state)
{
    uint32_t *bits = memory_alloc(FLOATS, sizeof *bits);
    char *bytes = memory_alloc(FLOATS + 1, sizeof(f16));
    f16 *out = memory_alloc(FLOATS, sizeof *out), *first = memory_alloc(FLOATS, sizeof *first);
    (void)state;
    assert_true(bits && bytes && out && first);
    fill(bits);
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        f16_rows_round(bytes + 1, bits, FLOATS);
        memcpy(out, bytes + 1, FLOATS * sizeof *out);
        if (level == CPU_PLAIN)
            memcpy(first, out, FLOATS * sizeof *out);
        assert_memory_equal(out, first, FLOATS * sizeof *out);
    }
    for (size_t i = 0; i < FLOATS; i++) {
        float x;
        memcpy(&x, &bits[i], sizeof x);
        const double found = value_of(out[i]), expected = rounded((double)x);
        if (isnan(x) ? !isnan(found) || !(out[i] & 0x200) : found != expected)
            fail_msg("%a (%08x): expected %a, found %a", (double)x, bits[i], expected, found);
        assert_int_equal(out[i] >> 15, bits[i] >> 31);
    }
    memory_free(bits);
    memory_free(bytes);
    memory_free(out);
    memory_free(first);
}

static void each_form_widens_exactly(void **state)
{
    static char bytes[HALVES * sizeof(f16) + 1];
    static float out[HALVES], first[HALVES];
    (void)state;
    for (uint32_t i = 0; i < HALVES; i++)
        memcpy(bytes + 1 + i * sizeof(f16), &(f16){(f16)i}, sizeof(f16));
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        f16_rows_widen(out, bytes + 1, HALVES);
        if (level == CPU_PLAIN)
            memcpy(first, out, sizeof first);
        assert_memory_equal(out, first, sizeof first);
    }
    for (uint32_t i = 0; i < HALVES; i++) {
        const double expected = value_of((f16)i);
        assert_true(isnan(expected) ? isnan(out[i]) : (double)out[i] == expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_rounds_to_nearest_even),
        cmocka_unit_test(each_form_widens_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
