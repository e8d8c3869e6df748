/*
 * part_inference - computes one layer of the model for all nodes of one part, type by type, with
 * all their neighbours.
 *
 * The nodes of a type are computed in tiles (inference_tile.h). The graph fixes the tiles, not the
 * memory, so a softmax covers all edges. A tile reads the features, or the output of the layer
 * below in every part (type_inputs.h). The output is one sealed shard with a tensor for each type
 * that the logits still need (layer_tensor_of_type()); the last layer has only the target type.
 * The layer above reads the shard as it would read features.
 *
 * If the inputs do not fit in memory, a layer that needs only the sum or the maximum of its
 * sources' rows computes it for many tiles at once (source_windows.h). A tile then starts from the
 * sums and the rows of its own nodes. GAT does so for the tiles that are computed on rows as they
 * are stored (gat_rows.h); the shape of a tile alone decides this. GATv2 does so for all tiles,
 * even if the inputs fit. Any other tile reads the rows of its sources.
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
    /* Limit of those rows, the windows of sources and the neighbours of a tile together; 0: no
     * sums in windows. */
    uint64_t window_bytes;
};

/* Creates *out, which the caller frees with part_inference_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_inference_new(const struct part_inference_config *config,
                                              struct part_inference **out, struct error *err);
void part_inference_free(struct part_inference *inference); /* NULL is fine */
/* Closes the rows of the layer below. Called when the weights change, because other weights give
 * other rows. */
void part_inference_close_inputs(struct part_inference *inference);

/* Computes layer `layer`, from 1, with weights [model->value_count]. Publishes
 * run/<id>/infer/<weights version>/<layer>/part/<part>/shard and its seal, which has the
 * identity of the weights. That part of the topology must be open, or all parts
 * (inference_tiles_ask_sources()). The rows of the layer below stay open for the next part.
 * Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_NO_MEMORY if a tile does not fit the
 * budgets; ERROR_CORRUPT for damaged inputs, or if other rows are stored already; ERROR_IO. */
MUST_CHECK enum error_code part_inference_run(struct part_inference *inference,
                                              const float *weights,
                                              const struct weights_identity *identity, int layer,
                                              int part, struct error *err);

#endif
