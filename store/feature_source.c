/*
 * Resident, a row is found by its node id and the ids are the index: nothing is copied or allocated.
 *
 * Out of the budget, a fetch sorts the wanted nodes, walks their blocks in order, reads each block once
 * and copies each wanted row once (repeats share a row). What the budget leaves beside the rows holds
 * blocks for later fetches (block_cache.h). The rows do not depend on what was cached.
 *
 * The budget counts rows, index, sorting space and blocks; RocksDB's own few hundred KB for an open shard
 * come on top.
 */
#include "store/feature_source.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/block_cache.h"
#include "store/feature_shard.h"
#include "store/keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct feature_source {
    uint32_t dim;
    uint32_t node_count;
    int part_count;
    uint32_t *book; /* [part_count + 1] */
    char tensor[TENSOR_NAME_SIZE];
    uint64_t budget_bytes;

    float *resident; /* [node_count, dim], or NULL: out of the budget */
    size_t resident_bytes;

    /* Out of the budget: */
    struct feature_shard **shard; /* [part_count] */
    uint64_t *first_block; /* [part_count + 1], number of a part's first block over all parts */
    struct block_cache *cache;
    float *rows; /* [row_capacity, dim] of the last fetch */
    size_t row_capacity;
    uint64_t *order;     /* [count_capacity], node << 32 | place in the batch, sorted */
    uint32_t *row_index; /* [count_capacity] */
    size_t count_capacity;
};

/* --- open --- */

static size_t row_bytes(const struct feature_source *source)
{
    return (size_t)source->dim * sizeof(float);
}

static size_t block_bytes(const struct feature_source *source)
{
    return row_bytes(source) * FEATURE_BLOCK_ROWS;
}

