/*
 * part_relations - the rows of a part, split by relation.
 *
 * The gathered rows of a part are one CSR of all its nodes, whose edges have their relation in the
 * column EDGE_TYPE. Here each relation gets a CSR of its own over the nodes of its target type, in
 * the same order, without that column. With one type and one relation it borrows the rows of the
 * part, and nothing is copied.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_RELATIONS_H
#define STAGES_PARTITION_LAYOUT_PART_RELATIONS_H

#include "common/base/error.h"
#include "stages/partition/layout/part_rows.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct part_relations { /* {0} is empty */
    uint32_t relation_count;
    /* [relation_count], owned; its arrays are the ones below, or the part's. */
    struct topology_arrays *relation;
    uint64_t *row_start;
    uint32_t *neighbor;
    struct edge_columns columns;
};

/* Selects the rows of a relation that keep their edges. */
struct wanted_rows {
    bool (*has)(const void *context, uint32_t relation, uint32_t node);
    const void *context;
};

/* Splits rows [part], which part_rows_sort() has sorted and which are borrowed until release. Rows
 * that are not `wanted` are empty; NULL: all rows are wanted. With one relation, only wanted rows
 * were gathered. Fails: ERROR_CORRUPT for an edge of a relation that does not end at its target's
 * type; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_relations_split(const struct topology_arrays *rows, int part,
                                                const struct numbering *numbering,
                                                const struct dataset_schema *schema,
                                                const struct wanted_rows *wanted,
                                                struct part_relations *out, struct error *err);
void part_relations_release(struct part_relations *set);
/* Returns the most bytes that splitting a part takes beside its rows. */
uint64_t part_relations_bytes(const struct dataset_schema *schema, uint64_t node_count,
                              uint64_t edge_count);

#endif
