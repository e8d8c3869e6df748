/*
 * edge_row - the in-edges of one node: put in order, repeated ones found.
 *
 * The order is by neighbour, then by the columns that distinguish edges (common/graph/edge_column.h: type, then time),
 * then input. An edge is *repeated* when source, target and those columns are all those of another; the weight is not
 * among them, so removing repeated edges keeps the weight of the first in input order. An event at another time is
 * another edge.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_ROW_H
#define STAGES_INGEST_BUILD_EDGE_ROW_H

#include "common/graph/edge_column.h"

#include <stdbool.h>
#include <stdint.h>

/* Arrays [count] in input order. */
struct edge_row {
    uint32_t count;
    const uint32_t *neighbor;
    struct edge_columns_view columns;
};

/* Fills order [count] with the row's entries in order: the low half of order[i] is the position of the
 * i-th edge in the row, the high half its neighbour. `scratch` is [count] too. */
void edge_row_sort(const struct edge_row *row, uint64_t *order, uint64_t *scratch);

/* Whether the edges at these two positions of the row repeat each other. */
bool edge_row_same(const struct edge_row *row, uint32_t a, uint32_t b);

#endif
