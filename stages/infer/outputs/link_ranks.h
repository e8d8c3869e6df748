/*
 * link_ranks - how many candidates for an end of an edge have a higher score than that end.
 *
 * Candidates are nodes of the type of the end that is ranked. All of them are gone through block by
 * block, for many edges at a time; those that are drawn or given are read edge by edge. What leaves
 * a candidate out, the end itself or (filtered) a known edge, is only asked where its score would
 * count.
 *
 * The other end of the edge is no candidate either: ingest never holds out a self loop, and under
 * most decoders a node is nearest to itself. Knowledge graphs (several types of edges between nodes
 * of one type) keep it, because their published protocol does. Given candidates are ranked as they
 * are given.
 */
#ifndef STAGES_INFER_OUTPUTS_LINK_RANKS_H
#define STAGES_INFER_OUTPUTS_LINK_RANKS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/links/decoder.h"
#include "common/parallel/thread_pool.h"
#include "stages/plan/model/link_rows.h"
#include "stages/sampling/pairs/known_pairs.h"
#include "stages/sampling/pairs/pair_sides.h"

struct link_ranks { /* all borrowed */
    const struct decoder *decoder;
    const struct known_pairs *known; /* NULL: not filtered */
    bool leaves_out_other;           /* the other end of an edge is no candidate */
    /* candidates are of the side of the end; NULL: the graph has none */
    const struct pair_sides *sides;
    struct link_rows *rows;
    uint64_t seed;       /* of the candidates that are drawn, as is the next */
    uint32_t candidates; /* of each edge */
    struct arena *arena;
    struct thread_pool *pool;
};

struct ranked_edges {
    uint32_t split;
    uint64_t first; /* number of the first edge in its split: draws go by it */
    uint32_t count;
    enum pair_end ranked;            /* which end */
    const uint32_t *source, *target; /* [count] */
    const uint16_t *type;            /* [count]; NULL: edges have none */
    struct edge_times time;          /* likewise; {0}: edges have none */
    const float *row;                /* [count, dim] of the other ends */
    const float *own_row;            /* [count, dim] of those that are ranked */
};

struct link_rank {
    uint64_t above, equal;
};

/* rank [edges->count]. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_ranks_all(const struct link_ranks *ranks,
                                          const struct ranked_edges *edges, struct link_rank *rank,
                                          struct error *err);
/* Among the given nodes of each edge but the end itself, whether they make known edges or not. */
MUST_CHECK enum error_code link_ranks_given(const struct link_ranks *ranks,
                                            const struct ranked_edges *edges,
                                            const struct negative_ends *given,
                                            struct link_rank *rank, struct error *err);
MUST_CHECK enum error_code link_ranks_sampled(const struct link_ranks *ranks,
                                              const struct ranked_edges *edges,
                                              struct link_rank *rank, struct error *err);

#endif
