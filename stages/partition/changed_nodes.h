/*
 * changed_nodes - finds the nodes of a version that may have other edges, or another row of
 * features, than in a base, from the deltas between the two.
 *
 *   deltas of the datasets ──> ends of edges, rows that are named    ──┐
 *                              (store/versions/version_touched.h)     ├─> rows that are compared
 *   base's topology ─────────> neighbours of nodes that are gone     ──┘
 *
 * So only the rows that an update has touched are read from version and base. In an undirected
 * graph the neighbours of a node that is gone are in its own row. In a directed graph the rows of
 * the base are searched for it. That reads 4 bytes an edge, but only of relations whose source type
 * has lost nodes. Memory: a byte a node.
 */
#ifndef STAGES_PARTITION_CHANGED_NODES_H
#define STAGES_PARTITION_CHANGED_NODES_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "store/records/partition/partition_book.h"
#include "store/topology/topology.h"
#include "store/versions/version_touched.h"

#include <stdbool.h>
#include <stdint.h>

/* {0}: nothing is known, so all nodes may have changed. Release with changed_nodes_release(). */
struct changed_nodes {
    const struct numbering *numbering; /* borrowed */
    uint8_t *touched;                  /* [node_count] by dataset ids; owned */
};

/* Marks the nodes that the deltas name. Borrows the numbering. Fails: as version_touched_mark(). */
MUST_CHECK enum error_code changed_nodes_find(const struct partition_input *input,
                                              const char *base_dataset_id,
                                              const struct numbering *numbering,
                                              struct changed_nodes *out, struct error *err);
void changed_nodes_release(struct changed_nodes *changed);
/* Marks the targets of edges from nodes of the base that are gone; `book` and topology are those of
 * the base. Fails: what topology_open_part() fails with. */
MUST_CHECK enum error_code changed_nodes_add_neighbors(struct changed_nodes *changed,
                                                       const struct part_delta *delta,
                                                       const struct partition_book *book,
                                                       const struct topology *base, bool undirected,
                                                       struct error *err);
/* Lists the nodes from `first` up to `end` that are touched in the way `what`, ascending, all by
 * dataset ids. Owns: *node, to be freed by the caller. */
MUST_CHECK enum error_code changed_nodes_list(const struct changed_nodes *changed, uint8_t what,
                                              uint32_t first, uint32_t end, uint32_t **node,
                                              uint64_t *count, struct error *err);

/* Returns whether a node of the partition must be compared. `what`: TOUCHED_EDGES or
 * TOUCHED_FEATURES. */
static inline bool changed_nodes_has(const struct changed_nodes *changed, uint8_t what,
                                     uint32_t node)
{
    return !changed->touched || (changed->touched[changed->numbering->to_dataset[node]] & what);
}

#endif
