/*
 * feature_shard - rows of floats of one part, in a sealed RocksDB folder.
 *
 * One shard for each part, one column family for each tensor ("features", "labels", "embeddings",
 * ...). The value is a block of 256 consecutive rows, uncompressed, behind a 16-byte XXH3-128 of
 * itself; the key is the block's number, big-endian. Built from sorted SST files by ingestion, sealed
 * (closed, hashed, renamed), then only opened read-only. The seal hashes the content, block by block,
 * because equal builds give different SST bytes.
 *
 * A shard may be a delta (shard_delta.h): a folder of the rows that are new or other than in another shard. It reads as one that has
 * them all; verifying it reads the folder alone.
 */
#ifndef STORE_FEATURES_FEATURE_SHARD_H
#define STORE_FEATURES_FEATURE_SHARD_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/tensor_spec.h"
#include "store/records/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEATURE_BLOCK_ROWS = 256 };

struct feature_shard_writer;
struct shard_seal;

/* Starts a shard in scratch that will become the artifact `key` with its seal at `seal_key`. */
MUST_CHECK enum error_code feature_shard_writer_new(struct store *store, const char *key,
                                                    const char *seal_key, const char *owner_id,
                                                    struct feature_shard_writer **out,
                                                    struct error *err);
/* Tensors are written one after the other, rows in order, any number of rows a call. */
MUST_CHECK enum error_code feature_shard_writer_begin(struct feature_shard_writer *writer,
                                                      const struct tensor_spec *tensor,
                                                      struct error *err);
MUST_CHECK enum error_code feature_shard_writer_add(struct feature_shard_writer *writer,
                                                    const void *rows, uint64_t row_count,
                                                    struct error *err);
/* The shard will be a delta over another, whole one, which lies at `base_key` and has the seal `base`; with so many rows in each
 * tensor. What is written is shard_seal_own(). */
void feature_shard_writer_over(struct feature_shard_writer *writer, const char *base_key,
                               const struct shard_seal *base, uint64_t row_count);
/* The seal will say that the rows were computed with these weights. */
void feature_shard_writer_computed_with(struct feature_shard_writer *writer,
                                        const struct weights_identity *weights);
/* Seals and publishes. The writer is freed whether this succeeds or not. */
MUST_CHECK enum error_code feature_shard_writer_finish(struct feature_shard_writer *writer,
                                                       struct error *err);
/* Gives up: removes the scratch. NULL is fine. */
void feature_shard_writer_abandon(struct feature_shard_writer *writer);

struct feature_shard;

/* Opens read-only. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT. Threads: reads may run side by side. */
MUST_CHECK enum error_code feature_shard_open(struct store *store, const char *key,
                                              const char *seal_key, const char *owner_id,
                                              struct feature_shard **out, struct error *err);
void feature_shard_close(struct feature_shard *shard);
/* NULL when the shard has no such tensor. Borrowed. */
const struct tensor_spec *feature_shard_tensor(const struct feature_shard *shard, const char *name);
/* Copies block `block` (rows 256 * block ...) into `rows`; *row_count is how many it has.
 * Fails: ERROR_CORRUPT naming shard, tensor and block. */
MUST_CHECK enum error_code feature_shard_read_block(struct feature_shard *shard, const char *tensor,
                                                    uint64_t block, void *rows, uint32_t *row_count,
                                                    struct error *err);

/* A block where RocksDB put it, or of a delta where it was put together. {0} holds none; release with feature_pin_release(). */
struct feature_pin {
    void *slice, *copy; /* owned */
    const void *rows;   /* [row_count, dim], at any address: not aligned for their elements */
    uint32_t row_count;
};

/* Reads block `block` and looks at its rows there, once its hash was checked. The shard stays open until the pin
 * is released; *pin holds none. Fails: ERROR_CORRUPT naming shard, tensor and block. */
MUST_CHECK enum error_code feature_shard_pin(struct feature_shard *shard, const char *tensor,
                                             uint64_t block, struct feature_pin *pin,
                                             struct error *err);
void feature_pin_release(struct feature_pin *pin);

/* All blocks in order by one scan, into `rows` [row_count, dim] with `stride` elements a row. */
MUST_CHECK enum error_code feature_shard_read_all(struct feature_shard *shard, const char *tensor,
                                                  void *rows, size_t stride, struct error *err);
/* Reads every block of every tensor and compares with the seal. */
MUST_CHECK enum error_code feature_shard_verify(struct feature_shard *shard, struct error *err);

#endif
