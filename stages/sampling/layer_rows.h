/*
 * layer_rows - what samplers of layers share (FastGCN, LADIES): for each hop a choice of nodes, and the edges from those.
 *
 * Hop h + 1 chooses among all nodes by what its chances are; the edges from the chosen ones to the nodes so far, which are the
 * destinations of the hop, are its rows. An edge stands for (times drawn) / (draws * chance) edges. A chosen node that no
 * destination hears from is left out of the batch: it would change nothing. Destinations stay in the batch as sources, since layers
 * read a node's own row, too.
 */
#ifndef STAGES_SAMPLING_LAYER_ROWS_H
#define STAGES_SAMPLING_LAYER_ROWS_H

#include "stages/sampling/batch_builder.h"
#include "stages/sampling/neighbor_sampler.h"

/* One hop's choice; {0} with `takes_all` takes all neighbours, each for itself. */
struct layer_choice {
    bool takes_all;
    bool normalises;     /* the factors of a row are scaled to the number of its edges */
    const float *factor; /* by the number that builder->pairs has for (key, node); 0: not chosen */
};

/* Begins the batch with the seeds. */
MUST_CHECK enum error_code layer_rows_begin(struct batch_builder *builder,
                                            const struct neighbor_request *request,
                                            struct error *err);
/* The key of what is chosen in a relation for a hop. */
static inline uint32_t layer_rows_key(uint32_t relation, int hop)
{
    return relation * HOP_COUNT_MAX + (uint32_t)hop;
}
/* Adds the rows of a relation for hop `hop` (from 0); after all relations the caller ends the
 * hop. */
MUST_CHECK enum error_code layer_rows_add(struct batch_builder *builder, uint32_t relation, int hop,
                                          const struct layer_choice *choice, struct error *err);

#endif
