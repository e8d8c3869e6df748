#include "common/nn/operators/gather.h"

#include <string.h>

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
    for (uint32_t row = first; row < end; row++)
        memcpy((char *)scratch + (row - first) * stride * precision_bytes(precision),
               precision_at(precision, input->base, input->row_index[row] * input->stride),
               stride * precision_bytes(precision));
    rows.value = scratch;
    rows.stride = stride;
    return rows;
}
