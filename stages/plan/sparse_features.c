#include "stages/plan/sparse_features.h"

#include "common/nn/sparse_rows.h"

enum { ROWS_LOOKED_AT = 256 };

struct count {
    uint32_t dim;
    size_t nonzeros;
};

static void count_rows(void *context, const struct feature_visit *visit)
{
    struct count *count = context;
    for (uint32_t i = 0; i < visit->count; i++)
        count->nonzeros += sparse_rows_nonzeros(visit->row[i], count->dim);
}

static enum error_code count_first(struct feature_source *features, const uint32_t *node,
                                   uint32_t rows, struct count *count, struct error *err)
{
    struct feature_rows found = {0};
    if (!feature_source_is_resident(features))
        return feature_source_visit(features, node, rows, count_rows, count, NULL, err);
    const enum error_code rc = feature_source_fetch(features, node, rows, &found, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < rows; i++) {
        const size_t at = found.row_index ? found.row_index[i] : i;
        count->nonzeros +=
            sparse_rows_nonzeros((const float *)found.base + at * found.stride, count->dim);
    }
    return rc;
}

enum error_code sparse_features_detect(struct feature_source *features, uint32_t node_count,
                                       bool *mostly_zero, struct error *err)
{
    const uint32_t rows = node_count < ROWS_LOOKED_AT ? node_count : ROWS_LOOKED_AT;
    struct count count = {.dim = feature_source_dim(features)};
    uint32_t node[ROWS_LOOKED_AT];
    for (uint32_t i = 0; i < rows; i++)
        node[i] = i;
    const enum error_code rc = count_first(features, node, rows, &count, err);
    *mostly_zero = rc == ERROR_NONE && sparse_rows_pay(count.nonzeros, (size_t)rows * count.dim);
    return rc;
}
