/*
 * node_selection - some nodes, by their ids, and what was predicted of them alone.
 *
 * A file of ids, one a line, in the ids of the input; the outputs of all nodes are gone through once, and what is said of those
 * nodes is written beside them, in the order of the input.
 */
#ifndef PIPELINES_NODE_SELECTION_H
#define PIPELINES_NODE_SELECTION_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct node_selection { /* {0} is empty; release with node_selection_release() */
    uint8_t *is_in;     /* [node_count], owned */
    uint32_t node_count, count;
};

/* Fails: ERROR_INPUT naming file and line of an id that no node has, or of an empty file; as the store does. */
MUST_CHECK enum error_code node_selection_read(struct node_selection *selection, const char *path,
                                               struct store *store, const char *dataset_id,
                                               uint32_t node_count, struct error *err);
/* From the folder `outputs` predictions.csv and embeddings.npy, those of them that are there, into the folder `to`, which is made; each
 * whole or not at all. Fails: ERROR_IO, ERROR_NO_SPACE; ERROR_INPUT for outputs of other nodes. */
MUST_CHECK enum error_code node_selection_write(const struct node_selection *selection,
                                                const char *outputs, const char *to,
                                                struct error *err);
void node_selection_release(struct node_selection *selection);

#endif
