/*
 * edge_regression - predicts a number of an edge. It has the losses and metrics of
 * node_regression.c, over the outputs that a decoder (common/nn/links/) computes from the rows of
 * both ends. The label is a column of the edge (EDGE_LABEL), so columns of nodes never select this
 * task.
 */
#include "common/nn/tasks/regression.h"

static bool takes_no_columns(uint32_t columns)
{
    (void)columns;
    return false;
}

const struct task task_edge_regression = {
    .name = "edge_regression",
    .example = EXAMPLE_EDGE,
    .takes_columns = takes_no_columns,
    REGRESSION_FIELDS,
};
