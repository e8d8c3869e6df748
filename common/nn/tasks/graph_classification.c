/*
 * graph_classification - predicts the class of a graph, in a dataset of many graphs. It has the
 * losses, metrics and lines of single_label.c, over the outputs that a readout (common/nn/readout/)
 * and a linear layer compute from the rows of a graph's nodes. Only ingest.task selects this task,
 * because label columns do not show that they belong to graphs.
 */
#include "common/nn/tasks/metrics.h"
#include "common/nn/tasks/single_label.h"

static bool takes_columns(uint32_t columns)
{
    return columns == 1;
}

const struct task task_graph_classification = {
    .name = "graph_classification",
    .example = EXAMPLE_GRAPH,
    .takes_columns = takes_columns,
    SINGLE_LABEL_FIELDS,
};
