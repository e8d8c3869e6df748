/*
 * graph_members - which graph each node is of, while a dataset of many graphs is read.
 *
 * Graphs are numbered from where the input begins to count, without gaps: each has a node. Edges stay inside a graph.
 */
#ifndef STAGES_INGEST_BUILD_GRAPH_MEMBERS_H
#define STAGES_INGEST_BUILD_GRAPH_MEMBERS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct graph_members { /* {0}: the dataset is one graph */
    uint32_t node_count, graph_count;
    int64_t first_id;   /* what the input calls the first graph */
    uint32_t *graph_of; /* [node_count], owned */
};

/* graph [node_count]: that of each node, in line `first_line` + i of `where`. Fails: ERROR_INPUT with where and line for a number
 * below `first_id`, and for one that no node has up to the largest; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_members_set(struct graph_members *members, const char *where,
                                             int64_t first_line, const int64_t *graph,
                                             uint32_t node_count, int64_t first_id,
                                             struct error *err);
/* Both ends of an edge are nodes that there are. Fails: ERROR_INPUT unless they are of one graph. */
MUST_CHECK enum error_code graph_members_check(const struct graph_members *members, int64_t source,
                                               int64_t target, struct error *err);
/* Stores the record graph_index, if there are graphs. */
MUST_CHECK enum error_code graph_members_put(const struct graph_members *members,
                                             struct store *store, const char *dataset_id,
                                             struct error *err);
void graph_members_release(struct graph_members *members);

#endif
