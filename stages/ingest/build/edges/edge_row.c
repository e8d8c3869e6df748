#include "stages/ingest/build/edges/edge_row.h"

#include "common/numbers/key_sort.h"

static bool before(const void *context, uint64_t a, uint64_t b)
{
    const struct edge_row *row = context;
    if (a >> 32 == b >> 32) {
        const int order =
            edge_columns_compare(&row->columns, (uint32_t)a, &row->columns, (uint32_t)b);
        if (order)
            return order < 0;
    }
    return a < b;
}

void edge_row_sort(const struct edge_row *row, uint64_t *order, uint64_t *scratch)
{
    for (uint32_t i = 0; i < row->count; i++)
        order[i] = (uint64_t)row->neighbor[i] << 32 | i;
    if (edge_widths_distinguish(&row->columns.width))
        key_sort_by(order, scratch, row->count, before, row);
    else
        key_sort(order, scratch, row->count);
}

bool edge_row_same(const struct edge_row *row, uint32_t a, uint32_t b)
{
    return row->neighbor[a] == row->neighbor[b] &&
           edge_columns_compare(&row->columns, a, &row->columns, b) == 0;
}
