/*
 * graph_members - which graph each node belongs to, while a dataset of many graphs is read.
 *
 * The input numbers graphs from its first id on, without gaps: each graph has at least one node.
 * Edges stay inside a graph.
 */
#ifndef STAGES_INGEST_BUILD_NODES_GRAPH_MEMBERS_H
#define STAGES_INGEST_BUILD_NODES_GRAPH_MEMBERS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct graph_members { /* {0}: the dataset is one graph */
    uint32_t node_count, graph_count;
    int64_t first_id;   /* the number that the input gives the first graph */
    uint32_t *graph_of; /* [node_count], owned */
};

/* Sets graph [node_count], the graph of each node, which is in line `first_line` + i of `where`.
 * Fails: ERROR_INPUT with where and line for a number below `first_id`, and for a number up to the
 * largest one that no node has; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_members_set(struct graph_members *members, const char *where,
                                             int64_t first_line, const int64_t *graph,
                                             uint32_t node_count, int64_t first_id,
                                             struct error *err);
/* Checks that both ends of an edge are in one graph. Both ends must be existing nodes. Fails:
 * ERROR_INPUT if they are not in one graph. */
MUST_CHECK enum error_code graph_members_check(const struct graph_members *members, int64_t source,
                                               int64_t target, struct error *err);
/* Stores the record graph_index if the dataset has several graphs. */
MUST_CHECK enum error_code graph_members_put(const struct graph_members *members,
                                             struct store *store, const char *dataset_id,
                                             struct error *err);
void graph_members_release(struct graph_members *members);

#endif
