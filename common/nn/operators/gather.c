#include "common/nn/operators/gather.h"

#include <string.h>

void gather_rows_into(const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                      void *out)
{
    const size_t bytes =
        precision_stride(input->precision, dim) * precision_bytes(input->precision);
    for (uint32_t row = first; row < end; row++) {
        const size_t at = input->row_index ? input->row_index[row] : row;
        memcpy((char *)out + (row - first) * bytes,
               precision_at(input->precision, input->base, at * input->stride), bytes);
    }
}

struct rows_view gather_rows(const struct input_rows *input, uint32_t dim, uint32_t first,
                             uint32_t end, void *scratch)
{
    const enum precision precision = input->precision;
    const size_t stride = precision_stride(precision, dim);
    struct rows_view rows = {.value = precision_at(precision, input->base, first * input->stride),
                             .precision = precision,
                             .rows = end - first,
                             .cols = dim,
                             .stride = input->stride};
    if (!input->row_index)
        return rows;
    gather_rows_into(input, dim, first, end, scratch);
    rows.value = scratch;
    rows.stride = stride;
    return rows;
}
