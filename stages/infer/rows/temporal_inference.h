/*
 * temporal_inference - what layers give of the nodes of a tile, each at its own time, of runs that
 * sample by times.
 *
 * Layer by layer that cannot be had: what a node looks like depends on who asks, and when. So each
 * node of a tile is the seed of a neighbourhood of its own, drawn as validation draws it
 * (temporal_neighbor_sampler.c), with as many hops as the layers up to the one that is asked for;
 * these are computed on it from the features on. No layer below is read, and nothing later than a
 * node is.
 *
 * The cost is that of sampling: of a node all that sample.evaluation_fanouts leave of its
 * neighbourhood (by default everything that is early enough), once for each of the last two layers
 * and each below, where a layer at a time takes each edge once. Memory is that of
 * TEMPORAL_TILE_NODES such neighbourhoods.
 */
#ifndef STAGES_INFER_ROWS_TEMPORAL_INFERENCE_H
#define STAGES_INFER_ROWS_TEMPORAL_INFERENCE_H

#include "stages/infer/rows/inference_tile.h"
#include "stages/sampling/rows/neighbor_sampler.h"

/* Nodes of a tile at most: of few neighbourhoods, so that hubs fit. */
enum { TEMPORAL_TILE_NODES = 64 };

/* Whether nodes have times that inference goes by. */
bool temporal_inference_is_wanted(const struct stage_context *context);
/* These say how the neighbourhoods of a tile are drawn. All are borrowed. */
struct temporal_draw {
    const struct stage_context *context;
    const struct topology *topology; /* all its parts are open */
    const struct model *model;
    const struct edge_use *edge_use;
    struct neighbor_sampler *sampler;
    struct arena *arena; /* for times and fan-outs */
};

/* Draws what layer `layer`, from 1, of node [count] is computed from, each node at its time. The
 * batch is the sampler's until the next. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code temporal_inference_draw(const struct temporal_draw *draw, int layer,
                                                   const uint32_t *node, uint32_t count,
                                                   struct mini_batch *batch, struct error *err);
/* Computes all layers up to `layer`, from 1, of the neighbourhoods of a tile, whose rows are those
 * that the first layer reads: *output [count, its width] of the span, in the tile's arena. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code temporal_inference_compute(const struct stage_context *context,
                                                      const struct model *model,
                                                      const float *weights, int layer,
                                                      struct inference_tile *tile, float **output,
                                                      struct error *err);

#endif
