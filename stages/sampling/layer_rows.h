/*
 * layer_rows - what samplers of layers share (FastGCN, LADIES): for each hop and relation a choice
 * of nodes, and the edges from those.
 *
 * Hop h + 1 chooses in each relation among the nodes of its source type by what its chances are;
 * the edges from the chosen ones to the nodes so far, which are the destinations of the hop, are
 * its rows. An edge stands for (times drawn) / (draws * chance) edges. A chosen node that no
 * destination hears from is left out of the batch: it would change nothing. Destinations stay in
 * the batch as sources, since layers read a node's own row, too.
 *
 * Relations choose by their own rows alone: a node whose type is the source of several relations
 * has a chance in each, and is drawn in one without regard to the others. So sums over each
 * relation are estimated as over the one relation of a plain graph, whatever a layer does with
 * them.
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

/* The key of what is chosen in a relation for a hop. */
static inline uint32_t layer_rows_key(uint32_t relation, int hop)
{
    return relation * HOP_COUNT_MAX + (uint32_t)hop;
}
/* Chooses in a relation for a hop (from 0) by `draws` draws of the stream. */
typedef enum error_code (*layer_chooser)(struct batch_builder *builder,
                                         const struct neighbor_request *request, uint32_t relation,
                                         int hop, uint32_t draws,
                                         const struct random_stream *stream,
                                         struct layer_choice *choice, struct error *err);
/* A batch whose hops and relations are chosen so, where their fan-out is a number. */
MUST_CHECK enum error_code layer_rows_batch(struct neighbor_sampler *sampler,
                                            const struct neighbor_request *request,
                                            layer_chooser choose, struct mini_batch *out,
                                            struct error *err);

#endif
