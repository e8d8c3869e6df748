/*
 * prediction_table - the lines of predictions.csv, one a node or a graph, in the user's ids.
 *
 * Lines are made in memory, a piece of the table at a time, so that threads can make pieces side by side.
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

/* The first line, and that of a table of ids alone, of nodes or graphs; static. `task` NULL: of nodes. */
const char *prediction_header(const struct task *task);
const char *prediction_id_header(const struct task *task);
const char *prediction_edge_header(bool has_types); /* of labelled edges */

struct prediction_table { /* what all lines share */
    const struct task *task;
    uint32_t class_count;
    const struct node_ids *ids;          /* borrowed; without arrays: 0 .. N-1 */
    uint32_t first_node;                 /* of the dataset: that of row 0 */
    const struct column_encoding *words; /* of classes, borrowed; NULL or none: they are numbers */
};

struct prediction_lines { /* {0} is empty; release with prediction_lines_release() */
    char *text;           /* owned */
    size_t size, capacity;
};

/* Appends the line of row `row`. `label`: a row as the task has it. */
MUST_CHECK enum error_code prediction_lines_add(struct prediction_lines *lines,
                                                const struct prediction_table *table, uint32_t row,
                                                const char *split, const float *logit,
                                                const void *label, struct error *err);
/* A line of the table of held-out edges. */
struct prediction_link {
    uint32_t source, target; /* nodes of the dataset */
    const char *split;
    const char *type; /* its name or number; NULL: edges have none */
    float score;
    double rank
        [2]; /* of the target, of the source: whole, or a half where scores are equal; 0: not ranked */
    bool ranks_source; /* there is a column for it */
};

/* The first line of the table of held-out edges, static. */
const char *prediction_link_header(bool has_types, bool ranks_source);

/* Appends its line. Of `table` the ids are read. */
MUST_CHECK enum error_code prediction_lines_add_link(struct prediction_lines *lines,
                                                     const struct prediction_table *table,
                                                     const struct prediction_link *link,
                                                     struct error *err);
/* The line of a labelled edge, without score and ranks: outputs [class_count] and its label, a row as the task has it. */
MUST_CHECK enum error_code prediction_lines_add_edge(struct prediction_lines *lines,
                                                     const struct prediction_table *table,
                                                     const struct prediction_link *link,
                                                     const float *output, const void *label,
                                                     struct error *err);
/* Appends the id of row `row` as a line of its own: for node_ids.csv. */
MUST_CHECK enum error_code prediction_lines_add_id(struct prediction_lines *lines,
                                                   const struct prediction_table *table,
                                                   uint32_t node, struct error *err);
void prediction_lines_release(struct prediction_lines *lines);

#endif
