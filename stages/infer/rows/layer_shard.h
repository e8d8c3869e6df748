/*
 * layer_shard - writes the output of a unit of infer: the rows of one layer of one part, in a
 * sealed shard.
 *
 *   run/<id>/infer/<weights version>/<layer>/part/<part>/shard
 *       and its seal, which has the identity of the weights
 */
#ifndef STAGES_INFER_ROWS_LAYER_SHARD_H
#define STAGES_INFER_ROWS_LAYER_SHARD_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/features/feature_shard.h"
#include "store/records/round/weights_identity.h"

/* Writes the tensors. */
typedef enum error_code (*layer_shard_filler)(void *context, struct feature_shard_writer *writer,
                                              struct error *err);

/* Publishes what fill(filler, ...) writes. Fails as `fill`, and as
 * feature_shard_writer_finish(). After a failure nothing is left. */
MUST_CHECK enum error_code layer_shard_write(const struct stage_context *context,
                                             const struct weights_identity *identity, int layer,
                                             int part, layer_shard_filler fill, void *filler,
                                             struct error *err);

#endif
