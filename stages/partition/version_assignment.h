/*
 * version_assignment - the parts of a version of a dataset, from those of the version before.
 *
 *   base's assignment ─> nodes that stay keep their part ─> new ones by greedy_rule.h ─> cut and balance measured
 *                                                                │ drifted: nodes move, a pass or two of the same rule
 *                                                                └ drifted still: partition.method, from nothing
 *
 * So an update moves no node that did not change, as long as the cut stays within partition.drift times that of the last
 * partition of all nodes and the largest part within 1.25 times the mean; of a graph with relations over the edges of all, and of each node
 * type by itself, too. What the parts of a version are is a function of the chain of
 * versions and the settings: where an assignment of the chain is missing it is made first. Vertex cuts are made anew.
 */
#ifndef STAGES_PARTITION_VERSION_ASSIGNMENT_H
#define STAGES_PARTITION_VERSION_ASSIGNMENT_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the assignments and permutations of the versions before the dataset that are not there. Before the input of the dataset itself is measured,
 * since it takes as much memory. Fails: ERROR_CORRUPT when a dataset of the chain is lost; what a method fails with. */
MUST_CHECK enum error_code version_assignment_prepare(const struct stage_context *context,
                                                      const char *dataset_id, struct error *err);
/* Fills part [node_count]; *method: "placed" or "moved", *full_cut: the cut when all nodes were last partitioned. NULL: the dataset is no
 * version, or all nodes are to be partitioned. */
MUST_CHECK enum error_code version_assignment(const struct partition_input *input, uint32_t *part,
                                              const char **method, double *full_cut,
                                              struct error *err);
/* One of these words, for *method; NULL for another. */
const char *version_assignment_name(const char *text);
/* Whether it is the first of them; it may be NULL. */
bool version_assignment_is_placed(const char *method);

#endif
