/*
 * edge_regression - which number an edge has: losses and metrics of node_regression.c, of the outputs that a decoder (common/nn/links/) makes of the
 * rows of both ends. Its label is a column of the edge (EDGE_LABEL), so no columns of nodes tell this task.
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
