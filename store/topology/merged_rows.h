/*
 * merged_rows - the arrays of a part that were put together from several files (topology_merge.h,
 * topology_delta.h).
 *
 * The arrays are consecutive in an unnamed file in scratch, as large as the file of the part would
 * be with all its edges. The system can reclaim its pages, as those of a topology file.
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

/* One step of filling the arrays, over all rows of the part. */
typedef enum error_code (*merged_rows_step)(void *merging, struct error *err);
/* Reserves the arrays of a part of one relation, whose nodes, edge count and widths are known, and
 * fills them: `count` fills the starts of rows, `fill` the rest, each through merged_rows_at(out,
 * ...). Then computes the sums of weights and points the part to the arrays. The caller frees the
 * part's lists of chunks whether it fails or not. Fails: ERROR_NO_SPACE; ERROR_IO; ERROR_NO_MEMORY;
 * as the steps; *out is then empty. */
MUST_CHECK enum error_code merged_rows_build(struct store *store, struct topology_part *part,
                                             merged_rows_step count, merged_rows_step fill,
                                             void *merging, struct merged_rows *out,
                                             struct error *err);
void merged_rows_release(struct merged_rows *rows);

static inline void *merged_rows_at(const struct merged_rows *rows, int array)
{
    return rows->bytes + rows->start[array];
}

/* Returns the value of edge `edge` in a column. */
static inline char *merged_rows_column(const struct merged_rows *rows, enum edge_column column,
                                       uint64_t edge)
{
    return rows->bytes + rows->start[TOPOLOGY_FIRST_COLUMN + column] +
           edge * rows->array[TOPOLOGY_FIRST_COLUMN + column].element_size;
}

#endif
