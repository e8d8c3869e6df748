/*
 * link_outputs - how good the scores of held-out edges are, from the last layer of all nodes:
 * metrics, and predictions.csv.
 *
 *   for each split, a block of edges at a time
 *     rows of both ends and of drawn negatives ──> scores ──> loss, ROC AUC, average precision
 *     rows of the candidates, block by block   ──> scores ──> how many stand above ──> rank ──> MRR, Hits@k
 *
 * Candidates for the target of an edge (s, t) are all nodes, in a graph with relations all of the
 * type of t; so many that are drawn of these; or those that are given (infer.ranking). t itself is
 * none, and filtered (Bordes et al. 2013) neither are those n of all or drawn ones for which (s, n)
 * is an edge of any split. Equal scores count half. Counts are of whole numbers, so ranks are exact
 * whatever the blocks and threads. Negatives are those of sample.evaluation_negatives: uniform, and
 * none an edge.
 *
 * Events that see earlier held-out ones (infer.history: all) have no rows that all blocks share:
 * their scores and ranks are computed first, in the order of their times, from the rows of each
 * time (event_rows.h), and then counted and written block by block as those of others.
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
    const struct node_permutation *permutation; /* of all nodes; NULL: it is read */
    struct tally *tally;         /* [SPLIT_COUNT], initialised: validation and test are added to */
    const char *path;            /* of predictions.csv, which is created; NULL: not wanted */
    struct edge_bank *edge_bank; /* the baseline, where links are split by time */
    uint64_t *split_counts;      /* [SPLIT_COUNT]: edges that were measured */
};

/* Fails: ERROR_CORRUPT for layers of other weights; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code link_outputs_run(const struct link_outputs_config *config,
                                            struct error *err);

#endif
