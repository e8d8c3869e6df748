/*
 * graph_check - reads the graphs of a partition and their splits back, and compares them with the
 * dataset.
 */
#ifndef STAGES_PARTITION_CHECK_GRAPH_CHECK_H
#define STAGES_PARTITION_CHECK_GRAPH_CHECK_H

#include "stages/partition/check/partition_check.h"

/* Checks that each range has the nodes of its graph, all in one part, and that the splits are those
 * of the dataset. Fails: ERROR_CORRUPT naming what differs, expected and found. */
MUST_CHECK enum error_code graph_check(const struct partition_check *check, struct error *err);

#endif
