/*
 * part_inference - one layer of the model for all nodes of one part, type by type, with all their
 * neighbours.
 *
 * The nodes of a type are taken in tiles (inference_tile.h) fixed by the graph, not by the memory,
 * so a softmax goes over all edges. A tile reads the features, or what the layer below gave in
 * every part (type_inputs.h). The output is one sealed shard with a tensor for each type
 * (layer_tensor_of_type()): of all types that the logits still need, so of the last layer of the
 * target type alone. The layer above reads it just as features are read.
 *
 * Where the inputs do not fit the memory, a layer that wants but the sum of its sources' rows, or
 * the greatest of them, has that made for many tiles at once (source_windows.h). A tile then begins
 * with it and the rows of its own nodes. GAT does so for the tiles that are computed on rows as
 * they are (gat_rows.h), which the shape of a tile alone decides. GATv2 does so for all tiles,
 * whether the inputs fit or not. Any other tile reads the rows of its sources.
 */
#ifndef STAGES_INFER_WINDOWS_PART_INFERENCE_H
#define STAGES_INFER_WINDOWS_PART_INFERENCE_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/infer/rows/inference_tile.h"
#include "store/records/round/weights_identity.h"

struct part_inference;

struct part_inference_config { /* all borrowed */
    const struct stage_context *context;
    struct inference_tiles *tiles; /* of the model */
    uint64_t rows_bytes;           /* for the rows of the layer below (type_inputs.h) */
    /* For those rows, windows of sources and the neighbours of a tile together; 0: no sums are made
     * in windows. */
    uint64_t window_bytes;
};

/* Owns: *out; part_inference_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_inference_new(const struct part_inference_config *config,
                                              struct part_inference **out, struct error *err);
void part_inference_free(struct part_inference *inference); /* NULL is fine */
/* Closes the rows of the layer below: with other weights they are others. */
void part_inference_close_inputs(struct part_inference *inference);

/* Layer `layer`, from 1, with weights [model->value_count]. Publishes run/<id>/infer/<weights
 * version>/<layer>/part/<part>/shard and its seal, which holds the identity of the weights. That
 * part of the topology is open, or all are (inference_tiles_ask_sources()). The rows of the layer
 * below stay open for the next part. Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_NO_MEMORY
 * when a tile does not fit the budgets; ERROR_CORRUPT for damaged inputs, or when other rows are
 * stored already; ERROR_IO. */
MUST_CHECK enum error_code part_inference_run(struct part_inference *inference,
                                              const float *weights,
                                              const struct weights_identity *identity, int layer,
                                              int part, struct error *err);

#endif
