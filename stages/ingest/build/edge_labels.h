/*
 * edge_labels - the labels of edges, for a task that learns them: a column of the input, checked
 * edge by edge.
 *
 * The labels become the column EDGE_LABEL. They come from the field that ingest.edge_label names,
 * or from the weights if it names those. ingest.edge_label_form: sign makes class 1 of labels above
 * 0 and class 0 of labels below 0.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_LABELS_H
#define STAGES_INGEST_BUILD_EDGE_LABELS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge_labels {         /* {0}: edges have none */
    const struct task *task; /* NULL: none */
    const char *name;        /* the name of the field, borrowed */
    enum edge_column from;   /* EDGE_LABEL or EDGE_WEIGHT */
    bool is_sign;
    float *value; /* [capacity], owned: the labels of the current piece */
    size_t capacity;
    uint32_t class_count; /* number of classes, by the labels so far */
};

/* Initialises `labels`; borrows the name from the settings. Fails: ERROR_INVALID for a column that
 * cannot be a label. */
MUST_CHECK enum error_code edge_labels_init(struct edge_labels *labels,
                                            const struct pipeline_settings *settings,
                                            struct error *err);
void edge_labels_release(struct edge_labels *labels);
/* Adds the label column to the piece. The column is borrowed until the next call. Fails:
 * ERROR_INPUT when the input has no such field; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_labels_give(struct edge_labels *labels, struct edge_piece *piece,
                                            struct error *err);
/* Checks the label of edge `i` of a piece, and counts its class. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code edge_labels_check(struct edge_labels *labels,
                                             const struct edge_piece *piece, size_t i,
                                             struct error *err);

#endif
