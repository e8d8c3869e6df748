/*
 * shard_check - compares the shards of a partition with the dataset they were made from.
 *
 * Every shard is opened, and its tensors are compared with what its part must have. A sample of the
 * rows, spread evenly over the new ids so that every large part has some, is compared bit for bit
 * with the dataset's rows. The sample is the same each time.
 */
#ifndef STAGES_PARTITION_CHECK_SHARD_CHECK_H
#define STAGES_PARTITION_CHECK_SHARD_CHECK_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/tensor_spec.h"

/* Checks all shards. Fails: ERROR_CORRUPT naming shard, node, expected and found. */
MUST_CHECK enum error_code shard_check(struct store *store, const struct dataset_schema *schema,
                                       const struct partition_book *book,
                                       const struct node_permutation *permutation,
                                       enum tensor_type feature_type, struct error *err);

#endif
