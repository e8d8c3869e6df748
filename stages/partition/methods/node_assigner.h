/*
 * node_assigner - the part of every node, by the method that the settings name; of a vertex cut also that of every edge.
 */
#ifndef STAGES_PARTITION_METHODS_NODE_ASSIGNER_H
#define STAGES_PARTITION_METHODS_NODE_ASSIGNER_H

#include "common/base/error.h"
#include "stages/partition/methods/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

/* The name of a method as this program has it; NULL: it is none of the known ones. */
const char *partitioner_name(const char *name);
/* Whether it gives parts to edges: a vertex cut. */
bool partitioner_cuts_vertices(int64_t method);
/* Fills part [node_count], of a vertex cut with the nodes' masters; every part has a node. *edge_part: of a vertex cut
 * [edge_count] in the order of edge_walk.h, to be freed by the caller, failure or not; NULL: an edge is where its target is.
 * *chosen: the name of the method when that of the settings stands for others; one that is there already is kept to.
 * Fails: ERROR_NO_MEMORY when it would exceed the budget, naming both; ERROR_INPUT for a bad assignment
 * file; what the method fails with. */
MUST_CHECK enum error_code node_assigner_run(const struct partition_request *request,
                                             uint32_t *part, uint16_t **edge_part,
                                             const char **chosen, struct error *err);

#endif
