/* graph_regression - predicts one or more numbers of a graph. It has the losses and metrics of
 * node_regression.c, over outputs as in graph_classification.c. */
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
