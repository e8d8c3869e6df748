/*
 * edge_positions - numbers the edges that training learns, so that no list of them is stored.
 *
 * The edges are those of the topology, part after part and row after row. In a graph with
 * relations only relations that are not reverses of others count; within a part one relation
 * follows the other.
 */
#ifndef STAGES_SAMPLING_PAIRS_EDGE_POSITIONS_H
#define STAGES_SAMPLING_PAIRS_EDGE_POSITIONS_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct edge_positions {              /* {0} is releasable */
    const struct topology *topology; /* borrowed; its parts are open */
    uint32_t relation_count;         /* relations that count */
    uint32_t *relation;              /* [relation_count] */
    uint64_t *first; /* [parts * relation_count + 1]: position of the first edge of each part */
};

/* Counts the edges of each part and relation. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_positions_init(struct edge_positions *positions,
                                               const struct topology *topology,
                                               const struct relation_reverses *reverses,
                                               struct error *err);
/* Returns the number of edges. */
uint64_t edge_positions_count(const struct edge_positions *positions);
void edge_positions_release(struct edge_positions *positions);
struct edge_place {
    uint32_t source, target;
    uint16_t type; /* 0 when edges have no types; the relation in a graph with relations */
    const struct topology_part *part;
    uint64_t edge; /* its number in the part */
};

/* Returns the edge at `position`, which is below edge_positions_count(). */
struct edge_place edge_positions_find(const struct edge_positions *positions, uint64_t position);

#endif
