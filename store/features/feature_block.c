#include "store/features/feature_block.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"

#include <stdio.h>
#include <string.h>

void feature_block_key(uint64_t block, char key[FEATURE_BLOCK_KEY_SIZE])
{
    for (int i = 0; i < FEATURE_BLOCK_KEY_SIZE; i++)
        key[i] = (char)(block >> (56 - 8 * i) & 0xff);
}

uint64_t feature_block_count(const struct tensor_spec *tensor)
{
    return tensor->row_count / FEATURE_BLOCK_ROWS + (tensor->row_count % FEATURE_BLOCK_ROWS != 0);
}

uint32_t feature_block_rows(const struct tensor_spec *tensor, uint64_t block)
{
    const uint64_t left = tensor->row_count - block * FEATURE_BLOCK_ROWS;
    return left < FEATURE_BLOCK_ROWS ? (uint32_t)left : FEATURE_BLOCK_ROWS;
}

size_t feature_block_bytes(const struct tensor_spec *tensor, uint64_t block)
{
    return feature_block_rows(tensor, block) * tensor_row_bytes(tensor);
}

uint64_t feature_block_seed(const char *shard_key, const char *tensor)
{
    char place[KEY_SIZE + TENSOR_NAME_SIZE + 1];
    const int size = snprintf(place, sizeof place, "%s %s", shard_key, tensor);
    must(size > 0 && (size_t)size < sizeof place);
    return checksum_64(place, (size_t)size);
}

static struct checksum sum_of(const char *value, size_t bytes, uint64_t seed, uint64_t block)
{
    return checksum_seeded(value + FEATURE_BLOCK_SUM_SIZE, bytes, seed + block);
}

enum error_code feature_block_check(const struct tensor_spec *tensor, uint64_t seed, uint64_t block,
                                    const char *value, size_t size, struct error *err)
{
    const size_t bytes = feature_block_bytes(tensor, block);
    if (size != FEATURE_BLOCK_SUM_SIZE + bytes)
        return error_set(err, ERROR_CORRUPT, "expected %zu bytes, found %zu",
                         FEATURE_BLOCK_SUM_SIZE + bytes, size);
    const struct checksum found = sum_of(value, bytes, seed, block);
    struct checksum expected;
    memcpy(expected.bytes, value, sizeof expected.bytes);
    return checksum_equal(&expected, &found) ? ERROR_NONE
                                             : checksum_mismatch(&expected, &found, err);
}

void feature_block_copy(const struct tensor_spec *tensor, uint64_t block, const char *value,
                        char *rows, size_t stride)
{
    const size_t row_bytes = tensor_row_bytes(tensor);
    const size_t step = stride * tensor_type_bytes(tensor->type);
    const uint32_t count = feature_block_rows(tensor, block);
    const char *from = value + FEATURE_BLOCK_SUM_SIZE;
    rows += block * FEATURE_BLOCK_ROWS * step;
    if (stride == tensor->dim) {
        memcpy(rows, from, count * row_bytes);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(rows + i * step, from + i * row_bytes, row_bytes);
}

enum error_code feature_block_builder_begin(struct feature_block_builder *builder,
                                            const struct tensor_spec *tensor, uint64_t seed,
                                            struct error *err)
{
    feature_block_builder_release(builder);
    builder->tensor = *tensor;
    builder->seed = seed;
    return memory_new(&builder->value,
                      FEATURE_BLOCK_SUM_SIZE + FEATURE_BLOCK_ROWS * tensor_row_bytes(tensor),
                      "a block of rows", err);
}

void feature_block_builder_release(struct feature_block_builder *builder)
{
    memory_free(builder->value);
    *builder = (struct feature_block_builder){0};
}

uint32_t feature_block_builder_take(struct feature_block_builder *builder, const void *rows,
                                    uint64_t row_count)
{
    const size_t row_bytes = tensor_row_bytes(&builder->tensor);
    const uint32_t room = FEATURE_BLOCK_ROWS - builder->buffered_rows;
    const uint32_t take = row_count < room ? (uint32_t)row_count : room;
    memcpy(builder->value + FEATURE_BLOCK_SUM_SIZE + builder->buffered_rows * row_bytes, rows,
           take * row_bytes);
    builder->buffered_rows += take;
    builder->row_count += take;
    return take;
}

void feature_block_builder_seal(struct feature_block_builder *builder, uint64_t *block,
                                size_t *size)
{
    *block = (builder->row_count - 1) / FEATURE_BLOCK_ROWS;
    const size_t bytes = feature_block_bytes(&builder->tensor, *block);
    const struct checksum sum = sum_of(builder->value, bytes, builder->seed, *block);
    memcpy(builder->value, sum.bytes, FEATURE_BLOCK_SUM_SIZE);
    *size = FEATURE_BLOCK_SUM_SIZE + bytes;
    builder->buffered_rows = 0;
}
