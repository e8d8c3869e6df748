/* edge_values - makes edge columns of plain arrays, for tests. */
#ifndef TESTS_SUPPORT_EDGE_VALUES_H
#define TESTS_SUPPORT_EDGE_VALUES_H

#include "common/graph/edge_column.h"

/* Returns the columns that are not NULL, with one element for each edge. */
static inline struct edge_columns_view edge_values(const float *weight, const int64_t *time,
                                                   const uint16_t *edge_type)
{
    struct edge_columns_view view = {
        .data = {[EDGE_WEIGHT] = weight, [EDGE_TIME] = time, [EDGE_TYPE] = edge_type}};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        view.width.of[c] = view.data[c] != NULL;
    return view;
}

#endif
