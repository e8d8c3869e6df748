/*
 * graph_index - which nodes belong to which graph, in a dataset of many graphs.
 *
 * ingest writes it for nodes in any order. partition, which brings the nodes of a graph together,
 * writes it for its own order; sample, train-step and infer read that. A graph has the same number
 * in both. Labels and splits of such a dataset belong to graphs.
 *
 *   key       dataset/<id>/graphs, partition/<id>/graphs
 *   sections  "facts"    U64 [2]  the number of graphs; the input's number of its first graph (1 if
 *                                 it counts from there)
 *             "graph_of" U32 [N]  in a dataset: the graph of each node
 *             "first"    U32 [graphs + 1]  in a partition: graph g has the nodes first[g] ..
 *                                          first[g + 1]
 *             "id"       I64 [graphs]  the user's id of each graph, in versions after an update
 *                                 whose ids are no longer consecutive: graphs that stay keep their
 *                                 ids
 *   valid     1 to N graphs; one of "graph_of" and "first"; graph_of is below the number of graphs;
 *             first ascends from 0 to N, and each graph has a node
 *   version   1; 2 with "id"
 */
#ifndef STORE_RECORDS_DATASET_GRAPH_INDEX_H
#define STORE_RECORDS_DATASET_GRAPH_INDEX_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/node_ids.h"

#include <stdint.h>

/* A writer fills the fields that apply and leaves `view` zero. */
struct graph_index {
    uint32_t node_count, graph_count;
    uint64_t first_id;        /* the input's number of its first graph */
    const int64_t *id;        /* [graph_count] the user's ids; NULL: first_id, first_id + 1, ... */
    const uint32_t *graph_of; /* [node_count]; NULL: of a partition */
    const uint32_t *first;    /* [graph_count + 1]; NULL: of a dataset */
    struct record_view view;  /* release with store_release_record() */
};

MUST_CHECK enum error_code graph_index_put(struct store *store, const char *key, const char *owner,
                                           const struct graph_index *index, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming key and section, what was expected and what was
 * found. */
MUST_CHECK enum error_code graph_index_get(struct store *store, const char *key, const char *owner,
                                           uint32_t node_count, struct graph_index *out,
                                           struct error *err);
/* Read one of the two forms, and refuse the other one. */
MUST_CHECK enum error_code graph_index_of_dataset(struct store *store, const char *dataset_id,
                                                  uint32_t node_count, struct graph_index *out,
                                                  struct error *err);
MUST_CHECK enum error_code graph_index_of_partition(struct store *store, const char *partition_id,
                                                    uint32_t node_count, struct graph_index *out,
                                                    struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released, also after a failure. */
MUST_CHECK enum error_code graph_index_decode(const struct record_view *view, uint32_t node_count,
                                              struct graph_index *out, struct error *err);

/* Returns the user's id of a graph. */
static inline int64_t graph_index_id(const struct graph_index *index, uint32_t graph)
{
    return index->id ? index->id[graph] : (int64_t)(index->first_id + graph);
}
/* Returns these ids in the form of node ids: the id of graph g is entry *first + g. Borrows. */
struct node_ids graph_index_ids(const struct graph_index *index, uint32_t *first);
/* Returns the graph of a node, which is below node_count; in a partition. */
uint32_t graph_index_find(const struct graph_index *index, uint32_t node);
/* Finds the graphs whose nodes follow each other in node [node_count], in a partition: graph[g] has
 * the nodes first[g] .. first[g + 1] of that list, and *count is the number of graphs, at most
 * `room`. first [room + 1]; graph [room] or NULL. Fails: ERROR_CORRUPT unless the list has all
 * nodes of each graph, in order, and at most `room` graphs. */
MUST_CHECK enum error_code graph_index_split(const struct graph_index *index, const uint32_t *node,
                                             uint32_t node_count, uint32_t room, uint32_t *first,
                                             uint32_t *graph, uint32_t *count, struct error *err);
/* Returns the number of nodes of the largest graph. */
uint32_t graph_index_largest(const struct graph_index *index);

#endif
