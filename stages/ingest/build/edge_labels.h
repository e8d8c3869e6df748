/*
 * edge_labels - the labels of edges, of a task that learns these: a column of the input, checked edge by edge.
 *
 * They become the column EDGE_LABEL, out of the field that ingest.edge_label names, or out of the weights where it names those;
 * ingest.edge_label_form: sign makes class 1 of what is above 0 and class 0 of what is below.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_LABELS_H
#define STAGES_INGEST_BUILD_EDGE_LABELS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/pipeline_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge_labels {         /* {0}: edges have none */
    const struct task *task; /* NULL: none */
    const char *name;        /* of the field, borrowed */
    enum edge_column from;   /* EDGE_LABEL or EDGE_WEIGHT */
    bool is_sign;
    float *value; /* [capacity], owned: of the piece at hand */
    size_t capacity;
    uint32_t class_count; /* by the labels so far */
};

/* Fails: ERROR_INVALID for a column that is no label. The name is borrowed from the settings. */
MUST_CHECK enum error_code edge_labels_init(struct edge_labels *labels,
                                            const struct pipeline_settings *settings,
                                            struct error *err);
void edge_labels_release(struct edge_labels *labels);
/* Gives the piece its column, borrowed until the next. Fails: ERROR_INPUT where the input has no such field; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_labels_give(struct edge_labels *labels, struct edge_piece *piece,
                                            struct error *err);
/* Checks that of edge `i` of a piece that has it, and counts its class. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code edge_labels_check(struct edge_labels *labels,
                                             const struct edge_piece *piece, size_t i,
                                             struct error *err);

#endif
