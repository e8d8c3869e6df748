/*
 * wanted_nodes - the nodes that a run of inference is asked for, if those are not all nodes.
 *
 * graphmill infer --nodes writes them before each start of the run; infer reads them.
 *
 *   key       run/<id>/wanted_nodes
 *   sections  "node"  U32 [count]  nodes of the dataset, ascending, at least one
 */
#ifndef STORE_RECORDS_DATASET_WANTED_NODES_H
#define STORE_RECORDS_DATASET_WANTED_NODES_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* The array points into `view`, which the caller releases with store_release_record(). A writer
 * fills the pointer and leaves `view` zero. */
struct wanted_nodes {
    uint32_t count;
    const uint32_t *node; /* [count] */
    struct record_view view;
};

/* Replaces a damaged record. */
MUST_CHECK enum error_code wanted_nodes_put(struct store *store, const char *run_id,
                                            const struct wanted_nodes *wanted, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found, also for a node
 * that is not below `node_count`. */
MUST_CHECK enum error_code wanted_nodes_get(struct store *store, const char *run_id,
                                            uint32_t node_count, struct wanted_nodes *out,
                                            struct error *err);

#endif
