/*
 * prediction_table - makes the lines of predictions.csv, one for each node or graph, with the
 * user's ids.
 *
 * Lines are made in memory, a piece of the table at a time, so that threads can make pieces in
 * parallel.
 */
#ifndef STAGES_INFER_OUTPUTS_PREDICTION_TABLE_H
#define STAGES_INFER_OUTPUTS_PREDICTION_TABLE_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"
#include "common/nn/tasks/task.h"
#include "store/records/dataset/node_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the header of predictions.csv, and of a table of ids only, for nodes or graphs; static.
 * `task` NULL: nodes. */
const char *prediction_header(const struct task *task);
const char *prediction_id_header(const struct task *task);
const char *prediction_edge_header(bool has_types); /* for labelled edges */

struct prediction_table { /* common to all lines */
    const struct task *task;
    uint32_t class_count;
    const struct node_ids *ids; /* borrowed; without arrays, ids are 0 .. N-1 */
    uint32_t first_node;        /* dataset node of row 0 */
    /* names of classes, borrowed; NULL or none: classes are numbers */
    const struct column_encoding *words;
};

struct prediction_lines { /* {0} is empty; release with prediction_lines_release() */
    char *text;           /* owned */
    size_t size, capacity;
};

/* Appends the line of row `row`. `label`: a row in the form of the task. */
MUST_CHECK enum error_code prediction_lines_add(struct prediction_lines *lines,
                                                const struct prediction_table *table, uint32_t row,
                                                const char *split, const float *logit,
                                                const void *label, struct error *err);
/* A line of the table of held-out edges. */
struct prediction_link {
    uint32_t source, target; /* dataset nodes */
    const char *split;
    const char *type; /* its name or number; NULL: edges have no types */
    float score;
    /* of the target and of the source: integers, or halves if scores are equal; 0: not ranked */
    double rank[2];
    bool ranks_source; /* whether the table has a column for the rank of the source */
};

/* Returns the header of the table of held-out edges; static. */
const char *prediction_link_header(bool has_types, bool ranks_source);

/* Appends the line of a held-out edge. Reads only the ids of `table`. */
MUST_CHECK enum error_code prediction_lines_add_link(struct prediction_lines *lines,
                                                     const struct prediction_table *table,
                                                     const struct prediction_link *link,
                                                     struct error *err);
/* Appends the line of a labelled edge, without score and ranks. output [class_count]; `label`: a
 * row in the form of the task. */
MUST_CHECK enum error_code prediction_lines_add_edge(struct prediction_lines *lines,
                                                     const struct prediction_table *table,
                                                     const struct prediction_link *link,
                                                     const float *output, const void *label,
                                                     struct error *err);
/* Appends the id of a row as a line of its own, for node_ids.csv. */
MUST_CHECK enum error_code prediction_lines_add_id(struct prediction_lines *lines,
                                                   const struct prediction_table *table,
                                                   uint32_t node, struct error *err);
void prediction_lines_release(struct prediction_lines *lines);

#endif
