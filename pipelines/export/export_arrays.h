/*
 * export_arrays - exports the numbers of a run as arrays: input and output rows of all nodes, and
 * all data of one training step.
 */
#ifndef PIPELINES_EXPORT_EXPORT_ARRAYS_H
#define PIPELINES_EXPORT_EXPORT_ARRAYS_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"

#include <stdbool.h>
#include <stdint.h>

/* The file that rows are written to. In a graph with relations the rows are those of one node type:
 * the type that has labels, or the one that the parameter `type` names if it is not NULL. */

struct array_target { /* the file */
    const char *path;
    /* text, with the ids of the input in the first column (row_table.h); otherwise an .npy
     * file */
    bool is_csv;
};

/* Exports the outputs of the last layer, from which predictions.csv was made: float32 [nodes,
 * classes] in the order of the input, or for a task of graphs [graphs, classes], after readout and
 * classifier. Fails: ERROR_NOT_FOUND before inference is done. */
MUST_CHECK enum error_code export_logits(const struct run_folder *folder,
                                         const struct array_target *target, struct error *err);
/* Exports the embeddings in the run's outputs. Fails: ERROR_NOT_FOUND before inference is done, and
 * for a run that writes no embeddings (infer.embeddings). */
MUST_CHECK enum error_code export_outputs(const struct run_folder *folder,
                                          const struct array_target *target, struct error *err);
/* Exports the features as the model reads them, float32 [nodes, dim] in the order of the input:
 * after ingest.normalise_rows and similar settings, and also if ingest generated them. */
MUST_CHECK enum error_code export_features(const struct run_folder *folder, const char *type,
                                           const struct array_target *target, struct error *err);
/* Exports the learnable embeddings of all nodes: [nodes, train-step.embedding], row i is node i of
 * the input. Fails: ERROR_INVALID for a run without them; ERROR_NOT_FOUND before it has ended. */
MUST_CHECK enum error_code export_embedding(const struct run_folder *folder, const char *type,
                                            const struct array_target *target, struct error *err);

/* Exports the training unit (round, slot), its inputs and its outputs, as one safetensors file:
 *
 *   mini_batch.node        I64 [nodes]     rows of the input; the seed nodes come first
 *   mini_batch.hop_end     I64 [hops + 1]  nodes known after each hop
 *   mini_batch.edge_index  I64 [2, edges]  sources above, destinations below, as positions in
 *                                          `node`: PyG's edge_index
 *   mini_batch.degree      I64 [nodes]     in-degrees in the whole graph without loops; if the
 *                                          model uses them
 *   mini_batch.weight      F32 [edges]     if the model uses weights
 *   mini_batch.weight_sum  F32 [nodes]     sums in the whole graph, with 1 for a node without an
 *                                          edge to itself; if the model uses weights
 *   mini_batch.edge_feature F32 [edges, width]   if the model uses them
 *   mini_batch.edge_factor F32 [edges]     number of edges that this edge represents; only samplers
 *                                          that weigh
 *   mini_batch.seed_weight F32 [seeds]     weight of a seed's loss; only samplers that weigh
 *   features               F32 [nodes, dim]
 *   labels                 I64 [seeds], -1 for none; or F32 [seeds, classes], NaN for none
 *   mini_batch.batch       I64 [seeds]     task of graphs: the graph of the batch that the seed is
 *                                          in; labels are those of the graphs
 *   pair_source            I64 [positives] task of pairs, in place of labels: numbers of seeds;
 *                                          with relations the seeds of type 0 come first, then
 *                                          those of type 1 ...
 *   pair_target            I64 [positives * (1 + negatives)]  targets of the positives, then of the
 *                                          negatives of each (seed_pairs.h)
 *   pair_type              I64 [positives] if edges have types; with relations the relation
 *   pair_label             F32 [positives] labelled edges only
 *   weights.<name>         F32             weights of the round, with the names of PyG
 *   gradient.<name>        F32             of the mean loss over the labelled seeds
 *
 * For a graph with relations the entries about nodes, edges and features are replaced by these.
 * Types have their names and relations <r> their numbers, as in the metadata `graph` of the model
 * (common/nn/model_texts.h):
 *
 *   mini_batch.node.<type>     I64 [nodes of the type]   the seeds, of the target type, come first
 *   mini_batch.hop_end.<type>  I64 [hops + 1]
 *   features.<type>            F32 [nodes of the type, dim]  types with features only
 *   mini_batch.edge_index.<r>  I64 [2, edges]  positions in `node` of the source type above, of the
 *                                              target type below
 *   mini_batch.weight.<r>      F32 [edges]     if the model uses weights
 *   mini_batch.edge_feature.<r> F32 [edges, width]   if the model uses edge features
 *   mini_batch.row.<r>, .degree.<r>  I64 [rows]  positions of nodes that have edges, and their
 *                                              degrees in the whole graph; if the model uses them
 *
 * In a layered batch (store/records/batch/batch_form.h) destinations are numbered continuously over the
 * hops: the rows of hop h begin where those of hop h - 1 end.
 *
 * The metadata has run, round, slot, form of the mini-batch (nested, layered, subgraph, relations),
 * loss (the mean), seeds (with a label), correct.
 * Fails: ERROR_NOT_FOUND for records that were pruned or do not exist yet; ERROR_INVALID for a
 * round or slot that the run does not have. */
MUST_CHECK enum error_code export_step(const struct run_folder *folder, int64_t round, int32_t slot,
                                       const char *path, struct error *err);

#endif
