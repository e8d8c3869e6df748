#include "common/math/bf16_rows.h"

CPU_KERNEL(round_rows, (bf16 * out, const char *rows, size_t dim, size_t row_count),
           (out, rows, dim, row_count))
{
    const size_t stride = bf16_stride(dim);
    for (size_t row = 0; row < row_count; row++, rows += dim * sizeof(float), out += stride) {
        for (size_t i = 0; i < dim; i++) {
            float value;
            memcpy(&value, rows + i * sizeof value, sizeof value); /* the floats may be unaligned */
            out[i] = bf16_of_float(value);
        }
        if (stride > dim)
            out[dim] = 0;
    }
}

void bf16_rows_round(bf16 *out, const void *rows, size_t dim, size_t row_count)
{
    round_rows(out, rows, dim, row_count);
}

/* Types of values at any address. */
typedef bf16 loose_bf16 __attribute__((aligned(1)));
typedef float loose_float __attribute__((aligned(1)));

CPU_KERNEL(pack_bf16, (loose_bf16 *restrict y, const loose_float *restrict x, size_t count),
           (y, x, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = bf16_of_float(x[i]);
}

CPU_KERNEL(widen_bf16, (loose_float *restrict y, const loose_bf16 *restrict x, size_t count),
           (y, x, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = bf16_to_float(x[i]);
}

void bf16_rows_pack(void *y, const void *x, size_t count)
{
    pack_bf16(y, x, count);
}

void bf16_rows_widen(void *y, const void *x, size_t count)
{
    widen_bf16(y, x, count);
}
