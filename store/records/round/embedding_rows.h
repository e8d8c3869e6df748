/*
 * embedding_rows - the seal of a shard of a learnable embedding: the rows that training changed,
 * with their optimizer state.
 *
 * train-step writes it; train-step and infer read it. stages/plan/model/embedding_shards.h says which
 * rows a shard has. The state of a shard at version v is: the first values of every row
 * (common/nn/sparse_optimizer.h), overwritten by the newest seal at or before v, overwritten by the
 * gradients of the rounds since then (parameters.h). A row that no round touched is in no seal.
 *
 *   seal      run/<id>/embedding/<v>/shard/<s>    all changes of rounds 0 .. v - 1 to shard s;
 *                                                 lives as long as snapshot v, which is put after
 *                                                 the seals of all shards
 *   sections  "span"    U64 [4]  since, version: rounds since .. version - 1 changed the rows, and
 *                                since is 0; shard; width
 *             "node"    U32 [rows]         partition ids, ascending
 *             "value"   F32 [rows, width]
 *             "first"   F32 [rows, width]  sum of squares (Adagrad) or first moment (Adam); absent
 *                                          for SGD
 *             "second"  F32 [rows, width]  second moment; only for Adam
 *             "updates" U32 [rows]         how often each row was updated; only for Adam
 *   valid     since is 0, version >= 1, width >= 1, nodes ascend strictly, all numbers are finite,
 *             "updates" are at least 1, "second" comes with "first"
 */
#ifndef STORE_RECORDS_ROUND_EMBEDDING_ROWS_H
#define STORE_RECORDS_ROUND_EMBEDDING_ROWS_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdint.h>

struct embedding_rows {
    uint64_t version;
    uint32_t shard, width;
    uint64_t count;
    const uint32_t *node; /* [count] */
    const float *value;   /* [count, width] */
    const float *first;   /* [count, width] or NULL; likewise second */
    const float *second;
    const uint32_t *updates; /* [count] or NULL */
    struct record_view view;
};

MUST_CHECK enum error_code embedding_rows_put(struct store *store, const char *run_id,
                                              const struct embedding_rows *rows, struct error *err);
/* The caller releases out->view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT, also if the record has
 * another version or shard. */
MUST_CHECK enum error_code embedding_rows_get(struct store *store, const char *run_id,
                                              int64_t version, int shard,
                                              struct embedding_rows *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code embedding_rows_decode(const struct record_view *view,
                                                 struct embedding_rows *out, struct error *err);

/* Checks ids of any record. Fails: ERROR_CORRUPT naming the section if they do not ascend
 * strictly. */
MUST_CHECK enum error_code embedding_nodes_check(const struct record_view *view,
                                                 const char *section, const uint32_t *node,
                                                 uint64_t count, struct error *err);

#endif
