/*
 * export_arrays - numbers of a run as arrays: what goes in and what comes out for every node, and all that one training
 * step saw and made.
 */
#ifndef PIPELINES_EXPORT_EXPORT_ARRAYS_H
#define PIPELINES_EXPORT_EXPORT_ARRAYS_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a graph with relations nodes are those of one type: that of labels, or where `type` is its name, and not NULL, another. */

struct array_target { /* where rows go */
    const char *path;
    bool
        is_csv; /* with the ids of the input in the first column (row_table.h); else an .npy file */
};

/* The output of the last layer, float32 [nodes, classes] in the order of the input: what predictions.csv was made of; of a task
 * of graphs [graphs, classes], behind readout and classifier. Fails: ERROR_NOT_FOUND before inference is done. */
MUST_CHECK enum error_code export_logits(const struct run_folder *folder,
                                         const struct array_target *target, struct error *err);
/* The embeddings that lie in the run's outputs. Fails: ERROR_NOT_FOUND before inference is done, and of a run that was told to
 * write none (infer.embeddings). */
MUST_CHECK enum error_code export_outputs(const struct run_folder *folder,
                                          const struct array_target *target, struct error *err);
/* What the model reads, float32 [nodes, dim] in the order of the input: after ingest.normalise_rows and the like, and where
 * ingest made the features up. */
MUST_CHECK enum error_code export_features(const struct run_folder *folder, const char *type,
                                           const struct array_target *target, struct error *err);
/* The learnable rows of all nodes: [nodes, train-step.embedding], row i is node i of the input. Fails: ERROR_INVALID of a run
 * without; ERROR_NOT_FOUND before it has ended. */
MUST_CHECK enum error_code export_embedding(const struct run_folder *folder, const char *type,
                                            const struct array_target *target, struct error *err);

/*
 * The training unit (round, slot) as one safetensors file: what went in, and what came out of it.
 *
 *   mini_batch.node        I64 [nodes]     rows of the input; the seed nodes come first
 *   mini_batch.hop_end     I64 [hops + 1]  nodes known after each hop
 *   mini_batch.edge_index  I64 [2, edges]  sources above, destinations below, as positions in `node`: PyG's edge_index
 *   mini_batch.degree      I64 [nodes]     in-degrees in the whole graph without loops; where the model asks for them
 *   mini_batch.weight      F32 [edges]     where the model asks for weights; so are
 *   mini_batch.weight_sum  F32 [nodes]     in the whole graph, with 1 for a node without an edge to itself
 *   mini_batch.edge_feature F32 [edges, width]   where the model asks for them
 *   mini_batch.edge_factor F32 [edges]     how many edges an edge stands for; of samplers that weigh, as is
 *   mini_batch.seed_weight F32 [seeds]     what the loss of a seed counts
 *   features               F32 [nodes, dim]
 *   labels                 I64 [seeds], -1 for none; or F32 [seeds, classes], NaN for none
 *   mini_batch.batch       I64 [seeds]     of a task of graphs: which graph of the batch each is of; labels are of these
 *   pair_source            I64 [positives] of a task of pairs, in place of labels: seeds, by number; with relations the seeds of
 *                                          type 0 come first, then those of the next
 *   pair_target            I64 [positives * (1 + negatives)]  of the positives, then of the negatives of each (seed_pairs.h)
 *   pair_type              I64 [positives] where edges have types; with relations the relation
 *   pair_label             F32 [positives] of labelled edges
 *   weights.<name>         F32             of the round, under PyG's names
 *   gradient.<name>        F32             of the mean loss over the labelled seeds
 *
 * Of a graph with relations, types by their names and relations <r> by their numbers, as metadata `graph` of the model has them
 * (common/nn/model_texts.h), in place of what is above of nodes, edges and features:
 *
 *   mini_batch.node.<type>     I64 [nodes of the type]   of the target type the seeds come first
 *   mini_batch.hop_end.<type>  I64 [hops + 1]
 *   features.<type>            F32 [nodes of the type, dim]  of types that have some
 *   mini_batch.edge_index.<r>  I64 [2, edges]  positions in `node` of the source type above, of the target type below
 *   mini_batch.weight.<r>      F32 [edges]     where the model asks for weights
 *   mini_batch.edge_feature.<r> F32 [edges, width]   where the model asks for them
 *   mini_batch.row.<r>, .degree.<r>  I64 [rows]  positions of nodes that have edges, and how many in the whole graph; where asked for
 *
 * Of a layered batch (store/records/batch_form.h) destinations count on from hop to hop: the rows of hop h begin where those
 * of the hops before it end.
 *
 * Its texts: run, round, slot, form of the mini-batch (nested, layered, subgraph, relations), loss (the mean), seeds (those with a label), correct.
 * Fails: ERROR_NOT_FOUND for records that were pruned or not made yet; ERROR_INVALID for numbers that the run has not.
 */
MUST_CHECK enum error_code export_step(const struct run_folder *folder, int64_t round, int32_t slot,
                                       const char *path, struct error *err);

#endif
