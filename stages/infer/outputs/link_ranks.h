/*
 * link_ranks - counts the candidates for an end of an edge that have a higher score than that end.
 *
 * Candidates are nodes of the type of the ranked end. If all nodes are candidates, they are read
 * block by block for many edges at a time. Drawn or given candidates are read edge by edge.
 * Whether a candidate is excluded (it is the end itself, or with filtering a known edge) is only
 * checked if its score would count.
 *
 * The other end of the edge is excluded too: ingest never holds out a self loop, and under most
 * decoders a node is nearest to itself. Knowledge graphs (several types of edges between nodes of
 * one type) keep it, because their published protocol does. Given candidates are ranked as they
 * are.
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
    const struct known_pairs *known; /* NULL: ranks are not filtered */
    bool leaves_out_other;           /* whether the other end of an edge is excluded */
    /* candidates are on the same side as the ranked end; NULL: the graph has no sides */
    const struct pair_sides *sides;
    struct link_rows *rows;
    uint64_t seed;       /* key of the drawn candidates */
    uint32_t candidates; /* number drawn for each edge */
    struct arena *arena;
    struct thread_pool *pool;
};

struct ranked_edges {
    uint32_t split;
    uint64_t first; /* number of the first edge in its split; the key of the draws */
    uint32_t count;
    enum pair_end ranked;            /* the end that is ranked */
    const uint32_t *source, *target; /* [count] */
    const uint16_t *type;            /* [count]; NULL: edges have none */
    struct edge_times time;          /* [count]; {0}: edges have none */
    const float *row;                /* [count, dim]: rows of the other ends */
    const float *own_row;            /* [count, dim]: rows of the ranked ends */
};

struct link_rank {
    uint64_t above, equal;
};

/* Ranks each edge among all nodes, into rank [edges->count]. Fails: ERROR_CORRUPT;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_ranks_all(const struct link_ranks *ranks,
                                          const struct ranked_edges *edges, struct link_rank *rank,
                                          struct error *err);
/* Ranks each edge among its given nodes except the end itself, whether they form known edges or
 * not. */
MUST_CHECK enum error_code link_ranks_given(const struct link_ranks *ranks,
                                            const struct ranked_edges *edges,
                                            const struct negative_ends *given,
                                            struct link_rank *rank, struct error *err);
MUST_CHECK enum error_code link_ranks_sampled(const struct link_ranks *ranks,
                                              const struct ranked_edges *edges,
                                              struct link_rank *rank, struct error *err);

#endif
