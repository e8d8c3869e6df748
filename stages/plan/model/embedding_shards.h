/*
 * embedding_shards - how the rows of each learnable tensor (embedding_tensors.h) are cut into
 * shards: the partition policy.
 *
 * A row has the number of its node among the nodes of its type (store/records/partition/type_ranges.h). With
 * one type that is the partition id. Shards are numbered through all tensors.
 *
 * A unit of seal-rows writes one shard. The policy says neither which worker does it nor what is
 * computed: a row becomes the same under every policy.
 */
#ifndef STAGES_PLAN_MODEL_EMBEDDING_SHARDS_H
#define STAGES_PLAN_MODEL_EMBEDDING_SHARDS_H

#include "common/base/error.h"
#include "stages/plan/settings/embedding_tensors.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets *out to the tensors of a run on that partition. Fails as embedding_tensors_of_types(). */
MUST_CHECK enum error_code embedding_tensors_of(const struct pipeline_settings *settings,
                                                const struct partition_book *book,
                                                struct embedding_tensors *out, struct error *err);
/* Returns the number of rows of the tensor: the number of nodes of its type. */
uint32_t embedding_tensor_rows(const struct embedding_tensor *tensor,
                               const struct partition_book *book);

/* The rows of one shard: every `stride`-th of the rows first .. end - 1. */
struct embedding_shard {
    int tensor; /* its index among the tensors of the run */
    uint32_t first, end, stride;
};

struct embedding_shard embedding_shard_of(const struct embedding_tensors *tensors,
                                          const struct partition_book *book, int32_t shard);

static inline bool embedding_shard_has(const struct embedding_shard *shard, uint32_t row)
{
    return row >= shard->first && row < shard->end && (row - shard->first) % shard->stride == 0;
}

#endif
