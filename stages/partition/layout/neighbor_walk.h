/*
 * neighbor_walk - passes over the neighbours of all nodes, in both directions, a block of nodes at
 * a time.
 *
 * A block is a chunk of the dataset's edges (edge_chunk.h), so blocks depend on the data only and
 * not on the available memory. A chunk has the sources of its nodes' edges. In an undirected graph
 * those are all neighbours. In a directed graph the targets are gathered when the walk is opened,
 * for as many nodes in one pass over the edges as the budget holds. If the budget does not hold all
 * of them, they go to a file that each pass reads along.
 */
#ifndef STAGES_PARTITION_LAYOUT_NEIGHBOR_WALK_H
#define STAGES_PARTITION_LAYOUT_NEIGHBOR_WALK_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

/* Borrowed until the visit returns. Repeats and self loops are as in the dataset. */
struct neighbor_block {
    uint32_t first_node, node_count;
    const uint64_t *source_start; /* [node_count + 1] */
    const uint32_t *source;       /* sources of edges to the block's nodes */
    /* [node_count + 1]; NULL: the graph is undirected, and sources are all neighbours. */
    const uint64_t *target_start;
    /* Targets of edges from the block's nodes, from target_start[0] on. */
    const uint32_t *target;
};

typedef enum error_code (*neighbor_visitor)(void *context, const struct neighbor_block *block,
                                            struct error *err);

struct neighbor_walk { /* {0} is closed */
    struct store *store;
    const struct dataset_schema *schema;
    uint64_t budget_bytes;
    /* [node_count + 1], owned, and so is the next; NULL: undirected. */
    uint64_t *target_start;
    uint32_t *target;            /* targets of all nodes, or of a block */
    size_t target_capacity;      /* for a block */
    char folder[FILE_PATH_SIZE]; /* of the file; "": there is none */
    char path[FILE_PATH_SIZE];
    int file;
};

/* Opens a walk. Borrows store and schema. For a directed graph it takes 8 bytes a node, and up to
 * half of the budget. Fails: what edge_walk() fails with; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code neighbor_walk_open(struct neighbor_walk *walk, struct store *store,
                                              const struct dataset_schema *schema,
                                              uint64_t budget_bytes, struct error *err);
/* Visits each block once, in order. Fails: what `visit` returns, what edge_walk() fails with;
 * ERROR_NO_MEMORY when the targets of one block exceed the budget, naming both. */
MUST_CHECK enum error_code neighbor_walk_pass(struct neighbor_walk *walk, neighbor_visitor visit,
                                              void *context, struct error *err);
void neighbor_walk_close(struct neighbor_walk *walk);

#endif
