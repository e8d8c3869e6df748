/*
 * link_scorer - scores of pairs, and the best partners of nodes, by a finished run of link prediction.
 *
 * Rows are those of the last layer of inference, as predictions.csv was made of; the decoder has the weights that they were
 * made with. Partners are exact: all nodes, in a graph with relations all of the type that the relation asks for, are gone through, a tile at a time, for as many nodes at once as the budget has
 * room for.
 */
#ifndef PIPELINES_LINK_SCORER_H
#define PIPELINES_LINK_SCORER_H

#include "common/base/arena.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "pipelines/run_folder.h"
#include "stages/plan/link_rows.h"
#include "stages/sampling/known_pairs.h"
#include "store/records/node_permutation.h"
#include "store/records/snapshot.h"

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
    struct arena arena; /* of a block; its limit is the budget's */
    struct thread_pool *pool;
};

/* Nodes of the dataset. */
struct asked_link {
    uint32_t source, target;
    uint16_t type; /* 0 where edges have none */
};

struct link_partner {
    uint32_t node; /* of the dataset */
    float score;
};

/* `new_only`: known edges are no partners. Fails: ERROR_INVALID for a run that does not learn links; ERROR_NOT_FOUND for one
 * that has not ended; ERROR_NO_MEMORY when the budget is too small. */
MUST_CHECK enum error_code link_scorer_open(struct link_scorer *scorer,
                                            const struct run_folder *folder, bool new_only,
                                            uint64_t memory_bytes, int threads, struct error *err);
void link_scorer_close(struct link_scorer *scorer);
/* score [count]. Fails: ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_scorer_scores(struct link_scorer *scorer,
                                              const struct asked_link *link, size_t count,
                                              float *score, struct error *err);
/* Of each link the `best` nodes in the place of its target (`end` PAIR_TARGET) or source, best first and of equal scores the first of
 * the partition first; not the other end itself. partner [count, best], of which found [count] are there. */
MUST_CHECK enum error_code link_scorer_partners(struct link_scorer *scorer,
                                                const struct asked_link *link, size_t count,
                                                enum pair_end end, uint32_t best,
                                                struct link_partner *partner, uint32_t *found,
                                                struct error *err);

#endif
