/*
 * version_placement - the record of assignment, permutation and splits of a partition that is a
 * delta (store/records/partition/node_placement.h).
 *
 * A partition that has these three records whole, as older programs wrote them, keeps them.
 */
#ifndef STAGES_PARTITION_VERSION_PLACEMENT_H
#define STAGES_PARTITION_VERSION_PLACEMENT_H

#include "common/base/error.h"
#include "stages/partition/kept_assignment.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>

/* Sets whether the partition, which is a delta, gets the placement instead of the three records.
 * Fails: ERROR_IO. */
MUST_CHECK enum error_code version_placement_is_wanted(const struct partition_input *input,
                                                       const struct kept_assignment *kept,
                                                       bool *is_wanted, struct error *err);
/* Stores the placement; the caller does this before it stores the record of the delta. Fails: what
 * reading the base's splits fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_placement_put(const struct partition_input *input,
                                                 const struct kept_assignment *kept,
                                                 const struct part_delta *delta,
                                                 const struct numbering *numbering,
                                                 struct error *err);

#endif
