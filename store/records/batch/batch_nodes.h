/*
 * batch_nodes - checks the nodes of a mini-batch: valid ids, and no node twice.
 */
#ifndef STORE_RECORDS_BATCH_BATCH_NODES_H
#define STORE_RECORDS_BATCH_BATCH_NODES_H

#include "common/base/error.h"
#include "store/records/batch/mini_batch.h"

#include <stdint.h>

/* Returns the largest of `count` values; 0 of none. */
uint32_t batch_nodes_largest(const uint32_t *value, uint32_t count);
/* Checks that ids are valid in a graph. Fails: ERROR_CORRUPT naming the first that is not. */
MUST_CHECK enum error_code batch_nodes_check_ids(const struct mini_batch *batch, struct error *err);
/* Checks that no node is there twice; uses the batch's memory, and node_limit must be set. Fails:
 * ERROR_CORRUPT naming the first node that is there twice; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_nodes_check_once(struct mini_batch *batch, struct error *err);

#endif
