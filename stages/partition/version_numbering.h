/*
 * version_numbering - the ids that a partition gives to the nodes of a dataset.
 *
 * Where the nodes of a version keep the parts of the version before it (version_assignment.h: "placed"), they keep their order in the
 * part, too, and new ones stand behind; of a graph with relations, behind those of their type. So ids of that partition that are left ascend in this one, rows of the topology and of features that
 * have not changed can be told, and what has been written of them serves again (version_delta.h). In all other cases the order is that of
 * renumbering.h. What the ids of a version are is a function of the chain of versions and the settings, and not of what is written of it.
 */
#ifndef STAGES_PARTITION_VERSION_NUMBERING_H
#define STAGES_PARTITION_VERSION_NUMBERING_H

#include "common/base/error.h"
#include "stages/partition/layout/renumbering.h"
#include "stages/partition/partition_input.h"

#include <stdint.h>

/* part [node_count]; `method`: kept_assignment()'s, may be NULL. The version before a placed one has its permutation in the store
 * (version_assignment_prepare()). Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_numbering(const struct partition_input *input,
                                             const uint32_t *part, const char *method,
                                             struct renumbering *out, struct error *err);

#endif
