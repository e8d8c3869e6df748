/*
 * changed_nodes - the nodes of a version that may have other edges, or another row of features, than in a base, by what the deltas between say.
 *
 *   deltas of the datasets ──> ends of edges, rows that are named (store/versions/version_touched.h) ──┐
 *   base's topology ─────────> neighbours of nodes that are gone ──────────────────────────────────────┴─> the rows that are compared
 *
 * So what is read of version and base is what an update has touched. Of an undirected graph the neighbours of a node that is gone stand in its
 * own row; of a directed one the rows of the base are searched for it, which reads 4 bytes an edge, of relations alone whose sources are of a
 * type that lost nodes. Memory: a byte a node.
 */
#ifndef STAGES_PARTITION_CHANGED_NODES_H
#define STAGES_PARTITION_CHANGED_NODES_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "store/records/partition_book.h"
#include "store/topology/topology.h"
#include "store/versions/version_touched.h"

#include <stdbool.h>
#include <stdint.h>

struct
    changed_nodes { /* {0}: nothing is known, and all may have changed; release with changed_nodes_release() */
    const struct numbering *numbering; /* borrowed */
    uint8_t *touched;                  /* [node_count] by numbers of the dataset; owned */
};

/* What the deltas say. Borrows the numbering. Fails: as version_touched_mark(). */
MUST_CHECK enum error_code changed_nodes_find(const struct partition_input *input,
                                              const char *base_dataset_id,
                                              const struct numbering *numbering,
                                              struct changed_nodes *out, struct error *err);
void changed_nodes_release(struct changed_nodes *changed);
/* Those that a node of the base, of that book and topology, which is gone had an edge to. Fails: what topology_open_part() fails with. */
MUST_CHECK enum error_code changed_nodes_add_neighbors(struct changed_nodes *changed,
                                                       const struct part_delta *delta,
                                                       const struct partition_book *book,
                                                       const struct topology *base, bool undirected,
                                                       struct error *err);
/* The nodes from `first` up to `end` that are touched in the way `what`, all by their numbers in the dataset, ascending. Owns: *node, to be freed
 * by the caller. */
MUST_CHECK enum error_code changed_nodes_list(const struct changed_nodes *changed, uint8_t what,
                                              uint32_t first, uint32_t end, uint32_t **node,
                                              uint64_t *count, struct error *err);

/* Whether a node of the partition is to be compared: TOUCHED_EDGES, TOUCHED_FEATURES. */
static inline bool changed_nodes_has(const struct changed_nodes *changed, uint8_t what,
                                     uint32_t node)
{
    return !changed->touched || (changed->touched[changed->numbering->to_dataset[node]] & what);
}

#endif
