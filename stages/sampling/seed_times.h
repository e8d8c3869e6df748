/*
 * seed_times - the time of a node: that of its last edge, or of its first (sample.seed_time).
 */
#ifndef STAGES_SAMPLING_SEED_TIMES_H
#define STAGES_SAMPLING_SEED_TIMES_H

#include "common/base/error.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

/* Into out [count]. A node without edges that end in it has EDGE_TIME_LAST, or with `first` unset
 * EDGE_TIME_FIRST. Fails: ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code seed_times_find(const struct topology *topology, bool first,
                                           const uint32_t *node, uint32_t count, int64_t *out,
                                           struct error *err);

#endif
