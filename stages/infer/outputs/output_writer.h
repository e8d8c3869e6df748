/*
 * output_writer - the files people want, in the ids and the order of their input.
 *
 *   model.safetensors   the weights under PyG's names
 *   embeddings.npy      float32 [N, hidden]: the last hidden layer (the logits of a one-layer
 *                       model); row i is node i of the input
 *   predictions.csv     node,split,label,prediction,probability; node is the user's id.
 *                       Multi-label: labels separated by spaces, no probability.
 *                       A task of pairs: source,target,split,score,rank of each held-out edge
 *                       (link_outputs.h), and the embeddings are the last layer, which the decoder
 *                       reads. A task of graphs: graph,split,..., and the embeddings are the output
 *                       of the readout (graph_outputs.h)
 *   node_ids.csv        the user's ids, row i for node i; only when those of the rows are not
 *                       0..N-1 and there is no predictions.csv beside the embeddings
 *   metrics.json        metrics of each split, over the whole split; of links that are split by
 *                       time also the baseline (edge_bank.h)
 *
 * Where some nodes alone are wanted all of these are of them, in the order of the input.
 *
 * Rows are brought into the order of the input from shards that are in the order of the partition,
 * as many at a time as there is memory for (output_rows.h). Threads make pieces of the files side
 * by side, and each waits for its turn to write its own: two that write to one file would wait for
 * each other in the kernel. What is written is hashed on its way.
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
    /* Of some nodes alone; NULL: of all. */
    const struct wanted_nodes *wanted;
    const struct selected_rows *selected; /* row i is that of wanted->node[i] */
};

/* Writes all files in scratch, publishes the folder as run/<id>/outputs/<weights version>, then its
 * seal, which holds the identity of the weights. Fails: ERROR_CORRUPT for layers of other
 * weights. */
MUST_CHECK enum error_code output_writer_run(const struct output_request *request,
                                             struct error *err);

#endif
