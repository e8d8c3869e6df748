/*
 * graph_targets - the graphs of a partition and their labels, of a task of graphs.
 */
#ifndef STAGES_PLAN_GRAPH_TARGETS_H
#define STAGES_PLAN_GRAPH_TARGETS_H

#include "store/objects/store.h"
#include "store/records/graph_index.h"
#include "store/records/node_labels.h"
#include "store/records/partition_book.h"

#include <stddef.h>

struct graph_targets { /* {0} is closed, and stays it for other tasks */
    struct graph_index index;
    struct node_labels labels; /* row g is that of graph g */
    size_t label_bytes;        /* of a row */
};

/* Fails: ERROR_CORRUPT for graphs or labels that are not those of the book. */
MUST_CHECK enum error_code graph_targets_open(struct graph_targets *targets, struct store *store,
                                              const struct partition_book *book, struct error *err);
/* The graphs alone, released by their view whether this succeeds or not. Fails likewise. */
MUST_CHECK enum error_code graph_targets_index(struct graph_index *out, struct store *store,
                                               const struct partition_book *book,
                                               struct error *err);
void graph_targets_close(struct graph_targets *targets);
/* The labels of a graph, a row as the task has it. */
static inline const void *graph_targets_label(const struct graph_targets *targets, uint32_t graph)
{
    return (const char *)targets->labels.row + graph * targets->label_bytes;
}

#endif
