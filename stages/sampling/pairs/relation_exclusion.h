/*
 * relation_exclusion - the edges of seeds' rows that are left out of a mini-batch on a graph with relations.
 *
 * An edge s -> t of relation r that is an example is left out of the row of t in r, and what gives it away with it: its declared reverse
 * (relation_reverse.h), in the row of s; and where both ends are of one type the edge t -> s of r and that one's reverse, as in a
 * graph without relations. Edges of other relations between the same nodes stay.
 */
#ifndef STAGES_SAMPLING_PAIRS_RELATION_EXCLUSION_H
#define STAGES_SAMPLING_PAIRS_RELATION_EXCLUSION_H

#include "common/base/error.h"
#include "stages/sampling/pairs/pair_ends.h"
#include "stages/sampling/rows/growing_array.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct relation_exclusion { /* {0} is empty */
    struct growing_array found,
        relation; /* as they are found: 64 bits of seed and position; relations */
    struct growing_array key, scratch; /* of 64 bits, by relation */
    struct growing_array begin, seed, position;
};

/* Edges that are examples; all [count]. */
struct excluded_examples {
    uint32_t count;
    const uint32_t *source, *target;           /* nodes */
    const uint16_t *relation;                  /* NULL: all are of relation 0 */
    const uint32_t *source_seed, *target_seed; /* which seeds they are */
    const uint32_t *seed_begin;                /* [types] where the seeds of each begin */
    bool with_reverses;                        /* else the edges alone */
};

/* *out is valid until the next call. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code relation_exclusion_find(struct relation_exclusion *exclusion,
                                                   struct array_budget *budget,
                                                   const struct topology *topology,
                                                   const struct pair_ends *ends,
                                                   const struct excluded_examples *examples,
                                                   struct excluded_edges *out, struct error *err);
void relation_exclusion_release(struct relation_exclusion *exclusion, struct array_budget *budget);

#endif
