/*
 * node_assigner - the part of every node, by the method that the settings name.
 */
#ifndef STAGES_PARTITION_METHODS_NODE_ASSIGNER_H
#define STAGES_PARTITION_METHODS_NODE_ASSIGNER_H

#include "common/base/error.h"
#include "stages/partition/methods/partitioner.h"

#include <stdint.h>

/* The name of a method as this program has it; NULL: it is none of the known ones. */
const char *partitioner_name(const char *name);
/* Fills part [node_count]; every part has a node. *chosen: the name of the method when that of the settings stands for others;
 * one that is there already is kept to.
 * Fails: ERROR_NO_MEMORY when it would exceed the budget, naming both; ERROR_INPUT for a bad assignment
 * file; what the method fails with. */
MUST_CHECK enum error_code node_assigner_run(const struct partition_request *request,
                                             uint32_t *part, const char **chosen,
                                             struct error *err);

#endif
