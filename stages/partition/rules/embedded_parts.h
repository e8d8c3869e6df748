/*
 * embedded_parts - makes parts from an embedding: nodes with close rows go to the same part.
 *
 * k-means with k-means++ for the first centres (Arthur and Vassilvitskii, SODA 2007), on rows of
 * length 1, gives clusters of any size. Then the nodes are streamed by the rule of linear
 * deterministic greedy (greedy_rule.h), at most partition.passes times. In the first pass a
 * neighbour counts in its cluster, and each node goes where its neighbours are and there is room.
 * The result is a pure function of the rows, the dataset and the settings.
 */
#ifndef STAGES_PARTITION_RULES_EMBEDDED_PARTS_H
#define STAGES_PARTITION_RULES_EMBEDDED_PARTS_H

#include "common/base/error.h"
#include "stages/partition/rules/partitioner.h"

#include <stdint.h>

/* Returns the number of columns of an embedding for so many parts. */
uint32_t embedded_parts_dim(uint32_t part_count);
/* Fills part [node_count] from row [node_count, dim]. It scales rows to length 1 (those of length 0
 * stay). `name` is for the log. Fails: ERROR_NO_MEMORY; what node_stream.h fails with. */
MUST_CHECK enum error_code embedded_parts(const struct partition_request *request, const char *name,
                                          float *row, uint32_t dim, uint32_t *part,
                                          struct error *err);
/* Returns the bytes that it takes of the budget, the caller's graph and rows included. */
uint64_t embedded_parts_bytes(const struct partition_request *request);
/* Checks that a method that holds the graph takes no more `bytes` than the budget. Fails:
 * ERROR_NO_MEMORY naming both. */
MUST_CHECK enum error_code embedded_parts_check(const struct partition_request *request,
                                                const char *name, uint64_t bytes,
                                                struct error *err);

#endif
