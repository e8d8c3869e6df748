/*
 * graph_targets - the graphs of a partition and their labels, for tasks of graphs.
 */
#ifndef STAGES_PLAN_MODEL_GRAPH_TARGETS_H
#define STAGES_PLAN_MODEL_GRAPH_TARGETS_H

#include "store/objects/store.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/partition/partition_book.h"

#include <stddef.h>

struct graph_targets { /* {0} is closed; for other tasks it stays closed */
    struct graph_index index;
    struct node_labels labels; /* row g is the label of graph g */
    size_t label_bytes;        /* size of a row */
};

/* Opens graphs and labels. Fails: ERROR_CORRUPT for graphs or labels that do not fit the book. */
MUST_CHECK enum error_code graph_targets_open(struct graph_targets *targets, struct store *store,
                                              const struct partition_book *book, struct error *err);
/* Reads the graphs alone. The caller releases their view whether this succeeds or not. Fails as
 * graph_targets_open(). */
MUST_CHECK enum error_code graph_targets_index(struct graph_index *out, struct store *store,
                                               const struct partition_book *book,
                                               struct error *err);
void graph_targets_close(struct graph_targets *targets);
/* Returns the labels of a graph: a row in the form of the task. */
static inline const void *graph_targets_label(const struct graph_targets *targets, uint32_t graph)
{
    return (const char *)targets->labels.row + graph * targets->label_bytes;
}

#endif
