/*
 * batch_ends - degrees and sums of weights of a batch that batch_builder.h put together.
 *
 * A mini-batch tells one of three things of a node and a relation that ends in its type: what the
 * whole graph has (neighbor_ends.h); where each seed looks at the graph at its own time, what the
 * node's seed sees of it; and where the batch is a graph of its own, what the batch has.
 */
#ifndef STAGES_SAMPLING_ROWS_BATCH_ENDS_H
#define STAGES_SAMPLING_ROWS_BATCH_ENDS_H

#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/neighbor_sampler.h"

/* Counts the edges of each row that is listed. `is_alone`: the batch is a graph of its own. Fails:
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_ends_fill_rows(struct batch_builder *builder,
                                                const struct neighbor_request *request,
                                                bool is_alone, struct error *err);
/* Gives the batch, whose columns are filled in, what the request wants of its nodes, relation by
 * relation. Fails likewise. */
MUST_CHECK enum error_code batch_ends_look_up(struct batch_builder *builder,
                                              const struct neighbor_request *request, bool is_alone,
                                              struct mini_batch *out, struct error *err);

#endif
