/*
 * gather - the rows that a layer reads, brought together.
 *
 * Rows of features lie where feature_source has them, and a batch names them by index; rows of the layer below lie
 * in order. Operators that look at single rows (aggregation.h) take them where they are; products want them
 * together.
 */
#ifndef COMMON_NN_OPERATORS_GATHER_H
#define COMMON_NN_OPERATORS_GATHER_H

#include "common/math/matrix.h"
#include "common/math/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sparse_rows;

/* Input rows of a layer, as feature_source gives those of the first: row i starts at element
 * row_index[i] * stride of base. */
struct input_rows {
    const void *base;
    size_t stride;
    const uint32_t *row_index; /* [source_count of the layer]; NULL: i itself */
    enum precision precision;  /* of the elements: that of the model */
    bool mostly_zero; /* sparse_layer.h; only in fp32; must follow from the stored features alone */
    /* All rows that row_index names, or would name; NULL: compressed for each batch. Only when mostly zero,
     * and with row_index. */
    const struct sparse_rows *compressed;
};

/* Rows first .. end - 1 of an input of `dim` columns: in place when they lie together, else copied to
 * `scratch`, which has room for as many floats. */
struct rows_view gather_rows(const struct input_rows *input, uint32_t dim, uint32_t first,
                             uint32_t end, void *scratch);
/* The same rows in any case copied, to `out` [end - first, precision_stride(dim)]. */
void gather_rows_into(const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                      void *out);

#endif
