/*
 * embedded_parts - parts from an embedding: nodes whose rows are close come together.
 *
 * k-means with k-means++ for the first centres (Arthur and Vassilvitskii, SODA 2007), on rows of length 1, gives clusters
 * that are as large as they are. Then the nodes are streamed by the rule of linear deterministic greedy (greedy_rule.h),
 * partition.passes times at most: in the first pass a neighbour counts in its cluster, and each node goes where its
 * neighbours are and there is room. A pure function of the rows, the dataset and the settings.
 */
#ifndef STAGES_PARTITION_METHODS_EMBEDDED_PARTS_H
#define STAGES_PARTITION_METHODS_EMBEDDED_PARTS_H

#include "common/base/error.h"
#include "stages/partition/methods/partitioner.h"

#include <stdint.h>

/* Columns of an embedding for so many parts. */
uint32_t embedded_parts_dim(uint32_t part_count);
/* Fills part [node_count] from row [node_count, dim], whose lengths become 1 (those of length 0 stay). `name`: for the log.
 * Fails: ERROR_NO_MEMORY; what node_stream.h fails with. */
MUST_CHECK enum error_code embedded_parts(const struct partition_request *request, const char *name,
                                          float *row, uint32_t dim, uint32_t *part,
                                          struct error *err);
/* Bytes that it takes, of the budget, and the graph and the rows of its caller. */
uint64_t embedded_parts_bytes(const struct partition_request *request);
/* Fails: ERROR_NO_MEMORY when a method that holds the graph takes more `bytes` than the budget has, naming both. */
MUST_CHECK enum error_code embedded_parts_check(const struct partition_request *request,
                                                const char *name, uint64_t bytes,
                                                struct error *err);

#endif
