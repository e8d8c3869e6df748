#include "stages/plan/model/sparse_features.h"

#include "common/base/memory.h"
#include "common/nn/operators/sparse_rows.h"

enum { ROWS_LOOKED_AT = 256 };

enum error_code sparse_features_detect(struct feature_source *features, uint32_t node_count,
                                       bool *mostly_zero, struct error *err)
{
    const uint32_t rows = node_count < ROWS_LOOKED_AT ? node_count : ROWS_LOOKED_AT;
    const uint32_t dim = feature_source_dim(features);
    size_t nonzeros = 0;
    float *row = NULL;
    enum error_code rc = memory_new(&row, (size_t)rows * dim, "the first rows of features", err);
    if (rc == ERROR_NONE)
        rc = feature_source_read(features, 0, rows, row, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < rows; i++)
        nonzeros += sparse_rows_nonzeros(row + (size_t)i * dim, dim);
    memory_free(row);
    *mostly_zero = rc == ERROR_NONE && sparse_rows_pay(nonzeros, (size_t)rows * dim);
    return rc;
}
