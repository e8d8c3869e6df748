/* mask_splits - a split as a mask: 0 and 1 or False and True for each node. */
#ifndef STAGES_INGEST_FORMATS_SHARED_MASK_SPLITS_H
#define STAGES_INGEST_FORMATS_SHARED_MASK_SPLITS_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Reads row `row` of the .npy file `path`, [nodes] or [splits, nodes], and pushes the nodes whose
 * entry is set. Fails: ERROR_INPUT naming file, what was expected and what was found. */
MUST_CHECK enum error_code mask_splits_push(const char *path, enum split split, uint64_t row,
                                            uint64_t node_count, struct dataset_builder *builder,
                                            struct error *err);

#endif
