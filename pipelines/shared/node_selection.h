/*
 * node_selection - a selection of dataset nodes, read from a file with one id of the input on each
 * line.
 */
#ifndef PIPELINES_SHARED_NODE_SELECTION_H
#define PIPELINES_SHARED_NODE_SELECTION_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

struct node_selection { /* {0} is empty; release with node_selection_release() */
    uint32_t *node;     /* [count], ids in the dataset, ascending; owned */
    uint32_t count;
};

/* Reads the selection. In a graph with relations all nodes must be of its target type. Fails:
 * ERROR_INPUT naming file and line of an unknown id or of a node of another type, or naming an
 * empty file; as the store does. */
MUST_CHECK enum error_code node_selection_read(struct node_selection *selection, const char *path,
                                               struct store *store,
                                               const struct dataset_schema *dataset,
                                               struct error *err);
void node_selection_release(struct node_selection *selection);

#endif
