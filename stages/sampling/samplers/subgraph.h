/*
 * subgraph - the common parts of samplers of subgraphs: the order of nodes, and streams of draws
 * for each seed.
 */
#ifndef STAGES_SAMPLING_SAMPLERS_SUBGRAPH_H
#define STAGES_SAMPLING_SAMPLERS_SUBGRAPH_H

#include "common/numbers/random.h"
#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/neighbor_sampler.h"

/* Reorders the entered nodes of each type: first the training nodes, which are the seeds, then the
 * others, each group in its previous order. Sets hop_end. *seed_count may become 0. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code subgraph_order(struct batch_builder *builder,
                                          const struct neighbor_request *request,
                                          uint32_t *seed_count, struct error *err);

/* Gives an ordered subgraph without a training node a seed with loss weight 0: its first node of
 * the type that trains. A mini-batch must have at least one seed. The subgraph then teaches
 * nothing, and its slot counts as one without seeds. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code subgraph_stand_in(struct batch_builder *builder,
                                             const struct neighbor_request *request,
                                             struct error *err);

/* Returns the stream of seed `index` in a relation and hop. It has a key of its own, so its draws
 * do not depend on the nodes that other seeds reach. */
struct random_stream subgraph_seed_stream(const struct neighbor_request *request, uint32_t index,
                                          uint32_t relation, uint32_t hop);
/* Returns the stream of a hop in a relation for all seeds together. */
struct random_stream subgraph_layer_stream(const struct neighbor_request *request,
                                           uint32_t relation, uint32_t hop);

#endif
