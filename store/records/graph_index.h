/*
 * graph_index - which nodes make which graph, of a dataset of many graphs.
 *
 * Written by ingest, for any order of the nodes, and by partition, which brings the nodes of a graph together: sample, train-step
 * and infer read that. Graphs have the same numbers in both. Labels and splits of such a dataset are of graphs.
 *
 *   key       dataset/<id>/graphs, partition/<id>/graphs
 *   sections  "facts"    U64 [2]  how many graphs; what the input calls its first graph (1 where it counts from there)
 *             "graph_of" U32 [N]  of a dataset: the graph of each node
 *             "first"    U32 [graphs + 1]  of a partition: graph g has the nodes first[g] .. first[g + 1]
 *             "id"       I64 [graphs]  what the user calls each graph, in versions after an update where that is not their numbers from the
 *                      first on: those that stay keep what they are called
 *   valid     1 to N graphs; one of "graph_of" and "first"; graph_of below the number of graphs; first ascends from 0 to N,
 *             and each graph has a node
 *   version   1; 2 with "id"
 */
#ifndef STORE_RECORDS_GRAPH_INDEX_H
#define STORE_RECORDS_GRAPH_INDEX_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/node_ids.h"

#include <stdint.h>

/* For writing, fill what there is and leave `view` zero. */
struct graph_index {
    uint32_t node_count, graph_count;
    uint64_t first_id; /* the input's number of its first graph */
    const int64_t
        *id; /* [graph_count] what the user calls them; NULL: first_id, first_id + 1, ... */
    const uint32_t *graph_of; /* [node_count]; NULL: of a partition */
    const uint32_t *first;    /* [graph_count + 1]; NULL: of a dataset */
    struct record_view view;  /* release with store_release_record() */
};

MUST_CHECK enum error_code graph_index_put(struct store *store, const char *key, const char *owner,
                                           const struct graph_index *index, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming key and section, what was expected and what was found. */
MUST_CHECK enum error_code graph_index_get(struct store *store, const char *key, const char *owner,
                                           uint32_t node_count, struct graph_index *out,
                                           struct error *err);
/* The same, of that form alone. */
MUST_CHECK enum error_code graph_index_of_dataset(struct store *store, const char *dataset_id,
                                                  uint32_t node_count, struct graph_index *out,
                                                  struct error *err);
MUST_CHECK enum error_code graph_index_of_partition(struct store *store, const char *partition_id,
                                                    uint32_t node_count, struct graph_index *out,
                                                    struct error *err);
/* The checks alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released,
 * failure or not. */
MUST_CHECK enum error_code graph_index_decode(const struct record_view *view, uint32_t node_count,
                                              struct graph_index *out, struct error *err);

/* What the user calls a graph. */
static inline int64_t graph_index_id(const struct graph_index *index, uint32_t graph)
{
    return index->id ? index->id[graph] : (int64_t)(index->first_id + graph);
}
/* The same as ids of rows: graph g is called as entry *first + g of what is returned, which borrows. */
struct node_ids graph_index_ids(const struct graph_index *index, uint32_t *first);
/* Of a partition: the graph that node `node`, below node_count, is of. */
uint32_t graph_index_find(const struct graph_index *index, uint32_t node);
/* Of a partition: the graphs, at most `room`, whose nodes follow each other in node [node_count]: graph[g] has first[g] ..
 * first[g + 1] of them, and *count says how many they are; first [room + 1], graph [room] or NULL. Fails: ERROR_CORRUPT unless they
 * are all the nodes of each, in order, and no more graphs. */
MUST_CHECK enum error_code graph_index_split(const struct graph_index *index, const uint32_t *node,
                                             uint32_t node_count, uint32_t room, uint32_t *first,
                                             uint32_t *graph, uint32_t *count, struct error *err);
/* Nodes of the largest graph. */
uint32_t graph_index_largest(const struct graph_index *index);

#endif
