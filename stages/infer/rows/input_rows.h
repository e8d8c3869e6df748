/*
 * input_rows - computes the rows that layer 1 of a model with a learnable embedding reads, for the
 * nodes of one part: layer 0 of inference.
 *
 *   row of a node    features | its learnable row in the version of the weights of the inference
 *
 * Features come from the partition. Learnable rows come from the seal of that version; a row that
 * the seal does not have keeps its first values. The output is a sealed shard like those of the
 * layers, so layer 1 reads it as any layer reads the one below.
 */
#ifndef STAGES_INFER_ROWS_INPUT_ROWS_H
#define STAGES_INFER_ROWS_INPUT_ROWS_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/records/round/weights_identity.h"

/* Publishes run/<id>/infer/<version>/0/part/<part>/shard and its seal. Fails as
 * part_inference_run(). */
MUST_CHECK enum error_code input_rows_run(const struct stage_context *context,
                                          const struct weights_identity *identity, int part,
                                          struct error *err);

#endif
