/*
 * node_lookup - finds nodes by the ids that people write in files or on a command line.
 *
 * It collects the wanted ids, sorts them, and finds them in one pass over the ids of all nodes. So
 * it needs no table of all ids.
 */
#ifndef PIPELINES_SHARED_NODE_LOOKUP_H
#define PIPELINES_SHARED_NODE_LOOKUP_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stddef.h>
#include <stdint.h>

struct wanted_node {
    char *text; /* [size], owned */
    size_t size;
    int64_t line;  /* line of the file; 0: on a command line */
    size_t place;  /* number of ids that were added before */
    uint32_t node; /* id in the dataset, once it is found */
    bool is_found;
};

struct node_lookup { /* {0} is empty; release with node_lookup_release() */
    /* [count]; in the order of `place` until the search, and again after it */
    struct wanted_node *wanted;
    size_t count, capacity;
};

/* Adds a copy of the text. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_lookup_add(struct node_lookup *lookup, const char *text,
                                           size_t size, int64_t line, struct error *err);
/* Finds all added ids among the nodes of a dataset. `where` is their file. Fails: ERROR_INPUT
 * naming file and line of the first id that no node has; as the store does. */
MUST_CHECK enum error_code node_lookup_find(struct node_lookup *lookup, const char *where,
                                            struct store *store, const char *dataset_id,
                                            uint32_t node_count, struct error *err);
void node_lookup_release(struct node_lookup *lookup);

#endif
