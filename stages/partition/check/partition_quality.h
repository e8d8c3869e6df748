/*
 * partition_quality - measures a partition while its parts pass by.
 *
 * A part's rows are in memory once, when its topology is written; all figures of the report come from
 * that pass. One array of a word a node marks which sources a part has met, so that halo nodes are
 * counted exactly.
 */
#ifndef STAGES_PARTITION_CHECK_PARTITION_QUALITY_H
#define STAGES_PARTITION_CHECK_PARTITION_QUALITY_H

#include "common/base/error.h"
#include "store/records/partition_report.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct partition_quality { /* {0} is empty */
    struct partition_report report;
    uint32_t *met; /* [node_count], owned: the last part that met the node as a source, plus 1 */
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_quality_init(struct partition_quality *quality,
                                                  const char *partition_id, uint32_t node_count,
                                                  int part_count, uint32_t feature_dim,
                                                  struct error *err);
/* Every part once, in any order. `train_count`: training nodes among its nodes. */
void partition_quality_add(struct partition_quality *quality, int part,
                           const struct topology_arrays *rows, uint64_t train_count);
/* Sums up. The report is borrowed until release. */
const struct partition_report *partition_quality_finish(struct partition_quality *quality);
void partition_quality_release(struct partition_quality *quality);

#endif
