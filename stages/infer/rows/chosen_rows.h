/*
 * chosen_rows - reads the rows of some nodes from a source that holds none in memory. It reads
 * each block of the shards once.
 */
#ifndef STAGES_INFER_ROWS_CHOSEN_ROWS_H
#define STAGES_INFER_ROWS_CHOSEN_ROWS_H

#include "common/base/error.h"
#include "store/features/feature_source.h"

#include <stddef.h>
#include <stdint.h>

/* Reads the rows of node [count], distinct and in any order, as they are stored. Writes them one
 * after the other to `out`. Allocates 8 bytes per node and the longest block. Fails:
 * ERROR_CORRUPT naming shard, tensor and block; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code chosen_rows_read(struct feature_source *source, const uint32_t *node,
                                            size_t count, void *out, struct error *err);

#endif
