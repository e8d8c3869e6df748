/*
 * link_ranks - how many candidates for the target of an edge have a higher score than the target.
 *
 * All nodes are gone through block by block, for many edges at a time; candidates that are drawn are read edge by edge. What
 * leaves a candidate out, the target itself or (filtered) a known edge, is only asked where its score would count.
 */
#ifndef STAGES_INFER_LINK_RANKS_H
#define STAGES_INFER_LINK_RANKS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/links/decoder.h"
#include "common/parallel/thread_pool.h"
#include "stages/sampling/known_pairs.h"
#include "store/features/feature_source.h"

struct link_ranks { /* all borrowed */
    const struct decoder *decoder;
    const struct known_pairs *known; /* NULL: not filtered */
    struct feature_source *rows;     /* of all nodes */
    uint32_t node_count;
    uint64_t seed;       /* of the candidates that are drawn, as is the next */
    uint32_t candidates; /* of each edge */
    struct arena *arena;
    struct thread_pool *pool;
};

struct ranked_edges {
    uint32_t split;
    uint64_t first; /* number of the first edge in its split: draws go by it */
    uint32_t count;
    const uint32_t *source, *target; /* [count] */
    const float *source_row;         /* [count, dim] */
    const float *score;              /* [count] */
};

struct link_rank {
    uint64_t above, equal;
};

/* rank [edges->count]. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_ranks_all(const struct link_ranks *ranks,
                                          const struct ranked_edges *edges, struct link_rank *rank,
                                          struct error *err);
MUST_CHECK enum error_code link_ranks_sampled(const struct link_ranks *ranks,
                                              const struct ranked_edges *edges,
                                              struct link_rank *rank, struct error *err);

#endif
