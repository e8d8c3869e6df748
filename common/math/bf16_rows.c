#include "common/math/bf16_rows.h"

CPU_KERNEL(round_rows, (bf16 * out, const char *rows, size_t dim, size_t row_count),
           (out, rows, dim, row_count))
{
    const size_t stride = bf16_stride(dim);
    for (size_t row = 0; row < row_count; row++, rows += dim * sizeof(float), out += stride) {
        for (size_t i = 0; i < dim; i++) {
            float value;
            memcpy(&value, rows + i * sizeof value, sizeof value); /* floats that are not aligned */
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
