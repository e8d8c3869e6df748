/*
 * kept_assignment - the part of each node: from the record of an attempt that was killed, or made and recorded.
 *
 * Making it is the costly part of partitioning. A method that stands for others (auto) goes by the memory of the machine, so
 * the record says which one it came to, and who goes on or replays keeps to that.
 */
#ifndef STAGES_PARTITION_KEPT_ASSIGNMENT_H
#define STAGES_PARTITION_KEPT_ASSIGNMENT_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

#include <stdint.h>

/* Fills part [node_count]. *edge_part: of a vertex cut (node_assigner.h), to be freed by the caller, failure or not; else NULL. *chosen: the name of the method that it came to; NULL: the one that is set. A replay makes it
 * anew, to compare. Fails: ERROR_CORRUPT for a damaged record; what the method fails with. */
MUST_CHECK enum error_code kept_assignment(struct partition_input *input, uint32_t *part,
                                           uint16_t **edge_part, const char **chosen,
                                           struct error *err);

#endif
