/*
 * neighbor_ends - what the whole graph has of the nodes of a drawn batch, relation by relation:
 * degrees, and sums of weights.
 *
 * It is looked up of all nodes of a relation's target type. What begins at a source is what ends in
 * it in the reverse relation (mini_batch.h, "back").
 */
#ifndef STAGES_SAMPLING_NEIGHBOR_ENDS_H
#define STAGES_SAMPLING_NEIGHBOR_ENDS_H

#include "stages/sampling/neighbor_state.h"

/* Makes room for it in the sampler's arrays, for whoever knows it otherwise (batch_ends.h). Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_ends_reserve(struct neighbor_sampler *s, bool degrees,
                                                 bool sums, struct error *err);
/* Looks it up, into the sampler's arrays. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_ends_look_up(struct neighbor_sampler *s, bool degrees,
                                                 bool sums, struct error *err);
/* Puts what was looked up into the batch. */
void neighbor_ends_give(const struct neighbor_sampler *s, bool degrees, bool sums,
                        struct mini_batch *out);

#endif
