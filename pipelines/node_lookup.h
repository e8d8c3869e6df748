/*
 * node_lookup - nodes by the ids that people write, in files or on a command line.
 *
 * Ids are gathered first, sorted, and found in one pass over the ids of all nodes, so that no table of these is made.
 */
#ifndef PIPELINES_NODE_LOOKUP_H
#define PIPELINES_NODE_LOOKUP_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stddef.h>
#include <stdint.h>

struct wanted_node {
    char *text; /* [size], owned */
    size_t size;
    int64_t line;  /* where it stands; 0: on a command line */
    size_t place;  /* how many were added before */
    uint32_t node; /* of the dataset, once found */
    bool is_found;
};

struct node_lookup {            /* {0} is empty; release with node_lookup_release() */
    struct wanted_node *wanted; /* [count]; by place until they are looked for, and afterwards */
    size_t count, capacity;
};

/* Copies the text. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_lookup_add(struct node_lookup *lookup, const char *text,
                                           size_t size, int64_t line, struct error *err);
/* Finds all of them among the nodes of a dataset; `where` is their file. Fails: ERROR_INPUT naming file and line of the first
 * that no node has; as the store does. */
MUST_CHECK enum error_code node_lookup_find(struct node_lookup *lookup, const char *where,
                                            struct store *store, const char *dataset_id,
                                            uint32_t node_count, struct error *err);
void node_lookup_release(struct node_lookup *lookup);

#endif
