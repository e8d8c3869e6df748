/*
 * sparse_rows - the input rows of a block, compressed: bags of words have one element in a hundred.
 */
#ifndef COMMON_NN_OPERATORS_SPARSE_ROWS_H
#define COMMON_NN_OPERATORS_SPARSE_ROWS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/math/sparse_product.h"
#include "common/nn/operators/gather.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed arrays, most often in an arena. */
struct sparse_rows {
    uint32_t row_count, dim;
    const uint32_t *row_start, *row_end; /* [row_count], into entry */
    const struct sparse_entry *entry;
};

/* How many of the `count` floats of a row, at any address, are other than zero. */
size_t sparse_rows_nonzeros(const void *row, size_t count);
/* Whether layers should take rows as sparse ones: when at most one element of eight is other than zero. */
bool sparse_rows_pay(size_t nonzeros, size_t elements);

/* Compresses input rows 0 .. row_count - 1 into the arena. Fails: ERROR_NO_MEMORY, and above 2^32 - 1
 * elements other than zero. */
MUST_CHECK enum error_code sparse_rows_build(const struct input_rows *input, uint32_t dim,
                                             uint32_t row_count, struct arena *arena,
                                             struct thread_pool *pool, struct sparse_rows *out,
                                             struct error *err);
/* Rows row_index[0 .. row_count - 1] of `all`; copies no entry. */
MUST_CHECK enum error_code sparse_rows_select(const struct sparse_rows *all,
                                              const uint32_t *row_index, uint32_t row_count,
                                              struct arena *arena, struct sparse_rows *out,
                                              struct error *err);
/* Rows first .. end - 1 as a matrix [end - first, dim]. */
struct sparse_matrix sparse_rows_view(const struct sparse_rows *rows, uint32_t first, uint32_t end);

/* The same elements by column, rows ascending. */
struct sparse_columns {
    uint32_t row_count, early_rows, dim;
    uint32_t *start;     /* [dim + 1] */
    uint32_t *early_end; /* [dim]: where rows below `early_rows` end */
    struct sparse_entry *entry;
};

MUST_CHECK enum error_code sparse_rows_transpose(const struct sparse_rows *rows,
                                                 uint32_t early_rows, struct arena *arena,
                                                 struct sparse_columns *out, struct error *err);
/* Columns first .. end - 1 as a matrix [end - first, rows], of all rows or of the early ones. */
struct sparse_matrix sparse_columns_view(const struct sparse_columns *columns, uint32_t first,
                                         uint32_t end, bool early);

#endif
