/* negative_chances - the chances of nodes to be the other end of a negative, of sample.negative degree. */
#ifndef STAGES_SAMPLING_NEGATIVE_CHANCES_H
#define STAGES_SAMPLING_NEGATIVE_CHANCES_H

#include "common/base/error.h"
#include "stages/sampling/node_chances.h"
#include "stages/sampling/pair_ends.h"
#include "store/topology/topology.h"

#include <stdint.h>

/* Chances of nodes by in-degree^0.75 (Mikolov et al. 2013). Release with node_chances_release().
 * Fails: ERROR_INPUT without edges; ERROR_NO_MEMORY, also when they take more than `budget_bytes` (0: any). */
MUST_CHECK enum error_code negative_chances_init(struct node_chances *chances,
                                                 const struct topology *topology,
                                                 uint64_t budget_bytes, struct error *err);
/* Those of the nodes of each type, by the edges of all relations; chances [types], each to be released. */
MUST_CHECK enum error_code negative_chances_by_type(struct node_chances *chances,
                                                    const struct topology *topology,
                                                    const struct pair_ends *ends,
                                                    uint64_t budget_bytes, struct error *err);

#endif
