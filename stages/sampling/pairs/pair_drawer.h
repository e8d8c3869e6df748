/*
 * pair_drawer - the pairs of a mini-batch: edges, and for each of them pairs that are none.
 *
 * The seeds of the mini-batch are the distinct ends of all pairs, in the order in which they first stand there. Negative k of
 * an edge (s, t) is (s, n), or, where the source is corrupted, (n, t); sample.negative says which n (negative_list.h), and where
 * edges have types a negative has that of its edge. A draw depends on (seed, round, slot, number of
 * the edge in the batch, k) alone.
 *
 * Whether an n that is a known neighbour of s is drawn again, at most NEGATIVE_ATTEMPTS times, says `known`: without it, as DGL's
 * samplers do, any is taken. In training that leaves out the edges of training, in evaluation the held-out ones, too.
 *
 * In a graph with relations an n is of the type of the end that it takes the place of, and the seeds stand type by type
 * (typed_pairs.h).
 *
 * In a bipartite graph of one node type an n is of the side of the end that it takes the place of (pair_sides.h).
 *
 * The edges themselves and their reverses are left out of the seeds' rows: a model that hears of the edge it is asked for
 * learns to repeat it.
 *
 * With times each end of each pair is a seed of its own, a negative at the time of its edge, and known edges are those that are
 * not later. The temporal sampler leaves the edges out then, in rows of any hop, since other seeds see the same ends at other times.
 */
#ifndef STAGES_SAMPLING_PAIRS_PAIR_DRAWER_H
#define STAGES_SAMPLING_PAIRS_PAIR_DRAWER_H

#include "common/base/error.h"
#include "common/graph/edge_index.h"
#include "stages/sampling/negative_list.h"
#include "stages/sampling/pairs/known_pairs.h"
#include "stages/sampling/pairs/pair_sides.h"
#include "stages/sampling/pairs/typed_pairs.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/sampling/rows/node_chances.h"
#include "store/records/batch/seed_pairs.h"

enum { NEGATIVE_ATTEMPTS = 16 };

/* Draws of different uses share no random numbers. */
enum pair_use { PAIRS_OF_TRAINING, PAIRS_OF_VALIDATION, PAIRS_OF_TEST };

struct pair_drawer;

struct pair_request {
    uint64_t seed;
    enum pair_use use;
    uint32_t round, slot;
    enum negative_kind negative;
    uint32_t negatives; /* of each edge */
    /* Of a graph with relations; NULL: without, any node may be at any end. */
    const struct pair_ends *ends;
    /* Of a bipartite graph without relations; NULL: of any other. */
    const struct pair_sides *sides;
    const struct typed_pairs *grouped; /* likewise, the drawer's own */
    const struct node_chances *
        chances; /* of NEGATIVE_DEGREE; with `ends` [types], by number; with `sides` [PAIR_SIDES], by place */
    const struct negative_ends *given; /* of NEGATIVE_GIVEN, as is the next */
    const uint64_t *given_list;        /* [positive_count], or EDGE_INDEX_NONE: any node */
    const struct known_pairs *known;   /* those drawn again; NULL: none */
    uint32_t positive_count;           /* at least 1 */
    const uint32_t *source, *target;   /* [positive_count] nodes */
    const uint16_t *type;              /* [positive_count]; NULL: edges have none */
    enum corrupted_end corrupt;
    const float *label; /* [positive_count], borrowed by what is drawn; NULL: none */
    struct edge_times
        time; /* [positive_count]; not {0}: each pair has seeds of its own (neighbor_sampler.h) */
    enum excluded_edges_kind excludes; /* of the edges, where they are in the topology */
};

struct drawn_pairs { /* borrowed from the drawer until its next draw */
    struct seed_pairs pairs;
    uint32_t seed_count;
    const uint32_t *seed_node; /* [seed_count] */
    struct time_limits times;  /* {0} without times */
    struct excluded_edges excluded;
    bool has_excluded;
};

/* `topology` is borrowed. Owns: *out; pair_drawer_free(). */
MUST_CHECK enum error_code pair_drawer_new(const struct topology *topology, uint64_t budget_bytes,
                                           struct pair_drawer **out, struct error *err);
void pair_drawer_free(struct pair_drawer *drawer);
/* Fails: ERROR_CORRUPT for a node out of range; ERROR_NO_MEMORY. Threads: a drawer is of one thread. */
MUST_CHECK enum error_code pair_drawer_draw(struct pair_drawer *drawer,
                                            const struct pair_request *request,
                                            struct drawn_pairs *out, struct error *err);
/* The other end of a negative alone: number `k` of edge `i` of the batch. */
uint32_t pair_drawer_negative(const struct pair_request *request, uint32_t node_count, uint32_t i,
                              uint32_t k);

#endif
