/*
 * link_outputs - scores held-out edges from the last layer of all nodes, and writes metrics and
 * predictions.csv.
 *
 *   for each split, a block of edges at a time
 *     rows of both ends and of drawn negatives ──> scores ──> loss, ROC AUC, average precision
 *     rows of the candidates, block by block   ──> scores ──> number above ──> rank ──> MRR, Hits@k
 *
 * The candidates for the target of an edge (s, t) are all nodes, or all nodes of t's type in a
 * graph with relations; or a number of nodes drawn from these; or given nodes (infer.ranking). t
 * itself is no candidate. With filtering (Bordes et al. 2013), neither is a node n, among all or
 * drawn candidates, if (s, n) is an edge of any split. Equal scores count half. Counts are
 * integers, so ranks are exact for any blocks and threads. Negatives are drawn uniformly
 * (sample.evaluation_negatives), and none is an edge.
 *
 * With infer.history: all, events see earlier held-out events, so no rows are common to all
 * blocks. Their scores and ranks are computed first, in the order of time, from the rows at each
 * time (event_rows.h). They are then counted and written block by block like others.
 */
#ifndef STAGES_INFER_OUTPUTS_LINK_OUTPUTS_H
#define STAGES_INFER_OUTPUTS_LINK_OUTPUTS_H

#include "common/nn/tasks/tally.h"
#include "stages/infer/outputs/edge_bank.h"
#include "stages/infer/outputs/output_writer.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"

struct link_outputs_config {
    const struct output_request *request;
    const struct node_ids *ids;
    /* of all nodes; NULL: link_outputs_run() reads it */
    const struct node_permutation *permutation;
    struct tally *tally; /* [SPLIT_COUNT], initialised; results are added for validation and test */
    const char *path;    /* path of predictions.csv, which is created; NULL: not wanted */
    struct edge_bank *edge_bank; /* receives the baseline if links are split by time */
    uint64_t *split_counts;      /* [SPLIT_COUNT]: receives the numbers of measured edges */
};

/* Measures both splits. Fails: ERROR_CORRUPT for layers computed with other weights;
 * ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code link_outputs_run(const struct link_outputs_config *config,
                                            struct error *err);

#endif
