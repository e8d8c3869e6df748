/*
 * layer_rows - draws the batches of samplers of layers (FastGCN, LADIES): for each hop and
 * relation it chooses nodes and keeps the edges from them.
 *
 * Hop h + 1 chooses nodes of the source type of each relation, with chances of the sampler's own.
 * The destinations of the hop are the nodes found so far; the rows of the hop are the edges from
 * the chosen nodes to them. An edge stands for (times drawn) / (draws * chance) edges. A chosen
 * node without an edge to a destination is left out of the batch, because it would change nothing.
 * Destinations stay in the batch as sources, since layers read a node's own row, too.
 *
 * Each relation chooses by its own rows alone: a node whose type is the source of several
 * relations has a chance in each of them and is drawn in each independently. So each relation's
 * sums are estimated as those of a plain graph with only that relation, whatever a layer does with
 * the sums.
 */
#ifndef STAGES_SAMPLING_SAMPLERS_LAYER_ROWS_H
#define STAGES_SAMPLING_SAMPLERS_LAYER_ROWS_H

#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/neighbor_sampler.h"

/* The choice of one hop. {0} with `takes_all` takes all neighbours, each with factor 1. */
struct layer_choice {
    bool takes_all;
    bool normalises;     /* scale a row's factors so that their sum is its number of edges */
    const float *factor; /* indexed by the number of (key, node) in builder->pairs; 0: not chosen */
};

/* Returns the key in builder->pairs of the nodes chosen in a relation for a hop. */
static inline uint32_t layer_rows_key(uint32_t relation, int hop)
{
    return relation * HOP_COUNT_MAX + (uint32_t)hop;
}
/* Chooses nodes in a relation for a hop (from 0) with `draws` draws of the stream. */
typedef enum error_code (*layer_chooser)(struct batch_builder *builder,
                                         const struct neighbor_request *request, uint32_t relation,
                                         int hop, uint32_t draws,
                                         const struct random_stream *stream,
                                         struct layer_choice *choice, struct error *err);
/* Draws a batch: `choose` chooses the nodes of each hop and relation whose fan-out is a number. */
MUST_CHECK enum error_code layer_rows_batch(struct neighbor_sampler *sampler,
                                            const struct neighbor_request *request,
                                            layer_chooser choose, struct mini_batch *out,
                                            struct error *err);

#endif
