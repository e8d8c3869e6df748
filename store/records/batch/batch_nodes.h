/*
 * batch_nodes - that no node is in a mini-batch twice.
 */
#ifndef STORE_RECORDS_BATCH_BATCH_NODES_H
#define STORE_RECORDS_BATCH_BATCH_NODES_H

#include "common/base/error.h"
#include "store/records/batch/mini_batch.h"

#include <stdint.h>

/* Of `count` values; 0 of none. */
uint32_t batch_nodes_largest(const uint32_t *value, uint32_t count);
/* Ids are such as a graph may have. Fails: ERROR_CORRUPT naming the first that is not. */
MUST_CHECK enum error_code batch_nodes_check_ids(const struct mini_batch *batch, struct error *err);
/* In the memory of the batch, whose node_limit is set. Fails: ERROR_CORRUPT naming the first node
 * that is there twice; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_nodes_check_once(struct mini_batch *batch, struct error *err);

#endif
