/*
 * edge_classification - which class an edge has: losses and metrics of single_label.c, of the outputs that a decoder (common/nn/links/) makes of the
 * rows of both ends. Its label is a column of the edge (EDGE_LABEL), so no columns of nodes tell this task.
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
