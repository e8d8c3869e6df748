/*
 * edge_positions - the edges that training learns, each by a number: no list of them is stored.
 *
 * They are those of the topology, part after part and row after row; in a graph with relations those of each that is no reverse, in
 * a part one relation behind the other.
 */
#ifndef STAGES_SAMPLING_EDGE_POSITIONS_H
#define STAGES_SAMPLING_EDGE_POSITIONS_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct edge_positions {              /* {0} is releasable */
    const struct topology *topology; /* borrowed; its parts are open */
    uint32_t relation_count;         /* that are gone through */
    uint32_t *relation;              /* [relation_count] */
    uint64_t *first; /* [parts * relation_count + 1]: position of the first edge of each part */
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_positions_init(struct edge_positions *positions,
                                               const struct topology *topology,
                                               const struct relation_reverses *reverses,
                                               struct error *err);
/* How many there are. */
uint64_t edge_positions_count(const struct edge_positions *positions);
void edge_positions_release(struct edge_positions *positions);
struct edge_place {
    uint32_t source, target;
    uint16_t type; /* 0 where edges have none; of a graph with relations the relation */
    const struct topology_part *part;
    uint64_t edge; /* of the part */
};

/* The edge at `position`, which is below edge_positions_count(). */
struct edge_place edge_positions_find(const struct edge_positions *positions, uint64_t position);

#endif
