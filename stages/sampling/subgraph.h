/*
 * subgraph - what samplers of subgraphs share: which nodes are seeds, and draws for each seed apart.
 */
#ifndef STAGES_SAMPLING_SUBGRAPH_H
#define STAGES_SAMPLING_SUBGRAPH_H

#include "common/base/random.h"
#include "stages/sampling/batch_builder.h"
#include "stages/sampling/neighbor_sampler.h"

/* Brings the nodes of each type that were entered into order: those that train first, which are the
 * seeds; else as they were. Sets hop_end. *seed_count may come out 0. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code subgraph_order(struct batch_builder *builder,
                                          const struct neighbor_request *request,
                                          uint32_t *seed_count, struct error *err);

/* An ordered subgraph without a node that trains has a stand-in: its first node of the type that
 * trains becomes a seed whose loss
 * counts 0, for a mini-batch has at least one.
 * The subgraph then teaches nothing, and its slot counts as one without seeds. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code subgraph_stand_in(struct batch_builder *builder,
                                             const struct neighbor_request *request,
                                             struct error *err);

/* Draws of seed `index` alone in a relation, whichever nodes others come to: a stream under a key
 * of its own. */
struct random_stream subgraph_seed_stream(const struct neighbor_request *request, uint32_t index,
                                          uint32_t relation, uint32_t hop);
/* Draws of a hop in a relation, of all seeds together. */
struct random_stream subgraph_layer_stream(const struct neighbor_request *request,
                                           uint32_t relation, uint32_t hop);

#endif
