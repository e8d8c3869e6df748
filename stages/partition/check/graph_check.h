/*
 * graph_check - reads back which nodes make which graph, and the splits of graphs, and compares them with the dataset's.
 */
#ifndef STAGES_PARTITION_CHECK_GRAPH_CHECK_H
#define STAGES_PARTITION_CHECK_GRAPH_CHECK_H

#include "stages/partition/check/partition_check.h"

/* Each range has the nodes of its graph, in one part; splits are those of the dataset. Fails: ERROR_CORRUPT naming what differs,
 * expected and found. */
MUST_CHECK enum error_code graph_check(const struct partition_check *check, struct error *err);

#endif
