/*
 * walk_counts - how often nodes and edges are in subgraphs of GraphSAINT's walks, counted once for all mini-batches of a run.
 *
 * Written by sample as the first of its units, and read by all that draw mini-batches. Numbers are
 * those of the partition: nodes by their ids, edges as they lie in the topology, part after part,
 * and in a part relation after relation.
 *
 *   key       run/<id>/walk_counts
 *   sections  "drawn"  U64 [1]      subgraphs
 *             "node"   U32 [nodes]  in how many of them the node is
 *             "edge"   U32 [edges]  in how many both its ends are
 *   valid     at least one subgraph, no count above their number
 */
#ifndef STORE_RECORDS_WALK_COUNTS_H
#define STORE_RECORDS_WALK_COUNTS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). For writing, fill the pointers and
 * leave `view` zero. */
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
/* The check alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code walk_counts_decode(const struct record_view *view,
                                              struct walk_counts *out, struct error *err);

#endif
