/*
 * version_numbering - the ids that a partition gives to the nodes of a dataset.
 *
 * If the nodes of a version keep the parts of the version before it (version_assignment.h:
 * "placed"), they also keep their order in the part, and new nodes come after them; in a graph with
 * relations after those of their type. So the old ids that are left ascend in the new numbering.
 * Then unchanged rows of topology and features can be recognised, and what was written of them is
 * used again (version_delta.h). In all other cases the order is that of renumbering.h. The ids of a
 * version are a function of the chain of versions and the settings; they do not depend on the form
 * in which parts are written.
 */
#ifndef STAGES_PARTITION_VERSION_NUMBERING_H
#define STAGES_PARTITION_VERSION_NUMBERING_H

#include "common/base/error.h"
#include "stages/partition/layout/renumbering.h"
#include "stages/partition/partition_input.h"

#include <stdint.h>

/* Computes the ids. part [node_count]; `method` is that of kept_assignment, and may be NULL. The
 * version before a placed one has its permutation in the store (version_assignment_prepare()).
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_numbering(const struct partition_input *input,
                                             const uint32_t *part, const char *method,
                                             struct renumbering *out, struct error *err);

#endif
