/*
 * hash_partitioner - the part of a node is a hash of its dataset id and the seed.
 *
 * It is for graphs that are too big for METIS, and is the baseline that any partitioner has to
 * beat: loads are even by the law of large numbers, but all but one in part_count edges are cut. It
 * needs no memory and reads no edges.
 */
#ifndef STAGES_PARTITION_METHODS_HASH_PARTITIONER_H
#define STAGES_PARTITION_METHODS_HASH_PARTITIONER_H

#include "common/base/error.h"

#include <stdint.h>

/* Fills part [node_count]; every part has a node (assignment_fill_empty()). part_count <=
 * node_count. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code hash_partition(uint32_t *part, uint32_t node_count, uint32_t part_count,
                                          int64_t seed, struct error *err);

#endif
