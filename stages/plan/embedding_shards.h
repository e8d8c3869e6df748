/*
 * embedding_shards - how the rows of each learnable tensor (embedding_tensors.h) are cut into shards: its partition policy.
 *
 * A row is named by the number of its node among those of the type (store/records/type_ranges.h), which with one type is the
 * partition id. Shards are numbered through all tensors.
 *
 * A shard is what one unit of seal-rows writes. Which worker does it is no part of the policy, and neither is any number: a
 * row becomes the same under every policy.
 */
#ifndef STAGES_PLAN_EMBEDDING_SHARDS_H
#define STAGES_PLAN_EMBEDDING_SHARDS_H

#include "common/base/error.h"
#include "stages/plan/embedding_tensors.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

/* The tensors of a run on that partition. Fails as embedding_tensors_of_types(). */
MUST_CHECK enum error_code embedding_tensors_of(const struct pipeline_settings *settings,
                                                const struct partition_book *book,
                                                struct embedding_tensors *out, struct error *err);
/* How many rows it has: the nodes of its type. */
uint32_t embedding_tensor_rows(const struct embedding_tensor *tensor,
                               const struct partition_book *book);

/* The rows of one shard: of those first .. end - 1 each `stride`-th. */
struct embedding_shard {
    int tensor; /* its place among those of the run */
    uint32_t first, end, stride;
};

struct embedding_shard embedding_shard_of(const struct embedding_tensors *tensors,
                                          const struct partition_book *book, int32_t shard);

static inline bool embedding_shard_has(const struct embedding_shard *shard, uint32_t row)
{
    return row >= shard->first && row < shard->end && (row - shard->first) % shard->stride == 0;
}

#endif
