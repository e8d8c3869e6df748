#include "common/math/bf16_rows.h"

/* By way of a few cache lines, as floats of a stored block are not aligned. */
CPU_CLONES
static void round_rows(bf16 *out, const char *rows, size_t dim, size_t row_count)
{
    enum { PIECE = 64 };
    const size_t stride = bf16_stride(dim);
    float aligned[PIECE];
    for (size_t row = 0; row < row_count; row++, rows += dim * sizeof(float), out += stride) {
        for (size_t c = 0; c < dim; c += PIECE) {
            const size_t count = dim - c < PIECE ? dim - c : PIECE;
            memcpy(aligned, rows + c * sizeof(float), count * sizeof(float));
            bf16_of_floats(out + c, aligned, count);
        }
        if (stride > dim)
            out[dim] = 0;
    }
}

void bf16_rows_round(bf16 *out, const void *rows, size_t dim, size_t row_count)
{
    round_rows(out, rows, dim, row_count);
}
