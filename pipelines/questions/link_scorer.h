/*
 * link_scorer - scores pairs of nodes, and finds the best partners of nodes, by the model of a
 * finished link prediction run.
 *
 * The node embeddings are those of the last layer of inference, from which predictions.csv was
 * made; the decoder has the weights of the same snapshot. The search for partners is exact: it
 * scores all nodes (in a graph with relations, all nodes of the type that the relation asks for)
 * tile by tile, for as many nodes at once as the memory budget allows.
 */
#ifndef PIPELINES_QUESTIONS_LINK_SCORER_H
#define PIPELINES_QUESTIONS_LINK_SCORER_H

#include "common/base/arena.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/model/link_rows.h"
#include "stages/sampling/pairs/known_pairs.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/round/snapshot.h"

struct link_scorer { /* {0} is closed */
    const struct run_folder *folder;
    struct model *model;
    struct snapshot snapshot;
    struct decoder decoder;
    struct pair_ends ends;
    struct link_rows rows;
    struct node_permutation permutation;
    struct topology topology;
    struct edge_splits splits;
    struct known_pairs known;
    bool leaves_known_out;
    struct arena arena; /* for one block; its limit is the memory budget */
    struct thread_pool *pool;
};

/* A pair of dataset nodes. */
struct asked_link {
    uint32_t source, target;
    uint16_t type; /* 0 if edges have no types */
};

struct link_partner {
    uint32_t node; /* id in the dataset */
    float score;
};

/* Opens the outputs and the decoder of a run. With `new_only`, edges of the dataset are not offered
 * as partners. Fails: ERROR_INVALID for a run that does not learn links; ERROR_NOT_FOUND for one
 * that has not ended; ERROR_NO_MEMORY when the budget is too small. */
MUST_CHECK enum error_code link_scorer_open(struct link_scorer *scorer,
                                            const struct run_folder *folder, bool new_only,
                                            uint64_t memory_bytes, int threads, struct error *err);
void link_scorer_close(struct link_scorer *scorer);
/* Computes score [count]. Fails: ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_scorer_scores(struct link_scorer *scorer,
                                              const struct asked_link *link, size_t count,
                                              float *score, struct error *err);
/* Finds for each link the `best` nodes to put in place of its target (`end` is PAIR_TARGET) or of
 * its source, best first. Of equal scores the node that comes first in the partition wins. The node
 * at the other end is never its own partner. Writes partner [count, best], of which the first
 * found[i] of row i are set. */
MUST_CHECK enum error_code link_scorer_partners(struct link_scorer *scorer,
                                                const struct asked_link *link, size_t count,
                                                enum pair_end end, uint32_t best,
                                                struct link_partner *partner, uint32_t *found,
                                                struct error *err);

#endif
