/* graph_regression - a number or several a graph: losses and metrics of node_regression.c, of outputs as graph_classification.c has
 * them. */
#include "common/nn/tasks/regression.h"

static bool takes_columns(uint32_t columns)
{
    return columns >= 1;
}

const struct task task_graph_regression = {
    .name = "graph_regression",
    .example = EXAMPLE_GRAPH,
    .takes_columns = takes_columns,
    REGRESSION_FIELDS,
};
