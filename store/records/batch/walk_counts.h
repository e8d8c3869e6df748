/*
 * walk_counts - how often nodes and edges are in the subgraphs of GraphSAINT's walks.
 *
 * sample counts them once for all mini-batches of a run, in the first of its units; every later
 * unit that draws mini-batches reads them. Nodes have their ids in the partition. Edges are
 * numbered as they lie in the topology: part after part, and in a part relation after relation.
 *
 *   key       run/<id>/walk_counts
 *   sections  "drawn"  U64 [1]      the number of subgraphs
 *             "node"   U32 [nodes]  the number of subgraphs that have the node
 *             "edge"   U32 [edges]  the number of subgraphs that have both ends of the edge
 *   valid     there is at least one subgraph, and no count is above their number
 */
#ifndef STORE_RECORDS_BATCH_WALK_COUNTS_H
#define STORE_RECORDS_BATCH_WALK_COUNTS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct walk_counts {
    uint64_t drawn, node_count, edge_count;
    const uint32_t *node; /* [node_count] */
    const uint32_t *edge; /* [edge_count] */
    struct record_view view;
};

MUST_CHECK enum error_code walk_counts_put(struct store *store, const char *run_id,
                                           const struct walk_counts *counts, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code walk_counts_get(struct store *store, const char *run_id,
                                           struct walk_counts *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code walk_counts_decode(const struct record_view *view,
                                              struct walk_counts *out, struct error *err);

#endif
