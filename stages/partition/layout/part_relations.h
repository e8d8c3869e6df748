/*
 * part_relations - the rows of a part, taken apart by relation.
 *
 * What is gathered of a part is one CSR of all its nodes, whose edges say their relation in the column EDGE_TYPE. Here each
 * relation gets a CSR of its own over the nodes of its target type, in the same order, without that column. Where
 * there is one type and one relation, it has the rows of the part, and nothing is copied.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_RELATIONS_H
#define STAGES_PARTITION_LAYOUT_PART_RELATIONS_H

#include "common/base/error.h"
#include "stages/partition/layout/part_rows.h"
#include "store/records/dataset_schema.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct part_relations { /* {0} is empty */
    uint32_t relation_count;
    struct topology_arrays
        *relation; /* [relation_count], owned; its arrays are these, or the part's */
    uint64_t *row_start;
    uint32_t *neighbor;
    struct edge_columns columns;
};

/* Which rows of a relation keep their edges. */
struct wanted_rows {
    bool (*has)(const void *context, uint32_t relation, uint32_t node);
    const void *context;
};

/* `rows` [part], sorted by part_rows_sort(), is borrowed until release. Rows that are not `wanted` are empty; NULL: all are wanted. Of one
 * relation no other rows were gathered.
 * Fails: ERROR_CORRUPT for an edge of a relation that its target is not of; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_relations_split(const struct topology_arrays *rows, int part,
                                                const struct numbering *numbering,
                                                const struct dataset_schema *schema,
                                                const struct wanted_rows *wanted,
                                                struct part_relations *out, struct error *err);
void part_relations_release(struct part_relations *set);
/* Bytes that splitting a part takes beside its rows, at most. */
uint64_t part_relations_bytes(const struct dataset_schema *schema, uint64_t node_count,
                              uint64_t edge_count);

#endif
