/* node_range - the section "range" of a chunk: which nodes of a dataset it holds, and a third number. */
#ifndef STORE_RECORDS_NODE_RANGE_H
#define STORE_RECORDS_NODE_RANGE_H

#include "common/base/error.h"
#include "store/objects/record.h"

#include <stdint.h>

enum { NODE_RANGE_SIZE = 3 };

/* Fails: ERROR_CORRUPT when the nodes are none, above `nodes_max`, or no ids of a dataset. */
MUST_CHECK enum error_code node_range_get(const struct record_view *view, uint32_t nodes_max,
                                          uint32_t *first_node, uint32_t *node_count,
                                          uint64_t *third, struct error *err);

#endif
