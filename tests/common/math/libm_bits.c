/*
 * libm_bits - prints a hash of the results of expf(), logf() and expm1f(), which affect the bits of
 * a run in losses, attention, softmax and ELU.
 *
 * glibc has forms of these functions with and without fused multiply-adds, and chooses by the
 * processor. ctest runs this program with and without FMA in GLIBC_TUNABLES and compares the hashes
 * (common/math/libm_levels_agree).
 */
#include "common/base/error.h"
#include "common/files/checksum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 4096 };

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds the results for every `step`-th float from `first` up to `end`, as bits. */
static void add_values(struct checksum_stream *sum, float (*function)(float), uint32_t first,
                       uint32_t end, uint32_t step)
{
    float value[BATCH];
    size_t count = 0;
    for (uint32_t bits = first; bits < end; bits += step) {
        value[count++] = function(float_of_bits(bits));
        if (count == BATCH || bits >= end - step) {
            checksum_stream_add(sum, value, count * sizeof *value);
            count = 0;
        }
    }
}

int main(void)
{
    const uint32_t one = 0x3f800000, infinity = 0x7f800000, minus = 0x80000000;
    struct checksum_stream *sum = NULL;
    char text[CHECKSUM_TEXT_SIZE];
    must(checksum_stream_new(&sum, NULL) == ERROR_NONE);
    add_values(sum, expf, minus + 0x33000000, minus + 0x42d00000, 97); /* -3e-8 to -104 */
    add_values(sum, expf, 0x33000000, 0x42b20000, 97);                 /* up to 89 */
    add_values(sum, logf, one, infinity, 97);
    add_values(sum, expm1f, minus + 0x33000000, minus + 0x42d00000, 97);
    add_values(sum, logf, 1, one, 997);
    const struct checksum all = checksum_stream_sum(sum);
    checksum_text(&all, text);
    checksum_stream_free(sum);
    (void)printf("%s\n", text);
    return 0;
}
