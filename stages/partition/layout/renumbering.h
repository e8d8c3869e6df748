/*
 * renumbering - the new ids of the nodes: each part owns a range of ids, and neighbours in a part
 * get close ids.
 *
 * Inside a part, nodes are in the order of a breadth-first search along the in-edges, which is also
 * the direction of sampling. The neighbours of a node that were not reached before get consecutive
 * ids, so they share blocks of feature rows and pages of topology. Each search starts at the
 * remaining node with the highest in-degree (of several, the lowest id), so that the rows that are
 * read most often are together at the front. Reverse Cuthill-McKee would start at a node of low
 * degree, which makes the band narrower and spreads the hubs; but graphs with a power law have no
 * narrow band to gain.
 *
 * With several node types, the nodes of each type are together, in that order. In a version of a
 * dataset whose nodes keep their parts they keep their order, too (version_numbering.h).
 *
 * The result is a pure function of the graph and the assignment. The memory budget only decides how
 * many parts are searched in one pass over the edges.
 */
#ifndef STAGES_PARTITION_LAYOUT_RENUMBERING_H
#define STAGES_PARTITION_LAYOUT_RENUMBERING_H

#include "common/base/error.h"
#include "stages/partition/layout/part_rows.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct renumbering { /* {0} is empty */
    int part_count;
    uint32_t node_count;
    uint32_t *book;         /* [part_count + 1], owned, and so are the next */
    uint32_t *to_partition; /* [node_count] */
    uint32_t *to_dataset;   /* [node_count] */
    uint32_t type_count;
    /* [part_count, type_count + 1]; NULL before step three. */
    uint32_t *type_start;
};

/* First step: gives each part its range, with the order of the dataset inside. part [node_count],
 * each < part_count. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_init(struct renumbering *out, const uint32_t *part,
                                            uint32_t node_count, uint32_t part_count,
                                            struct error *err);
/* Does the same with another order inside the parts: that of order [node_count], which has all
 * nodes. */
MUST_CHECK enum error_code renumbering_init_in_order(struct renumbering *out, const uint32_t *part,
                                                     uint32_t node_count, uint32_t part_count,
                                                     const uint32_t *order, struct error *err);
/* Second step: finds the order inside each part. `source` gathers by renumbering_view(renumbering),
 * bare. Fails: what part_rows_gather() fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_order(struct renumbering *renumbering,
                                             const struct part_rows_source *source,
                                             struct error *err);
/* Third step: puts the nodes of the schema's types one type after the other in each part, each type
 * in its present order. With one type it does nothing. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_by_type(struct renumbering *renumbering,
                                               const struct dataset_schema *schema,
                                               struct error *err);
/* Returns the numbering. It is borrowed and changes with the renumbering. */
struct numbering renumbering_view(const struct renumbering *renumbering);
void renumbering_release(struct renumbering *renumbering);

/* Fills order [part->node_count] with the row for each place. Neighbours outside the part are
 * skipped. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code breadth_first_order(const struct topology_arrays *part, uint32_t *order,
                                               struct error *err);

#endif
