/*
 * sparse_features - detects whether a graph's features are mostly zeros, as bags of words are.
 *
 * The answer chooses the order of operations in the first layer (common/nn/layers/sparse_layer.h),
 * and so it decides the last bits. It must be the same wherever a unit of the run is done. So it
 * depends only on the rows of the first nodes, in the order of the partition.
 */
#ifndef STAGES_PLAN_MODEL_SPARSE_FEATURES_H
#define STAGES_PLAN_MODEL_SPARSE_FEATURES_H

#include "common/base/error.h"
#include "store/features/feature_source.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets *mostly_zero. `features` are held in float32. Fails: as feature_source_read();
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sparse_features_detect(struct feature_source *features,
                                                  uint32_t node_count, bool *mostly_zero,
                                                  struct error *err);

#endif
