/*
 * chosen_rows - rows of some nodes, of a source that holds none, each block of its shards read once.
 */
#ifndef STAGES_INFER_ROWS_CHOSEN_ROWS_H
#define STAGES_INFER_ROWS_CHOSEN_ROWS_H

#include "common/base/error.h"
#include "store/features/feature_source.h"

#include <stddef.h>
#include <stdint.h>

/* The rows of node [count], each once and in any order, as they are held, one behind the other into `out`. Takes 8 bytes a node
 * and the longest block. Fails: ERROR_CORRUPT naming shard, tensor and block; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code chosen_rows_read(struct feature_source *source, const uint32_t *node,
                                            size_t count, void *out, struct error *err);

#endif
