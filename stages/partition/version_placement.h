/*
 * version_placement - what is recorded of the assignment, permutation and splits of a partition that is a delta (store/records/node_placement.h).
 *
 * A partition that has those three whole, as older programs wrote them, keeps them so.
 */
#ifndef STAGES_PARTITION_VERSION_PLACEMENT_H
#define STAGES_PARTITION_VERSION_PLACEMENT_H

#include "common/base/error.h"
#include "stages/partition/kept_assignment.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>

/* Whether the partition, which is a delta, is to do without the three. Fails: ERROR_IO. */
MUST_CHECK enum error_code version_placement_is_wanted(const struct partition_input *input,
                                                       const struct kept_assignment *kept,
                                                       bool *is_wanted, struct error *err);
/* Before the record of the delta. Fails: what the base's splits cannot be read for; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_placement_put(const struct partition_input *input,
                                                 const struct kept_assignment *kept,
                                                 const struct part_delta *delta,
                                                 const struct numbering *numbering,
                                                 struct error *err);

#endif
