/*
 * pair_sides - of a bipartite graph of one node type: which nodes may stand at which end of a link.
 *
 * Ingest lists the sources of such a graph (edge_splits.h, "left"). The other side are the nodes
 * that they share an edge with, and an update
 * may have brought new nodes of either side: both follow from the edges of the topology and those held out. If an
 * edge joins two nodes of one side, the graph is bipartite no more, and any node may be at any end.
 */
#ifndef STAGES_SAMPLING_PAIR_SIDES_H
#define STAGES_SAMPLING_PAIR_SIDES_H

#include "common/base/error.h"
#include "stages/sampling/node_chances.h"
#include "store/records/edge_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_SIDE_LEFT, PAIR_SIDE_RIGHT, PAIR_SIDES, PAIR_SIDE_NONE = PAIR_SIDES };

struct pair_sides {             /* {0}: the graph has no sides */
    uint8_t *side;              /* [node_count] PAIR_SIDE_NONE: the node has no edge */
    uint32_t *node[PAIR_SIDES]; /* [count] of each side, ascending */
    uint32_t count[PAIR_SIDES];
};

/* The parts of the topology are open. Reads all edges where `splits` lists a side. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_sides_init(struct pair_sides *sides,
                                           const struct topology *topology,
                                           const struct edge_splits *splits, struct error *err);
void pair_sides_release(struct pair_sides *sides);
/* The chances of the nodes of each side, by their place in it, out of those of all nodes; chances
 * [PAIR_SIDES], each to be
 * released. Where no node of a side has a chance, all have the same. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_sides_chances(const struct pair_sides *sides,
                                              const struct node_chances *all,
                                              struct node_chances *chances, struct error *err);

static inline bool pair_sides_are_known(const struct pair_sides *sides)
{
    return sides->side != NULL;
}

#endif
