/*
 * feature_block - up to 256 rows of a tensor as one value: a hash, then the rows.
 *
 * The hash is seeded with the place of the block: the key of its shard, its tensor and its number.
 * Rows are read block by block, and a sound block of another part or place must not pass the check.
 *
 * The key of a block is its number, big-endian, so that the order of keys is the order of rows.
 */
#ifndef STORE_FEATURES_FEATURE_BLOCK_H
#define STORE_FEATURES_FEATURE_BLOCK_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "store/features/feature_shard.h"

#include <stddef.h>
#include <stdint.h>

enum { FEATURE_BLOCK_KEY_SIZE = 8, FEATURE_BLOCK_SUM_SIZE = 16 };

void feature_block_key(uint64_t block, char key[FEATURE_BLOCK_KEY_SIZE]);
uint64_t feature_block_count(const struct tensor_spec *tensor);
/* Returns 256, or the number of rows that are left for the last block. */
uint32_t feature_block_rows(const struct tensor_spec *tensor, uint64_t block);
/* Returns the bytes of the rows alone. */
size_t feature_block_bytes(const struct tensor_spec *tensor, uint64_t block);
/* Returns the seed of a tensor's blocks, which says where they belong. */
uint64_t feature_block_seed(const char *shard_key, const char *tensor);
/* Checks that `value` is exactly that block. Fails: ERROR_CORRUPT with what was expected and
 * found. */
MUST_CHECK enum error_code feature_block_check(const struct tensor_spec *tensor, uint64_t seed,
                                               uint64_t block, const char *value, size_t size,
                                               struct error *err);
/* Copies the rows of a block to their place in `rows` [row_count, dim], with `stride` elements for
 * each row. */
void feature_block_copy(const struct tensor_spec *tensor, uint64_t block, const char *value,
                        char *rows, size_t stride);

/* Gathers rows into blocks. {0} is an empty builder. */
struct feature_block_builder {
    struct tensor_spec tensor;
    uint64_t seed;          /* feature_block_seed() */
    char *value;            /* a block: its hash, then up to 256 rows */
    uint32_t buffered_rows; /* in `value` */
    uint64_t row_count;     /* rows taken so far */
};

/* Starts a tensor. Release with feature_block_builder_release(). */
MUST_CHECK enum error_code feature_block_builder_begin(struct feature_block_builder *builder,
                                                       const struct tensor_spec *tensor,
                                                       uint64_t seed, struct error *err);
void feature_block_builder_release(struct feature_block_builder *builder);
/* Takes up to `row_count` rows, at most until the block is full. Returns how many it took. */
uint32_t feature_block_builder_take(struct feature_block_builder *builder, const void *rows,
                                    uint64_t row_count);
/* Hashes the gathered block, full or the last one, and starts the next. `builder->value` [*size] is
 * valid until more rows are taken; it begins with the hash. *block is the block's number. */
void feature_block_builder_seal(struct feature_block_builder *builder, uint64_t *block,
                                size_t *size);

#endif
