/*
 * update_graphs - for a dataset of many graphs: the graph of each node, and the graphs that an
 * update removes and adds.
 *
 *   --add-nodes  id,graph[,split[,label, ...]]     graph: the number of a graph that stays, or a
 *                                                  new number, which adds a graph
 *
 * Graphs keep their numbers. A removed graph frees its number for another one. A graph is removed
 * with its last node. Removals come first, so a node that is added with the number of a removed
 * graph begins a new graph. Added graphs follow the others, in ascending order of their numbers.
 * The split and label of an added graph are given with its first node in the file; other nodes of
 * the graph may repeat them. The split and label of a graph that stays do not change.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_GRAPHS_H
#define STAGES_INGEST_UPDATE_UPDATE_GRAPHS_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "store/records/dataset/graph_index.h"

#include <stdbool.h>
#include <stdint.h>

struct update_reader;

struct update_graphs {        /* {0}: the dataset is one graph; releasable */
    struct graph_index index; /* graphs of the version that the update is for */
    /* [graphs] in ascending order of the user's numbers; NULL: the order is that of the index */
    uint32_t *by_id;
    uint8_t *is_gone; /* [graphs] */
    uint32_t *gone;   /* [gone_count] of them, ascending */
    uint32_t gone_count, added_count;
    int64_t *member_of; /* [added nodes] the user's number of each node's graph */
    /* [added nodes] the graph: its number in the version if it stays, else index.graph_count + i */
    uint32_t *graph_of;
    int64_t *added_id; /* [added_count] ascending */
    uint8_t *is_begun; /* [added_count] while lines are read: the graph's first node was read */
};

static inline bool update_graphs_are_many(const struct update_graphs *graphs)
{
    return graphs->index.graph_count > 0;
}

/* Opens the graphs of the version. This and the functions below also fail with ERROR_NO_MEMORY. */
MUST_CHECK enum error_code update_graphs_open(struct update_reader *reader, struct error *err);
/* Removes graphs without nodes. Call it when the removed nodes are known. */
MUST_CHECK enum error_code update_graphs_remove(struct update_reader *reader, struct error *err);
/* Three steps, once it is known how many nodes are added: begin; note the graph of each node;
 * settle. Fails: ERROR_INPUT naming file and line for a text that is no number of a graph. */
MUST_CHECK enum error_code update_graphs_begin(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_graphs_note(struct update_graphs *graphs, uint32_t added,
                                              const struct field *field, const char *where,
                                              int64_t line, struct error *err);
MUST_CHECK enum error_code update_graphs_settle(struct update_reader *reader, struct error *err);
/* Checks that both ends of an edge, which are nodes that stay or are added, are in one graph.
 * Fails: ERROR_INPUT naming file and line if not. */
MUST_CHECK enum error_code update_graphs_check_edge(const struct update_reader *reader,
                                                    uint32_t source, uint32_t target,
                                                    const char *where, int64_t line,
                                                    struct error *err);
void update_graphs_release(struct update_graphs *graphs);

#endif
