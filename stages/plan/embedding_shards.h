/*
 * embedding_shards - how the rows of a learnable embedding are cut into shards: the partition policy of this tensor.
 *
 * A shard is what one unit of update-rows or seal-rows changes. Which worker does it is no part of the policy, and neither is
 * any number: a row becomes the same under every policy.
 */
#ifndef STAGES_PLAN_EMBEDDING_SHARDS_H
#define STAGES_PLAN_EMBEDDING_SHARDS_H

#include "stages/plan/pipeline_settings.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

/* ROW(number, name, help): the choices of aggregate.embedding_policy. */
/* clang-format off */
#define EMBEDDING_POLICY_LIST(ROW)                                                          \
    ROW(EMBEDDING_WITH_NODES, nodes, "a shard for the nodes of each part")                  \
    ROW(EMBEDDING_BY_RANGE, range, "as many nodes each, in the order of partition ids")     \
    ROW(EMBEDDING_BY_HASH, hash, "node id modulo the number of shards")                     \
    ROW(EMBEDDING_WHOLE, whole, "one shard of all rows, for small tables")
#define EMBEDDING_POLICY_NUMBER(number, name, help) number,
enum embedding_policy { EMBEDDING_POLICY_LIST(EMBEDDING_POLICY_NUMBER) EMBEDDING_POLICY_COUNT };
#undef EMBEDDING_POLICY_NUMBER
/* clang-format on */

/* How many there are, of a partition of so many parts; 0 without an embedding. */
int32_t embedding_shard_count(const struct pipeline_settings *settings, int32_t part_count);

/* The nodes of one shard: of those first .. end - 1 each `stride`-th. */
struct embedding_shard {
    uint32_t first, end, stride;
};

struct embedding_shard embedding_shard_of(const struct pipeline_settings *settings,
                                          const struct partition_book *book, int32_t shard);

static inline bool embedding_shard_has(const struct embedding_shard *shard, uint32_t node)
{
    return node >= shard->first && node < shard->end && (node - shard->first) % shard->stride == 0;
}

#endif
