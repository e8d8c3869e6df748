/*
 * row_order - sorts the nodes of a batch in ascending order.
 *
 * It uses two counting sorts, by row within the block and by block. A batch of n nodes is sorted in
 * a few nanoseconds for each node, whatever its order was.
 */
#ifndef STORE_FEATURES_ROW_ORDER_H
#define STORE_FEATURES_ROW_ORDER_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct row_order {       /* {0} is empty */
    uint32_t *place;     /* [count]: position in the batch of each node, after row_order_sort() */
    uint32_t *spare;     /* [count] */
    uint32_t *start;     /* [bucket_count + 1] */
    size_t capacity;     /* of place and spare */
    size_t bucket_count; /* 256 at least */
};

/* Returns the bytes for batches of `count` nodes below `node_count`. */
uint64_t row_order_bytes(size_t count, uint32_t node_count);
/* Reserves memory for such batches. Fails: ERROR_NO_MEMORY; the order is then empty. */
MUST_CHECK enum error_code row_order_reserve(struct row_order *order, size_t count,
                                             uint32_t node_count, struct error *err);
void row_order_release(struct row_order *order);
/* Sorts the batch. Equal nodes keep their order. */
void row_order_sort(struct row_order *order, const uint32_t *node, size_t count);

#endif
