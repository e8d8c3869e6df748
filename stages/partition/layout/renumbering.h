/*
 * renumbering - the new ids of the nodes: a part owns a range, and in a part neighbours lie close.
 *
 * Inside a part, nodes stand in the order of a breadth-first search along the in-edges, which is the
 * walk that sampling takes: the neighbours of a node get consecutive ids where they were not reached
 * before, so they share blocks of feature rows and pages of topology. Each search starts at the node of
 * highest in-degree that is left (of several, the lowest id), so that the rows most often wanted stand
 * together at the front. Reverse Cuthill-McKee would start at a node of low degree, which makes the band
 * narrower and spreads the hubs; graphs with a power law have no narrow band to gain.
 *
 * Of several node types each stands together, in that order. In a version of a dataset whose nodes keep their parts they keep their
 * order, too (version_numbering.h).
 *
 * A pure function of the graph and the assignment; the memory budget only decides how many parts are
 * searched in one pass over the edges.
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
    uint32_t *book;         /* [part_count + 1], owned; likewise below */
    uint32_t *to_partition; /* [node_count] */
    uint32_t *to_dataset;   /* [node_count] */
    uint32_t type_count;
    uint32_t *type_start; /* [part_count, type_count + 1]; NULL: step three is to come */
};

/* First step: ranges for the parts, dataset order inside. part [node_count], each < part_count.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_init(struct renumbering *out, const uint32_t *part,
                                            uint32_t node_count, uint32_t part_count,
                                            struct error *err);
/* The same with another order inside the parts: that of order [node_count], all nodes. */
MUST_CHECK enum error_code renumbering_init_in_order(struct renumbering *out, const uint32_t *part,
                                                     uint32_t node_count, uint32_t part_count,
                                                     const uint32_t *order, struct error *err);
/* Second step: the order inside each part. `source` gathers by renumbering_view(renumbering), bare.
 * Fails: what part_rows_gather() fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_order(struct renumbering *renumbering,
                                             const struct part_rows_source *source,
                                             struct error *err);
/* Third step: the types of the schema one behind the other in each part, each in the order that it has. Nothing to do
 * with one type. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code renumbering_by_type(struct renumbering *renumbering,
                                               const struct dataset_schema *schema,
                                               struct error *err);
/* Borrowed; changes with the renumbering. */
struct numbering renumbering_view(const struct renumbering *renumbering);
void renumbering_release(struct renumbering *renumbering);

/* order [part->node_count]: the row that stands at each place. Neighbours outside the part are passed
 * over. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code breadth_first_order(const struct topology_arrays *part, uint32_t *order,
                                               struct error *err);

#endif