static enum error_code open_shard(const struct feature_source_config *config, int part,
                                  struct feature_shard **out, struct error *err)
{
    const bool layer = config->origin == FEATURES_OF_INFER_LAYER;
    const struct key key = layer ? key_infer(config->id, config->layer, part, "shard")
                                 : key_part(config->id, part, "shard");
    const struct key seal = layer ? key_infer(config->id, config->layer, part, "shard_seal")
                                  : key_part(config->id, part, "shard_seal");
    enum error_code rc =
        feature_shard_open(config->store, key.text, seal.text, config->id, out, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct tensor_spec *tensor = feature_shard_tensor(*out, config->tensor);
    const uint32_t rows = config->book[part + 1] - config->book[part];
    if (!tensor)
        rc = error_set(err, ERROR_NOT_FOUND, "artifact %s has no tensor %s", key.text,
                       config->tensor);
    else if (tensor->row_count != rows)
        rc = error_set(err, ERROR_CORRUPT,
                       "artifact %s: tensor %s: expected %" PRIu32 " rows, found %" PRIu64,
                       key.text, config->tensor, rows, tensor->row_count);
    if (rc != ERROR_NONE) {
        feature_shard_close(*out);
        *out = NULL;
    }
    return rc;
}

/* Opens the shard of a part, which must have the dim of the first. */
static enum error_code open_part(struct feature_source *source,
                                 const struct feature_source_config *config, int part,
                                 struct feature_shard **out, struct error *err)
{
    const enum error_code rc = open_shard(config, part, out, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t dim = feature_shard_tensor(*out, config->tensor)->dim;
    source->dim = source->dim ? source->dim : dim;
    if (dim == source->dim)
        return ERROR_NONE;
    feature_shard_close(*out);
    *out = NULL;
    return error_set(err, ERROR_CORRUPT,
                     "tensor %s of part %d: expected a dim of %" PRIu32 ", found %" PRIu32,
                     config->tensor, part, source->dim, dim);
}

/* One array for all rows, one ordered pass for each part. */
static enum error_code read_resident(struct feature_source *source,
                                     const struct feature_source_config *config, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    source->resident = memory_map(source->resident_bytes);
    if (!source->resident)
        return error_set(err, ERROR_NO_MEMORY, "no memory for tensor %s: %zu bytes", source->tensor,
                         source->resident_bytes);
    for (int p = 0; rc == ERROR_NONE && p < source->part_count; p++) {
        struct feature_shard *shard = NULL;
        rc = open_part(source, config, p, &shard, err);
        if (rc == ERROR_NONE)
            rc = feature_shard_read_all(shard, source->tensor,
                                        source->resident + (size_t)source->book[p] * source->dim,
                                        source->dim, err);
        feature_shard_close(shard);
    }
    return rc;
}

/* Bytes that are held whatever is fetched: the tables, and a block on its way. */
static uint64_t fixed_bytes(const struct feature_source *source)
{
    const uint64_t parts = (uint64_t)source->part_count + 1;
    return parts * (sizeof(void *) + sizeof *source->first_block + sizeof *source->book) +
           block_cache_fixed_bytes(source->first_block[source->part_count], block_bytes(source));
}

/* Bytes of a fetch of `count` nodes that are `row_count` different ones. */
static uint64_t fetch_bytes(const struct feature_source *source, size_t row_count, size_t count)
{
    return (uint64_t)row_count * row_bytes(source) +
           (uint64_t)count * (sizeof *source->order + sizeof *source->row_index);
}

static enum error_code check_budget(const struct feature_source *source, size_t row_count,
                                    size_t count, struct error *err)
{
    const uint64_t wanted = fixed_bytes(source) + fetch_bytes(source, row_count, count);
    char wanted_text[32], budget_text[32];
    if (wanted <= source->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "tensor %s: %zu rows want %" PRIu64 " bytes (%s), the budget is %" PRIu64
                     " bytes (%s); give more --memory, or take fewer nodes at a time (batch sizes, "
                     "fan-outs)",
                     source->tensor, row_count, wanted, text_size(wanted, wanted_text),
                     source->budget_bytes, text_size(source->budget_bytes, budget_text));
}

/* Opens all shards and counts their blocks. */
static enum error_code open_shards(struct feature_source *source,
                                   const struct feature_source_config *config, struct error *err)
{
    const size_t parts = (size_t)source->part_count;
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    enum error_code rc = memory_new(&source->shard, parts, "the shards of a tensor", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source->first_block, parts + 1, "the blocks of a tensor", err);
    for (size_t p = 0; rc == ERROR_NONE && p < parts; p++) {
        const uint64_t rows = source->book[p + 1] - source->book[p];
        source->first_block[p + 1] =
            source->first_block[p] + (rows + FEATURE_BLOCK_ROWS - 1) / FEATURE_BLOCK_ROWS;
        rc = open_part(source, config, (int)p, &source->shard[p], err);
    }
    if (rc == ERROR_NONE)
        rc = check_budget(source, 1, 1, err);
    if (rc == ERROR_NONE)
        rc = block_cache_new(source->first_block[parts], block_bytes(source), &source->cache, err);
    return rc;
}

static enum error_code open_source(struct feature_source *source,
                                   const struct feature_source_config *config, struct error *err)
{
    const size_t bounds = (size_t)config->part_count + 1;
    struct feature_shard *first = NULL;
    must(config->part_count > 0 && text_copy(source->tensor, TENSOR_NAME_SIZE, config->tensor));
    enum error_code rc = memory_new(&source->book, bounds, "a partition book", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(source->book, config->book, bounds * sizeof *source->book);
    source->part_count = config->part_count;
    source->node_count = config->book[config->part_count];
    source->budget_bytes = config->budget_bytes;
    rc = open_part(source, config, 0, &first, err); /* for the dim */
    feature_shard_close(first);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t all = (uint64_t)source->node_count * row_bytes(source);
    if (all > config->budget_bytes || all > SIZE_MAX)
        return open_shards(source, config, err);
    source->resident_bytes = (size_t)all;
    return read_resident(source, config, err);
}

enum error_code feature_source_open(const struct feature_source_config *config,
                                    struct feature_source **out, struct error *err)
{
    struct feature_source *source = NULL;
    enum error_code rc = memory_new(&source, 1, "a feature source", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = open_source(source, config, err);
    if (rc != ERROR_NONE) {
        feature_source_close(source);
        return rc;
    }
    *out = source;
    return ERROR_NONE;
}

static void release_rows(struct feature_source *source)
{
    memory_unmap(source->rows, source->row_capacity * row_bytes(source));
    memory_free(source->order);
    memory_free(source->row_index);
    source->rows = NULL;
    source->order = NULL;
    source->row_index = NULL;
    source->row_capacity = source->count_capacity = 0;
}

void feature_source_close(struct feature_source *source)
{
    if (!source)
        return;
    for (int p = 0; source->shard && p < source->part_count; p++)
        feature_shard_close(source->shard[p]);
    memory_unmap(source->resident, source->resident_bytes);
    release_rows(source);
    block_cache_free(source->cache);
    memory_free(source->shard);
    memory_free(source->first_block);
    memory_free(source->book);
    memory_free(source);
}

uint32_t feature_source_dim(const struct feature_source *source)
{
    return source->dim;
}

bool feature_source_is_resident(const struct feature_source *source)
{
    return source->resident != NULL;
}

uint64_t feature_source_bytes(const struct feature_source *source)
{
    if (source->resident)
        return source->resident_bytes;
    return fixed_bytes(source) + block_cache_bytes(source->cache) +
           fetch_bytes(source, source->row_capacity, source->count_capacity);
}

/* --- fetch --- */

static int number_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Room for the sorted order of `count` nodes. Blocks make way for it when need be. */
static enum error_code reserve_order(struct feature_source *source, size_t count, struct error *err)
{
    if (count <= source->count_capacity)
        return ERROR_NONE;
    enum error_code rc = check_budget(source, 1, count, err);
    if (rc != ERROR_NONE)
        return rc;
    release_rows(source);
    block_cache_limit(source->cache,
                      source->budget_bytes - fixed_bytes(source) - fetch_bytes(source, 1, count));
    rc = memory_new(&source->order, count, "the order of a batch", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source->row_index, count, "the rows of a batch", err);
    if (rc == ERROR_NONE)
        source->count_capacity = count;
    else
        release_rows(source);
    return rc;
}

/* Room for the rows; the cache keeps what is left of the budget. */
static enum error_code reserve_rows(struct feature_source *source, size_t row_count,
                                    struct error *err)
{
    const bool grow = row_count > source->row_capacity;
    if (grow ||
        fixed_bytes(source) + fetch_bytes(source, source->row_capacity, source->count_capacity) >
            source->budget_bytes) {
        memory_unmap(source->rows, source->row_capacity * row_bytes(source));
        source->rows = NULL;
        source->row_capacity = 0;
    }
    const size_t capacity = source->rows ? source->row_capacity : row_count;
    const enum error_code rc = check_budget(source, capacity, source->count_capacity, err);
    if (rc != ERROR_NONE)
        return rc;
    block_cache_limit(source->cache, source->budget_bytes - fixed_bytes(source) -
                                         fetch_bytes(source, capacity, source->count_capacity));
    if (source->rows)
        return ERROR_NONE;
    source->rows = memory_map(capacity * row_bytes(source));
    if (!source->rows)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %zu rows of tensor %s", capacity,
                         source->tensor);
    source->row_capacity = capacity;
    return ERROR_NONE;
}

/* Sorts the batch by node; *row_count is how many different ones it has. */
static enum error_code sort_batch(struct feature_source *source, const uint32_t *node, size_t count,
                                  size_t *row_count, struct error *err)
{
    const enum error_code rc = reserve_order(source, count, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++)
        source->order[i] = (uint64_t)node[i] << 32 | i;
    qsort(source->order, count, sizeof *source->order, number_order);
    *row_count = 0;
    for (size_t i = 0; i < count; i++)
        *row_count += i == 0 || source->order[i] >> 32 != source->order[i - 1] >> 32;
    return ERROR_NONE;
}

/* The rows of a block, from the cache or read into it. `number` counts over all parts. */
static enum error_code get_block(struct feature_source *source, int part, uint64_t number,
                                 const float **out, struct error *err)
{
    uint32_t row_count = 0;
    void *room = NULL;
    if (block_cache_get(source->cache, number, &room)) {
        *out = room;
        return ERROR_NONE;
    }
    const enum error_code rc =
        feature_shard_read_block(source->shard[part], source->tensor,
                                 number - source->first_block[part], room, &row_count, err);
    if (rc != ERROR_NONE)
        block_cache_forget(source->cache, number);
    *out = room;
    return rc;
}

/* Walks the sorted batch; each block is asked for once. */
static enum error_code copy_rows(struct feature_source *source, size_t count, struct error *err)
{
    const float *block = NULL;
    uint64_t held = UINT64_MAX;
    uint32_t row = 0;
    int part = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t node = (uint32_t)(source->order[i] >> 32);
        const uint32_t place = (uint32_t)source->order[i];
        if (i > 0 && node == (uint32_t)(source->order[i - 1] >> 32)) {
            source->row_index[place] = row - 1;
            continue;
        }
        while (node >= source->book[part + 1])
            part++;
        const uint32_t local = node - source->book[part];
        const uint64_t number = source->first_block[part] + local / FEATURE_BLOCK_ROWS;
        const enum error_code rc =
            number == held ? ERROR_NONE : get_block(source, part, number, &block, err);
        if (rc != ERROR_NONE)
            return rc;
        must(block != NULL);
        held = number;
        memcpy(source->rows + (size_t)row * source->dim,
               block + (size_t)(local % FEATURE_BLOCK_ROWS) * source->dim, row_bytes(source));
        source->row_index[place] = row++;
    }
    return ERROR_NONE;
}

static enum error_code check_nodes(const struct feature_source *source, const uint32_t *node,
                                   size_t count, struct error *err)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = node[i] > last ? node[i] : last;
    if (count == 0 || last < source->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "tensor %s: expected node ids below %" PRIu32 ", found %" PRIu32,
                     source->tensor, source->node_count, last);
}

enum error_code feature_source_fetch(struct feature_source *source, const uint32_t *node,
                                     size_t count, struct feature_rows *rows, struct error *err)
{
    size_t row_count = 0;
    *rows = (struct feature_rows){0};
    must(count <= UINT32_MAX);
    enum error_code rc = check_nodes(source, node, count, err);
    if (rc == ERROR_NONE && !source->resident && count)
        rc = sort_batch(source, node, count, &row_count, err);
    if (rc == ERROR_NONE && row_count)
        rc = reserve_rows(source, row_count, err);
    if (rc == ERROR_NONE && row_count)
        rc = copy_rows(source, count, err);
    if (rc != ERROR_NONE)
        return rc;
    *rows = (struct feature_rows){.base = source->resident ? source->resident : source->rows,
                                  .stride = source->dim,
                                  .dim = source->dim,
                                  .row_index = source->resident ? node : source->row_index};
    return ERROR_NONE;
}
