/*
 * held_rows - the edges that one part of a vertex cut holds, as rows of the nodes where they end.
 *
 *   row i of a relation: node row_node[i], its edges row_start[i] .. row_start[i + 1] - 1, by
 *   source and then in the order of the dataset
 *
 * A node's edges are in several parts, so a row here is a piece of the node's row in the dataset.
 * Memory: each edge twice, as it was read and in its row.
 */
#ifndef STAGES_PARTITION_LAYOUT_HELD_ROWS_H
#define STAGES_PARTITION_LAYOUT_HELD_ROWS_H

#include "common/base/error.h"
#include "stages/partition/layout/part_rows.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct held_rows { /* {0} is empty */
    uint32_t relation_count;
    /* [relation_count], owned; it points into the arrays below, one relation after the other. */
    struct topology_held *relation;
    uint32_t *row_node;  /* new ids, ascending in each relation; owned, and so are the next */
    uint64_t *row_start; /* for each relation one more number than its rows */
    uint32_t *neighbor;  /* new ids */
    struct edge_columns columns;
};

struct held_rows_source { /* all borrowed */
    struct store *store;
    const struct dataset_schema *schema;
    const struct numbering *numbering;
    const uint16_t *edge_part; /* [edge_count] in the order of edge_walk.h */
    bool bare;                 /* leave the edge columns out */
    uint64_t budget_bytes;
};

/* Gathers the edges in two passes: one counts, one fills. Fails: ERROR_NO_MEMORY naming a part that
 * exceeds the budget; ERROR_CORRUPT for an edge of a relation that the dataset does not have; what
 * edge_walk() fails with. */
MUST_CHECK enum error_code held_rows_gather(const struct held_rows_source *source, int part,
                                            struct held_rows *out, struct error *err);
void held_rows_release(struct held_rows *rows);

#endif
