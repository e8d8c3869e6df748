/*
 * assignment - rules for every assignment of nodes to parts, whatever method made it.
 *
 * Every part must have a node: an empty part would need a topology, a shard and units of work for
 * nothing. METIS, hashing and files may each leave a part empty.
 */
#ifndef STAGES_PARTITION_LAYOUT_ASSIGNMENT_H
#define STAGES_PARTITION_LAYOUT_ASSIGNMENT_H

#include "common/base/error.h"

#include <stdint.h>

/* Checks that part [node_count] are all below `part_count`. Fails: ERROR_CORRUPT naming the
 * node. */
MUST_CHECK enum error_code assignment_check(const uint32_t *part, uint32_t node_count,
                                            uint32_t part_count, struct error *err);
/* Counts the nodes of each part in size [part_count]. */
void assignment_sizes(const uint32_t *part, uint32_t node_count, uint32_t part_count,
                      uint32_t *size);
/* Fills empty parts: each, in ascending order, gets the highest node of the part with the most
 * nodes (of several, the lowest part). part_count <= node_count. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code assignment_fill_empty(uint32_t *part, uint32_t node_count,
                                                 uint32_t part_count, struct error *err);
/* Refuses empty parts. Fails: ERROR_INPUT naming the first one. */
MUST_CHECK enum error_code assignment_refuse_empty(const uint32_t *part, uint32_t node_count,
                                                   uint32_t part_count, struct error *err);

#endif
