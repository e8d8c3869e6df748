/*
 * output_writer - writes the result files for the user, in the ids and the order of the input.
 *
 *   model.safetensors   the weights under PyG's names
 *   embeddings.npy      float32 [N, hidden]: the last hidden layer (the logits of a one-layer
 *                       model); row i is node i of the input
 *   predictions.csv     node,split,label,prediction,probability; node is the user's id.
 *                       Multi-label: labels separated by spaces, no probability.
 *                       In a task of pairs: source,target,split,score,rank of each held-out edge
 *                       (link_outputs.h); the embeddings are then the last layer, which the decoder
 *                       reads. In a task of graphs: graph,split,...; the embeddings are then the
 *                       output of the readout (graph_outputs.h)
 *   node_ids.csv        the user's ids, row i for node i; only if the ids are not 0..N-1 and
 *                       there is no predictions.csv beside the embeddings
 *   metrics.json        metrics of each split, over the whole split; also the baseline of links
 *                       that are split by time (edge_bank.h)
 *
 * If only some nodes are wanted, all files have these nodes, in the order of the input.
 *
 * Rows are read from shards in the order of the partition and put into the order of the input, as
 * many at a time as memory holds (output_rows.h). Threads make pieces of the files in parallel,
 * and each waits for its turn to write its piece, because two threads that write to one file would
 * wait for each other in the kernel. Files are hashed while they are written.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_WRITER_H
#define STAGES_INFER_OUTPUTS_OUTPUT_WRITER_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/rows/selected_inference.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/round/weights_identity.h"

struct output_request {
    const struct stage_context *context;
    const struct model *model;
    const float *weights; /* [model->value_count] */
    const struct weights_identity *identity;
    /* NULL: all nodes are wanted. */
    const struct wanted_nodes *wanted;
    const struct selected_rows *selected; /* row i belongs to wanted->node[i] */
};

/* Writes all files in scratch, publishes the folder as run/<id>/outputs/<weights version>, and
 * then writes its seal, which has the identity of the weights. Fails: ERROR_CORRUPT for layers
 * computed with other weights. */
MUST_CHECK enum error_code output_writer_run(const struct output_request *request,
                                             struct error *err);

#endif
