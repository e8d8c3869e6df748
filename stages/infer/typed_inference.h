/*
 * typed_inference - one layer of a model over relations for all nodes of one part, type by type, with all their neighbours.
 *
 * What part_inference.h is of a graph with one type of nodes. The nodes of a type are taken in tiles (typed_tiles.h) fixed by the
 * graph, not by the memory, so a softmax goes over all edges. The output is one sealed shard with a tensor for each type
 * (layer_tensor_of_type()): of all types that the logits still need, so of the last layer of the target type alone.
 *
 * Where the rows of the layer below do not fit and the layer sums them, that is done for many tiles at once (typed_windows.h), with
 * the same bits. Rows that are projected first, and attention, are read as tiles want them.
 */
#ifndef STAGES_INFER_TYPED_INFERENCE_H
#define STAGES_INFER_TYPED_INFERENCE_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/infer/typed_tiles.h"
#include "store/records/weights_identity.h"

struct typed_inference;

struct typed_inference_config { /* all borrowed */
    const struct stage_context *context;
    struct typed_tiles *tiles; /* of the model */
    uint64_t rows_bytes;       /* for the rows of the layer below (type_inputs.h) */
};

/* Owns: *out; typed_inference_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_inference_new(const struct typed_inference_config *config,
                                               struct typed_inference **out, struct error *err);
void typed_inference_free(struct typed_inference *inference); /* NULL is fine */
/* Closes the rows of the layer below: with other weights they are others. */
void typed_inference_close_inputs(struct typed_inference *inference);

/* Layer `layer`, from 1, with weights [model->value_count]. Publishes run/<id>/infer/<weights version>/<layer>/part/<part>/shard and
 * its seal; that part of the topology is open. The rows of the layer below stay open for the next part. Fails as part_inference_run(). */
MUST_CHECK enum error_code typed_inference_run(struct typed_inference *inference,
                                               const float *weights,
                                               const struct weights_identity *identity, int layer,
                                               int part, struct error *err);

#endif
