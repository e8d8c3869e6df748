/*
 * version_assignment - the parts of a version of a dataset, from those of the version before.
 *
 *   base's assignment ─> nodes that stay keep their part ─> new nodes by greedy_rule.h
 *                                                                       │
 *                         ┌────────── cut and balance are measured <────┘
 *                         ├ drifted: nodes move, in one or two passes of the same rule
 *                         └ still drifted: partition.method, from nothing
 *
 * So an update moves no unchanged node as long as the cut is at most partition.drift times that of
 * the last partition of all nodes, and the largest part at most 1.25 times the mean. In a graph
 * with relations the cut counts the edges of all relations, and each node type is balanced by
 * itself, too. The parts of a version are a function of the chain of versions and the settings: if
 * an assignment of the chain is missing, it is made first. Vertex cuts are made anew.
 */
#ifndef STAGES_PARTITION_VERSION_ASSIGNMENT_H
#define STAGES_PARTITION_VERSION_ASSIGNMENT_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the missing assignments and permutations of the versions before the dataset. The caller
 * does this before it measures the input of the dataset itself, since this takes as much memory.
 * Fails: ERROR_CORRUPT when a dataset of the chain is lost; what a method fails with. */
MUST_CHECK enum error_code version_assignment_prepare(const struct stage_context *context,
                                                      const char *dataset_id, struct error *err);
/* Fills part [node_count]. *method: "placed", "moved", or NULL if the dataset is no version or all
 * nodes must be partitioned. *full_cut: the cut when all nodes were last partitioned. */
MUST_CHECK enum error_code version_assignment(const struct partition_input *input, uint32_t *part,
                                              const char **method, double *full_cut,
                                              struct error *err);
/* Returns that word of *method which equals `text`; NULL if none does. */
const char *version_assignment_name(const char *text);
/* Returns whether `method`, which may be NULL, is "placed". */
bool version_assignment_is_placed(const char *method);

#endif
