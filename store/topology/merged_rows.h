/*
 * merged_rows - the arrays of a part that were put together of several files (topology_merge.h, topology_delta.h).
 *
 * They lie one behind the other in a file in scratch that has no name any more, as large as the file of the part would be if it had
 * them all: its pages are the system's to take back, as those of a topology file are.
 */
#ifndef STORE_TOPOLOGY_MERGED_ROWS_H
#define STORE_TOPOLOGY_MERGED_ROWS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/topology/topology.h"
#include "store/topology/topology_array.h"

#include <stddef.h>

struct merged_rows { /* {0} is empty */
    char *bytes;     /* mapped */
    size_t size;
    struct topology_array array[TOPOLOGY_ARRAY_COUNT];
    size_t start[TOPOLOGY_ARRAY_COUNT + 1]; /* of each array in `bytes` */
};

/* What rows are merged of: one step of it, over all rows of the part. */
typedef enum error_code (*merged_rows_step)(void *merging, struct error *err);
/* Makes room for all arrays of a part of one relation, whose nodes, edge count and widths are known, and fills it: `count` the starts of rows,
 * `fill` the rest, each by merged_rows_at(out, ...); then come the sums of weights, and the part points to the arrays. The caller frees
 * its lists of chunks, failure or not. Fails: ERROR_NO_SPACE; ERROR_IO; ERROR_NO_MEMORY; as the steps, with *out empty. */
MUST_CHECK enum error_code merged_rows_build(struct store *store, struct topology_part *part,
                                             merged_rows_step count, merged_rows_step fill,
                                             void *merging, struct merged_rows *out,
                                             struct error *err);
void merged_rows_release(struct merged_rows *rows);

static inline void *merged_rows_at(const struct merged_rows *rows, int array)
{
    return rows->bytes + rows->start[array];
}

/* What of a column lies where edge `edge` does. */
static inline char *merged_rows_column(const struct merged_rows *rows, enum edge_column column,
                                       uint64_t edge)
{
    return rows->bytes + rows->start[TOPOLOGY_FIRST_COLUMN + column] +
           edge * rows->array[TOPOLOGY_FIRST_COLUMN + column].element_size;
}

#endif
