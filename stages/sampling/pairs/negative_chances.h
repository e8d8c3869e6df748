/* negative_chances - computes the chances of nodes to be the other end of a negative, for
 * sample.negative degree. */
#ifndef STAGES_SAMPLING_PAIRS_NEGATIVE_CHANCES_H
#define STAGES_SAMPLING_PAIRS_NEGATIVE_CHANCES_H

#include "common/base/error.h"
#include "stages/sampling/pairs/pair_ends.h"
#include "stages/sampling/rows/node_chances.h"
#include "store/topology/topology.h"

#include <stdint.h>

/* Computes chances in proportion to in-degree^0.75 (Mikolov et al. 2013). Release with
 * node_chances_release(). Fails: ERROR_INPUT without edges; ERROR_NO_MEMORY, also when the chances
 * take more than `budget_bytes` (0: no limit). */
MUST_CHECK enum error_code negative_chances_init(struct node_chances *chances,
                                                 const struct topology *topology,
                                                 uint64_t budget_bytes, struct error *err);
/* Computes the chances of the nodes of each type, from the edges of all relations, into chances
 * [types]. The caller releases each of them. Fails as negative_chances_init(). */
MUST_CHECK enum error_code negative_chances_by_type(struct node_chances *chances,
                                                    const struct topology *topology,
                                                    const struct pair_ends *ends,
                                                    uint64_t budget_bytes, struct error *err);

#endif
