/*
 * tu_reader - the text files of the TU Dortmund collection (Morris et al. 2020), many graphs in one dataset (format: tu).
 *
 *   <folder>/NAME_A.txt                 "i, j" an edge, nodes from 1; usually each edge both ways
 *            NAME_graph_indicator.txt   line i: the graph of node i, from 1
 *            NAME_graph_labels.txt      line g: the class of graph g, any integers
 *            NAME_graph_attributes.txt  line g: its numbers, of graph_regression
 *            NAME_node_attributes.txt   line i: numbers of node i
 *            NAME_node_labels.txt       line i: an integer of node i, which becomes columns of 0 and 1
 *            train.csv, valid.csv, test.csv   graphs, from 1; where ingest.split is given
 *
 * Features are the attributes, then a column for each node label from the least to the largest, as PyG's TUDataset(use_node_attr)
 * has them. Classes are numbered by their labels, ascending, as there. Files of edges other than NAME_A.txt are not read.
 */
#ifndef STAGES_INGEST_FORMATS_TU_READER_H
#define STAGES_INGEST_FORMATS_TU_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/pipeline_settings.h"

/* Pushes nodes, graphs, edges, features, labels and splits into `builder`, which the caller finishes. Fails: ERROR_INPUT naming file
 * and line; ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tu_reader_run(const struct pipeline_settings *settings,
                                         struct dataset_builder *builder, struct error *err);

#endif
