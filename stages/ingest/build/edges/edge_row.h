/*
 * edge_row - sorts the in-edges of one node and finds repeated ones.
 *
 * The order is by neighbour, then by the columns that distinguish edges
 * (common/graph/edge_column.h: type, then time), then input order. An edge is *repeated* when
 * another edge has the same source, target and distinguishing columns. The weight is not among
 * these columns, so removing repeated edges keeps the weight of the first in input order. An event
 * at another time is another edge.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGE_ROW_H
#define STAGES_INGEST_BUILD_EDGES_EDGE_ROW_H

#include "common/graph/edge_column.h"

#include <stdbool.h>
#include <stdint.h>

/* The edges of one row; arrays [count] in input order. */
struct edge_row {
    uint32_t count;
    const uint32_t *neighbor;
    struct edge_columns_view columns;
};

/* Fills order [count] with the row's entries in order: the low half of order[i] is the position of
 * the i-th edge in the row, the high half its neighbour. `scratch` is [count] too. */
void edge_row_sort(const struct edge_row *row, uint64_t *order, uint64_t *scratch);

/* Returns whether the edges at these two positions of the row repeat each other. */
bool edge_row_same(const struct edge_row *row, uint32_t a, uint32_t b);

#endif
