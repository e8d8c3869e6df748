/*
 * assignment - what every assignment of nodes to parts must be, however it was made.
 *
 * Every part has a node: an empty part would be a topology, a shard and units of work for nothing, and
 * METIS, hashing and files can each leave one.
 */
#ifndef STAGES_PARTITION_LAYOUT_ASSIGNMENT_H
#define STAGES_PARTITION_LAYOUT_ASSIGNMENT_H

#include "common/base/error.h"

#include <stdint.h>

/* Fails: ERROR_CORRUPT naming the node unless part [node_count] are all below `part_count`. */
MUST_CHECK enum error_code assignment_check(const uint32_t *part, uint32_t node_count,
                                            uint32_t part_count, struct error *err);
/* size [part_count]: nodes of each part. */
void assignment_sizes(const uint32_t *part, uint32_t node_count, uint32_t part_count,
                      uint32_t *size);
/* Each empty part, in ascending order, takes the highest node of the part with the most nodes (of
 * several, the lowest part). part_count <= node_count. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code assignment_fill_empty(uint32_t *part, uint32_t node_count,
                                                 uint32_t part_count, struct error *err);
/* Fails: ERROR_INPUT naming the first empty part. */
MUST_CHECK enum error_code assignment_refuse_empty(const uint32_t *part, uint32_t node_count,
                                                   uint32_t part_count, struct error *err);

#endif
