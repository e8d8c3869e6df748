/*
 * graph_classification - which class a graph is of, in a dataset of many: losses, metrics and lines of single_label.c, of the
 * outputs that a readout (common/nn/readout/) and a matrix make of the rows of a graph's nodes. Asked for by ingest.task alone:
 * columns of labels do not say that they are of graphs.
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
