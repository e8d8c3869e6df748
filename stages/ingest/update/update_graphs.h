/*
 * update_graphs - of a dataset of many graphs: which graph each node is of, and which graphs an update makes go and come.
 *
 *   --add-nodes  id,graph[,split[,label, ...]]     graph: the number of one that stays, or another, which begins with it
 *
 * Graphs keep the numbers that they have; those that go leave theirs, which another may get. A graph goes with its last node: what an update
 * removes goes first, so a node that is added with the number of such a graph begins another one. Graphs that come stand behind the others,
 * in ascending order of their numbers. Split and label of one that comes stand behind its first node in the file; with others of it they may
 * stand again, the same. Those of a graph that stays are as they were.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_GRAPHS_H
#define STAGES_INGEST_UPDATE_UPDATE_GRAPHS_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "store/records/graph_index.h"

#include <stdbool.h>
#include <stdint.h>

struct update_reader;

struct update_graphs {        /* {0}: the dataset is one graph; releasable */
    struct graph_index index; /* of the version that the update is for */
    uint32_t *by_id;  /* [graphs] ascending by what they are called; NULL: as they are numbered */
    uint8_t *is_gone; /* [graphs] */
    uint32_t *gone;   /* [gone_count] of them, ascending */
    uint32_t gone_count, added_count;
    int64_t *member_of; /* [added nodes] what the graph of each is called */
    uint32_t *
        graph_of; /* [added nodes] its number: of the version, where it stays, or behind those graph index.graph_count + i */
    int64_t *added_id; /* [added_count] ascending */
    uint8_t *is_begun; /* [added_count] while lines are read: its first node was */
};

static inline bool update_graphs_are_many(const struct update_graphs *graphs)
{
    return graphs->index.graph_count > 0;
}

/* All fail with ERROR_NO_MEMORY, and as said. */
MUST_CHECK enum error_code update_graphs_open(struct update_reader *reader, struct error *err);
/* When nodes that go are known. */
MUST_CHECK enum error_code update_graphs_remove(struct update_reader *reader, struct error *err);
/* When it is known how many nodes come: then of each, then all. Fails: ERROR_INPUT naming file and line for what is no number of a graph. */
MUST_CHECK enum error_code update_graphs_begin(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_graphs_note(struct update_graphs *graphs, uint32_t added,
                                              const struct field *field, const char *where,
                                              int64_t line, struct error *err);
MUST_CHECK enum error_code update_graphs_settle(struct update_reader *reader, struct error *err);
/* Both ends of an edge are nodes that stay or come. Fails: ERROR_INPUT naming file and line unless they are of one graph. */
MUST_CHECK enum error_code update_graphs_check_edge(const struct update_reader *reader,
                                                    uint32_t source, uint32_t target,
                                                    const char *where, int64_t line,
                                                    struct error *err);
void update_graphs_release(struct update_graphs *graphs);

#endif
