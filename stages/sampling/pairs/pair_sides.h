/*
 * pair_sides - finds which nodes of a bipartite graph of one node type may stand at which end of a
 * link.
 *
 * Ingest lists the sources of such a graph (edge_splits.h, "left"). The other side are the nodes
 * that share an edge with a source. An update may have brought new nodes of either side, so the
 * sides are computed from the edges of the topology and the held-out edges. If an edge joins two
 * nodes of one side, the graph is no longer bipartite, and any node may be at any end.
 */
#ifndef STAGES_SAMPLING_PAIRS_PAIR_SIDES_H
#define STAGES_SAMPLING_PAIRS_PAIR_SIDES_H

#include "common/base/error.h"
#include "stages/sampling/rows/node_chances.h"
#include "store/records/dataset/edge_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_SIDE_LEFT, PAIR_SIDE_RIGHT, PAIR_SIDES, PAIR_SIDE_NONE = PAIR_SIDES };

struct pair_sides {             /* {0}: the graph has no sides */
    uint8_t *side;              /* [node_count]; PAIR_SIDE_NONE: the node has no edge */
    uint32_t *node[PAIR_SIDES]; /* [count] of each side, ascending */
    uint32_t count[PAIR_SIDES];
};

/* Finds the sides; reads all edges if `splits` lists a side. The parts of the topology must be
 * open. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_sides_init(struct pair_sides *sides,
                                           const struct topology *topology,
                                           const struct edge_splits *splits, struct error *err);
void pair_sides_release(struct pair_sides *sides);
/* Copies the chances of the nodes of each side out of those of all nodes, by place in the side,
 * into chances [PAIR_SIDES]. The caller releases each of them. If no node of a side has a chance,
 * all its nodes get the same. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_sides_chances(const struct pair_sides *sides,
                                              const struct node_chances *all,
                                              struct node_chances *chances, struct error *err);

static inline bool pair_sides_are_known(const struct pair_sides *sides)
{
    return sides->side != NULL;
}

#endif
