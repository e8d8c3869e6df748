#include "store/feature_block.h"

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
    return (size_t)feature_block_rows(tensor, block) * tensor->dim * FEATURE_ELEMENT_SIZE;
}

enum error_code feature_block_check(const struct tensor_spec *tensor, uint64_t block,
                                    const char *value, size_t size, struct error *err)
{
    const size_t bytes = feature_block_bytes(tensor, block);
    if (size != FEATURE_BLOCK_SUM_SIZE + bytes)
        return error_set(err, ERROR_CORRUPT, "expected %zu bytes, found %zu",
                         FEATURE_BLOCK_SUM_SIZE + bytes, size);
    const struct checksum found = checksum_of(value + FEATURE_BLOCK_SUM_SIZE, bytes);
    struct checksum expected;
    memcpy(expected.bytes, value, sizeof expected.bytes);
    return checksum_equal(&expected, &found) ? ERROR_NONE
                                             : checksum_mismatch(&expected, &found, err);
}

void feature_block_copy(const struct tensor_spec *tensor, uint64_t block, const char *value,
                        char *rows, size_t stride)
{
    const size_t row_bytes = (size_t)tensor->dim * FEATURE_ELEMENT_SIZE;
    const uint32_t count = feature_block_rows(tensor, block);
    const char *from = value + FEATURE_BLOCK_SUM_SIZE;
    rows += block * FEATURE_BLOCK_ROWS * stride * FEATURE_ELEMENT_SIZE;
    if (stride == tensor->dim) {
        memcpy(rows, from, count * row_bytes);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(rows + i * stride * FEATURE_ELEMENT_SIZE, from + i * row_bytes, row_bytes);
}
