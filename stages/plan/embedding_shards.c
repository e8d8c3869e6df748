#include "stages/plan/embedding_shards.h"

int32_t embedding_shard_count(const struct pipeline_settings *settings, int32_t part_count)
{
    if (settings->train_step.embedding == 0)
        return 0;
    switch ((enum embedding_policy)settings->aggregate.embedding_policy) {
    case EMBEDDING_BY_RANGE:
    case EMBEDDING_BY_HASH:
        return (int32_t)settings->aggregate.embedding_shards;
    case EMBEDDING_WHOLE:
        return 1;
    case EMBEDDING_WITH_NODES:
    case EMBEDDING_POLICY_COUNT:
        break;
    }
    return part_count;
}

struct embedding_shard embedding_shard_of(const struct pipeline_settings *settings,
                                          const struct partition_book *book, int32_t shard)
{
    const uint64_t nodes = book->node_count;
    const uint64_t count = (uint64_t)embedding_shard_count(settings, book->part_count);
    struct embedding_shard out = {.end = book->node_count, .stride = 1};
    must(count > 0 && shard >= 0);
    switch ((enum embedding_policy)settings->aggregate.embedding_policy) {
    case EMBEDDING_WITH_NODES:
        out.first = book->book[shard];
        out.end = book->book[shard + 1];
        break;
    case EMBEDDING_BY_RANGE:
        out.first = (uint32_t)(nodes * (uint64_t)shard / count);
        out.end = (uint32_t)(nodes * ((uint64_t)shard + 1) / count);
        break;
    case EMBEDDING_BY_HASH:
        out.first = (uint64_t)shard < nodes ? (uint32_t)shard : book->node_count;
        out.stride = (uint32_t)count;
        break;
    case EMBEDDING_WHOLE:
    case EMBEDDING_POLICY_COUNT:
        break;
    }
    return out;
}
