/*
 * neighbor_ends - looks up the degrees and sums of weights that the nodes of a drawn batch have in
 * the whole graph, relation by relation.
 *
 * They are looked up for all nodes of a relation's target type. The edges that begin at a source
 * are the edges that end in it in the reverse relation (mini_batch.h, "back").
 */
#ifndef STAGES_SAMPLING_ROWS_NEIGHBOR_ENDS_H
#define STAGES_SAMPLING_ROWS_NEIGHBOR_ENDS_H

#include "stages/sampling/rows/neighbor_state.h"

/* Makes room for degrees and sums in the sampler's arrays, for a caller that computes them itself
 * (batch_ends.h). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_ends_reserve(struct neighbor_sampler *s, bool degrees,
                                                 bool sums, struct error *err);
/* Looks up degrees and sums into the sampler's arrays. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_ends_look_up(struct neighbor_sampler *s, bool degrees,
                                                 bool sums, struct error *err);
/* Sets the batch's degrees and sums to the sampler's arrays, which stay the sampler's. */
void neighbor_ends_give(const struct neighbor_sampler *s, bool degrees, bool sums,
                        struct mini_batch *out);

#endif
