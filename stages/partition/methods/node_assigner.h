/*
 * node_assigner - assigns every node a part, by the method that the settings name; for a vertex cut
 * also every edge.
 */
#ifndef STAGES_PARTITION_METHODS_NODE_ASSIGNER_H
#define STAGES_PARTITION_METHODS_NODE_ASSIGNER_H

#include "common/base/error.h"
#include "stages/partition/rules/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns this program's own copy of a method's name; NULL if there is no such method. */
const char *partitioner_name(const char *name);
/* Returns whether the method assigns edges to parts: a vertex cut. */
bool partitioner_cuts_vertices(int64_t method);
/* Fills part [node_count], for a vertex cut with the nodes' masters; every part has a node.
 * *edge_part: for a vertex cut [edge_count] in the order of edge_walk.h, to be freed by the caller,
 * failure or not; NULL: an edge is in the part of its target. *chosen: the name of the method if
 * that of the settings stands for others; a name that is there already is used. Fails:
 * ERROR_NO_MEMORY when it would exceed the budget, naming both; ERROR_INPUT for a bad assignment
 * file; what the method fails with. */
MUST_CHECK enum error_code node_assigner_run(const struct partition_request *request,
                                             uint32_t *part, uint16_t **edge_part,
                                             const char **chosen, struct error *err);

#endif
