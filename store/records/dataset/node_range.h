/* node_range - the section "range" of a chunk begins with the nodes of a dataset that it holds. */
#ifndef STORE_RECORDS_DATASET_NODE_RANGE_H
#define STORE_RECORDS_DATASET_NODE_RANGE_H

#include "common/base/error.h"
#include "store/objects/record.h"

#include <stdint.h>

/* Fails: ERROR_CORRUPT if the nodes reach beyond the ids that a dataset may have. */
MUST_CHECK enum error_code node_range_check(const struct record_view *view, uint32_t first_node,
                                            uint32_t node_count, struct error *err);

#endif
