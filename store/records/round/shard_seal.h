/*
 * shard_seal - which tensors a feature shard holds, and the hash of their rows.
 *
 * The builder of a shard (partition, or infer for a layer's embeddings) writes it when the folder
 * is published. Readers of the shard read it first. It lives as long as the shard.
 *
 *   key       partition/<id>/part/<p>/shard_seal, run/<id>/infer/<v>/<layer>/part/<p>/shard_seal
 *   sections  "name"      U8  [count, 32]  names of the tensors, NUL-padded, in the order written
 *             "type"      U8  [count]      the type of the elements: enum tensor_type
 *             "dim"       U32 [count]      elements a row
 *             "row_count" U64 [count]
 *             "content"   U8  [count, 16]  XXH3-128 of the tensor's block hashes in order; a block
 *                                          hash is the seeded XXH3-128 of the block's rows
 *                                          (feature_block.h)
 *             "weights", "weights_sum": in a layer of infer the weights used (weights_identity.h)
 *             A delta has tensors that consist of rows of its folder and of another shard
 *             (store/features/shard_delta.h), and these sections:
 *             "base"        text                  the key of the other shard, which is no delta
 *             "own_rows"    U64 [count + 1]       rows of each tensor in the folder; last the
 *                                                 number of rows of the base that are gone
 *             "own_content" U8  [2 count + 1, 16] for each tensor in the folder the hash of its
 *                                                 rows and that of their numbers; last the hash of
 *                                                 what is gone
 *             "row_count" then counts all rows, and "content" is a hash of the base's and of these
 *   version   4; of a delta 5
 *   valid     1 to 16 tensors (in a delta at most 7) of different names and known types; each dim
 *             is 1 to 2^20
 *
 * The content is hashed and not the files, because equal builds give different SST bytes.
 */
#ifndef STORE_RECORDS_ROUND_SHARD_SEAL_H
#define STORE_RECORDS_ROUND_SHARD_SEAL_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/round/tensor_spec.h"
#include "store/records/round/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_DIM_MAX = 1 << 20, DELTA_TENSOR_COUNT_MAX = (SHARD_TENSOR_COUNT_MAX - 1) / 2 };

/* The folder of a delta holds rows of each tensor and as many row numbers, and the numbers of the
 * rows of the base that are gone. */
struct sealed_rows_of_delta {
    char base[KEY_SIZE];
    uint64_t rows[DELTA_TENSOR_COUNT_MAX], gone;
    struct checksum content[SHARD_TENSOR_COUNT_MAX];
};

struct shard_seal {
    int tensor_count;
    struct tensor_spec tensor[SHARD_TENSOR_COUNT_MAX];
    struct checksum content[SHARD_TENSOR_COUNT_MAX];
    bool has_weights; /* a layer of infer */
    struct weights_identity weights;
    bool is_delta;
    struct sealed_rows_of_delta own;
};

MUST_CHECK enum error_code shard_seal_put(struct store *store, const char *key,
                                          const char *owner_id, const struct shard_seal *seal,
                                          struct error *err);
/* Both copy everything out: there is nothing to release. _decode() checks and reads a record that
 * is in memory. */
MUST_CHECK enum error_code shard_seal_decode(const struct record_view *view, struct shard_seal *out,
                                             struct error *err);
MUST_CHECK enum error_code shard_seal_get(struct store *store, const char *key,
                                          const char *owner_id, struct shard_seal *out,
                                          struct error *err);
/* Checks that the rows were computed with these weights; `what` is for the message. Fails:
 * ERROR_CORRUPT naming both. */
MUST_CHECK enum error_code shard_seal_check_weights(const struct shard_seal *seal, const char *what,
                                                    const struct weights_identity *expected,
                                                    struct error *err);
/* Returns whether both seal the same tensors with the same rows. */
bool shard_seal_equal(const struct shard_seal *a, const struct shard_seal *b);
/* Returns the index of a tensor, or -1. */
int shard_seal_find(const struct shard_seal *seal, const char *name);

/* Fills `own` with the seal of a delta's folder as if that were a shard of its own: for each tensor
 * in this order "<tensor>" and "<tensor>_rows", the row numbers (I32); last "gone" (I32). */
void shard_seal_own(const struct shard_seal *delta, struct shard_seal *own);
/* Fills `out` with the seal of the delta that has this folder over `base` at `base_key`; its
 * tensors have `row_count` rows. Fails: ERROR_INVALID if the folder does not have those tensors. */
MUST_CHECK enum error_code shard_seal_over(const struct shard_seal *own, const char *base_key,
                                           const struct shard_seal *base, uint64_t row_count,
                                           struct shard_seal *out, struct error *err);
/* Fails: ERROR_CORRUPT if the delta was not made over `base`. */
MUST_CHECK enum error_code shard_seal_check_base(const struct shard_seal *delta,
                                                 const struct shard_seal *base, struct error *err);

#endif
