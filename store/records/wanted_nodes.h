/*
 * wanted_nodes - the nodes that a run of inference is asked for, where that is not all of them.
 *
 * Written by graphmill infer --nodes before the run starts, again with every start; read by infer.
 *
 *   key       run/<id>/wanted_nodes
 *   sections  "node"  U32 [count]  of the dataset, ascending, at least one
 */
#ifndef STORE_RECORDS_WANTED_NODES_H
#define STORE_RECORDS_WANTED_NODES_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* The array points into `view`, which the caller releases with store_release_record(). For writing, fill the pointer and
 * leave `view` zero. */
struct wanted_nodes {
    uint32_t count;
    const uint32_t *node; /* [count] */
    struct record_view view;
};

/* A damaged one is replaced. */
MUST_CHECK enum error_code wanted_nodes_put(struct store *store, const char *run_id,
                                            const struct wanted_nodes *wanted, struct error *err);
/* Nodes are below `node_count`. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code wanted_nodes_get(struct store *store, const char *run_id,
                                            uint32_t node_count, struct wanted_nodes *out,
                                            struct error *err);

#endif
