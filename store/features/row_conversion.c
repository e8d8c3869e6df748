#include "store/features/row_conversion.h"

#include "common/base/error.h"
#include "common/math/bf16_rows.h"
#include "common/math/f16_rows.h"

#include <string.h>

enum { PIECE = 512 }; /* elements of a row that are converted at a time */

enum precision row_conversion_precision(enum tensor_type type, enum precision wanted)
{
    return type == TENSOR_F32 || type == TENSOR_F16 || type == TENSOR_BF16 ? wanted
                                                                           : PRECISION_FP32;
}

bool row_conversion_is_none(enum tensor_type type, enum precision precision)
{
    return precision == PRECISION_FP32 && tensor_type_bytes(type) == sizeof(float);
}

static void widen(float *out, const char *from, enum tensor_type type, size_t count)
{
    if (type == TENSOR_F16)
        f16_rows_widen(out, from, count);
    else if (type == TENSOR_BF16)
        bf16_rows_widen(out, from, count);
    else
        memcpy(out, from, count * sizeof *out);
}

/* Converts by way of floats, which represent every f16. */
static void round_row(bf16 *out, const char *from, enum tensor_type type, size_t dim)
{
    const size_t bytes = tensor_type_bytes(type);
    float piece[PIECE];
    for (size_t first = 0; first < dim; first += PIECE) {
        const size_t count = dim - first < PIECE ? dim - first : PIECE;
        widen(piece, from + first * bytes, type, count);
        bf16_rows_round(out + first, piece, count, 1);
    }
}

void row_conversion_enter(void *out, enum precision precision, const void *rows,
                          enum tensor_type type, size_t dim, size_t row_count)
{
    const char *from = rows;
    const size_t row_bytes = dim * tensor_type_bytes(type);
    must(precision == PRECISION_BF16 || tensor_type_bytes(type) <= sizeof(float));
    if (precision == PRECISION_FP32)
        widen(out, from, type, dim * row_count);
    else if (type == TENSOR_F32)
        bf16_rows_round(out, from, dim, row_count);
    else
        for (size_t row = 0; row < row_count; row++)
            round_row((bf16 *)out + row * bf16_stride(dim), from + row * row_bytes, type, dim);
}

void row_conversion_store(void *out, enum tensor_type type, const float *value, size_t count)
{
    if (type == TENSOR_F16)
        f16_rows_round(out, value, count);
    else if (type == TENSOR_BF16)
        bf16_rows_pack(out, value, count);
    else
        memcpy(out, value, count * sizeof *value);
}
