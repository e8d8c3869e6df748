/*
 * shard_seal - which tensors a feature shard holds, and the hash of their rows.
 *
 * Written by whoever builds a shard (partition; infer, for a layer's embeddings) when the folder is
 * published; read by whoever opens it. Lives as long as the shard.
 *
 *   key       partition/<id>/part/<p>/shard_seal, run/<id>/infer/<v>/<layer>/part/<p>/shard_seal
 *   sections  "name"      U8  [count, 32]  names of the tensors, NUL-padded, in the order written
 *             "type"      U8  [count]      what the elements are: enum tensor_type
 *             "dim"       U32 [count]      elements a row
 *             "row_count" U64 [count]
 *             "content"   U8  [count, 16]  XXH3-128 of the tensor's block hashes in order, which are the
 *                                          seeded XXH3-128 of the rows of each block (feature_block.h)
 *             "weights", "weights_sum": of a layer of infer, the weights used (weights_identity.h)
 *             of a delta, whose tensors are put together of its folder and of another shard (store/features/shard_delta.h):
 *             "base"        text                  key of the other shard, which is no delta
 *             "own_rows"    U64 [count + 1]       rows of each tensor in the folder; last rows of the base that are gone
 *             "own_content" U8  [2 count + 1, 16] of each tensor in the folder its rows, then their numbers; last what is gone
 *             "row_count" is then of all rows, and "content" a hash of the base's and of these
 *   version   4; of a delta 5
 *   valid     1 to 16 tensors of different names; each of a known type; each dim is 1 to 2^20; of a delta at most 7 tensors
 *
 * The content is hashed and not the files: equal builds give different SST bytes.
 */
#ifndef STORE_RECORDS_SHARD_SEAL_H
#define STORE_RECORDS_SHARD_SEAL_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/tensor_spec.h"
#include "store/records/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_DIM_MAX = 1 << 20, DELTA_TENSOR_COUNT_MAX = (SHARD_TENSOR_COUNT_MAX - 1) / 2 };

/* What the folder of a delta holds: for each tensor so many rows of it, and as many numbers; and of the base so many that are gone. */
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
/* Copies everything out: nothing to release. _decode() is the check alone, of a record of any origin. */
MUST_CHECK enum error_code shard_seal_decode(const struct record_view *view, struct shard_seal *out,
                                             struct error *err);
MUST_CHECK enum error_code shard_seal_get(struct store *store, const char *key,
                                          const char *owner_id, struct shard_seal *out,
                                          struct error *err);
/* Whether the rows were computed with these weights; `what` is for the message. Fails: ERROR_CORRUPT naming both. */
MUST_CHECK enum error_code shard_seal_check_weights(const struct shard_seal *seal, const char *what,
                                                    const struct weights_identity *expected,
                                                    struct error *err);
/* Whether both vouch for the same tensors with the same rows. */
bool shard_seal_equal(const struct shard_seal *a, const struct shard_seal *b);
/* The index of a tensor, or -1. */
int shard_seal_find(const struct shard_seal *seal, const char *name);

/* What the folder of a delta is sealed by, as if it were a shard of its own: "<tensor>" and "<tensor>_rows", their numbers (I32), of
 * each tensor in this order, then "gone" (I32). */
void shard_seal_own(const struct shard_seal *delta, struct shard_seal *own);
/* The other way: the seal of the delta with this folder over `base`, which lies at `base_key`; its tensors have `row_count` rows.
 * Fails: ERROR_INVALID for a folder that has not those tensors. */
MUST_CHECK enum error_code shard_seal_over(const struct shard_seal *own, const char *base_key,
                                           const struct shard_seal *base, uint64_t row_count,
                                           struct shard_seal *out, struct error *err);
/* Whether `base` is what the delta was made over. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code shard_seal_check_base(const struct shard_seal *delta,
                                                 const struct shard_seal *base, struct error *err);

#endif
