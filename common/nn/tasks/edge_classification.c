/*
 * edge_classification - predicts the class of an edge. It has the losses and metrics of
 * single_label.c, over the outputs that a decoder (common/nn/links/) computes from the rows of both
 * ends. The label is a column of the edge (EDGE_LABEL), so columns of nodes never select this task.
 */
#include "common/nn/tasks/metrics.h"
#include "common/nn/tasks/single_label.h"

static bool takes_no_columns(uint32_t columns)
{
    (void)columns;
    return false;
}

const struct task task_edge_classification = {
    .name = "edge_classification",
    .example = EXAMPLE_EDGE,
    .takes_columns = takes_no_columns,
    SINGLE_LABEL_FIELDS,
};
