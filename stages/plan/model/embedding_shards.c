#include "stages/plan/model/embedding_shards.h"

enum error_code embedding_tensors_of(const struct pipeline_settings *settings,
                                     const struct partition_book *book,
                                     struct embedding_tensors *out, struct error *err)
{
    if (book->type_count > 0)
        return embedding_tensors_of_types(settings, book->type_name, book->type_dim,
                                          book->type_count, book->part_count, out, err);
    *out = embedding_tensors_plain(settings, book->part_count);
    return ERROR_NONE;
}

/* Returns the number of nodes of its type in the parts before `part`. */
static uint32_t rows_before(const struct embedding_tensor *tensor,
                            const struct partition_book *book, int part)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    return type_ranges_before(&ranges, part, tensor->type);
}

uint32_t embedding_tensor_rows(const struct embedding_tensor *tensor,
                               const struct partition_book *book)
{
    return rows_before(tensor, book, book->part_count);
}

struct embedding_shard embedding_shard_of(const struct embedding_tensors *tensors,
                                          const struct partition_book *book, int32_t shard)
{
    int at = 0;
    must(shard >= 0 && shard < tensors->shard_count);
    while (shard >= tensors->tensor[at].first_shard + tensors->tensor[at].shard_count)
        at++;
    const struct embedding_tensor *tensor = &tensors->tensor[at];
    const uint32_t rows = embedding_tensor_rows(tensor, book);
    const uint64_t count = (uint64_t)tensor->shard_count;
    const uint64_t number = (uint64_t)(shard - tensor->first_shard);
    struct embedding_shard out = {.tensor = at, .end = rows, .stride = 1};
    switch (tensor->policy) {
    case EMBEDDING_WITH_NODES:
        out.first = rows_before(tensor, book, (int)number);
        out.end = rows_before(tensor, book, (int)number + 1);
        break;
    case EMBEDDING_BY_RANGE:
        out.first = (uint32_t)(rows * number / count);
        out.end = (uint32_t)(rows * (number + 1) / count);
        break;
    case EMBEDDING_BY_HASH:
        out.first = number < rows ? (uint32_t)number : rows;
        out.stride = (uint32_t)count;
        break;
    case EMBEDDING_WHOLE:
    case EMBEDDING_POLICY_COUNT:
        break;
    }
    return out;
}
