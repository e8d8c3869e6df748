/*
 * feature_shard - rows of numbers of one part, in a sealed RocksDB folder.
 *
 * There is one shard for each part, with one column family for each tensor ("features", "labels",
 * "embeddings", ...). A value is a block of 256 consecutive rows, uncompressed, after the XXH3-128
 * (16 bytes) of the block; the key is the block's number, big-endian. A shard is built from sorted
 * SST files by ingestion, sealed (closed, hashed, renamed), and then only opened read-only. The
 * seal hashes the content, block by block, because equal builds give different SST bytes.
 *
 * A shard may be a delta (shard_delta.h): a folder with the rows that are new or that differ from
 * another shard. Reading it returns all rows; verifying it reads its own folder only.
 */
#ifndef STORE_FEATURES_FEATURE_SHARD_H
#define STORE_FEATURES_FEATURE_SHARD_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/round/tensor_spec.h"
#include "store/records/round/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEATURE_BLOCK_ROWS = 256 };

struct feature_shard_writer;
struct shard_seal;

/* Starts a shard in scratch. It will become the artifact `key` with its seal at `seal_key`. */
MUST_CHECK enum error_code feature_shard_writer_new(struct store *store, const char *key,
                                                    const char *seal_key, const char *owner_id,
                                                    struct feature_shard_writer **out,
                                                    struct error *err);
/* Begin a tensor, then add its rows in order, any number in each call. Tensors are written one
 * after the other. */
MUST_CHECK enum error_code feature_shard_writer_begin(struct feature_shard_writer *writer,
                                                      const struct tensor_spec *tensor,
                                                      struct error *err);
MUST_CHECK enum error_code feature_shard_writer_add(struct feature_shard_writer *writer,
                                                    const void *rows, uint64_t row_count,
                                                    struct error *err);
/* Makes the shard a delta over another, whole shard with the key `base_key` and the seal `base`;
 * each tensor will have `row_count` rows. The rows that are written are shard_seal_own(). */
void feature_shard_writer_over(struct feature_shard_writer *writer, const char *base_key,
                               const struct shard_seal *base, uint64_t row_count);
/* Records in the seal the weights that the rows were computed with. */
void feature_shard_writer_computed_with(struct feature_shard_writer *writer,
                                        const struct weights_identity *weights);
/* Seals and publishes the shard. Frees the writer whether it succeeds or not. */
MUST_CHECK enum error_code feature_shard_writer_finish(struct feature_shard_writer *writer,
                                                       struct error *err);
/* Gives up and removes the scratch files. NULL is allowed. */
void feature_shard_writer_abandon(struct feature_shard_writer *writer);

struct feature_shard;

/* Opens a shard read-only. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT. Threads: several may read at
 * once. */
MUST_CHECK enum error_code feature_shard_open(struct store *store, const char *key,
                                              const char *seal_key, const char *owner_id,
                                              struct feature_shard **out, struct error *err);
void feature_shard_close(struct feature_shard *shard);
/* Returns the description of a tensor, borrowed; NULL if the shard has no such tensor. */
const struct tensor_spec *feature_shard_tensor(const struct feature_shard *shard, const char *name);
/* Copies the rows of block `block` (from row 256 * block on) to `rows`; *row_count is how many
 * there are. Fails: ERROR_CORRUPT naming shard, tensor and block. */
MUST_CHECK enum error_code feature_shard_read_block(struct feature_shard *shard, const char *tensor,
                                                    uint64_t block, void *rows, uint32_t *row_count,
                                                    struct error *err);

/* A block in RocksDB's own memory, or, for a delta, in memory where it was put together. {0} holds
 * none; release with feature_pin_release(). */
struct feature_pin {
    void *slice, *copy; /* owned */
    const void *rows;   /* [row_count, dim]; not aligned for its elements */
    uint32_t row_count;
};

/* Reads block `block`, checks its hash and returns its rows without a copy. The shard stays open
 * until the pin is released. *pin must hold no block. Fails: ERROR_CORRUPT naming shard, tensor and
 * block. */
MUST_CHECK enum error_code feature_shard_pin(struct feature_shard *shard, const char *tensor,
                                             uint64_t block, struct feature_pin *pin,
                                             struct error *err);
void feature_pin_release(struct feature_pin *pin);

/* Reads all blocks in one scan into `rows` [row_count, dim], with `stride` elements for each
 * row. */
MUST_CHECK enum error_code feature_shard_read_all(struct feature_shard *shard, const char *tensor,
                                                  void *rows, size_t stride, struct error *err);
/* Reads every block of every tensor and compares it with the seal. */
MUST_CHECK enum error_code feature_shard_verify(struct feature_shard *shard, struct error *err);

#endif
