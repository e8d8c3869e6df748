/*
 * gather - copies the rows that a layer reads next to each other.
 *
 * The rows of the first layer lie where feature_source has them, and a batch names them by index;
 * the rows of a later layer lie in order. Operators that read single rows (aggregation.h) use them
 * where they are; matrix products need them next to each other.
 */
#ifndef COMMON_NN_OPERATORS_GATHER_H
#define COMMON_NN_OPERATORS_GATHER_H

#include "common/math/matrix.h"
#include "common/math/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sparse_rows;

/* The input rows of a layer, as feature_source gives those of the first layer. Row i starts at
 * element row_index[i] * stride of base. */
struct input_rows {
    const void *base;
    size_t stride;
    const uint32_t *row_index; /* [source_count of the layer]; NULL: row i is i itself */
    enum precision precision;  /* of the elements, equal to that of the model */
    /* see sparse_layer.h; only in fp32; must follow from the stored features alone */
    bool mostly_zero;
    /* The compressed form of all rows that row_index can name; NULL: each batch compresses its
     * own rows. Set only if the rows are mostly zero and row_index is set. */
    const struct sparse_rows *compressed;
};

/* Returns the rows first .. end - 1 of an input of `dim` columns: in place if they lie next to
 * each other, otherwise copied to `scratch`, which must have room for them as floats. */
struct rows_view gather_rows(const struct input_rows *input, uint32_t dim, uint32_t first,
                             uint32_t end, void *scratch);
/* Always copies these rows, to `out` [end - first, precision_stride(dim)]. */
void gather_rows_into(const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                      void *out);

#endif
