/*
 * temporal_inference - computes the layers of the nodes of a tile, each at its own time, in runs
 * that sample by times.
 *
 * These rows cannot be computed layer by layer for the whole graph, because the row of a node
 * depends on who reads it, and when. So each node of a tile is the seed of its own neighbourhood,
 * drawn as in validation (temporal_neighbor_sampler.c), with as many hops as there are layers up
 * to the requested one. All these layers are computed on it, from the features. No output of a
 * lower layer is read, and nothing later than the node.
 *
 * The cost is that of sampling: for each node, all that sample.evaluation_fanouts keep of its
 * neighbourhood (by default everything early enough), again for each layer. Inference layer by
 * layer uses each edge once per layer. Memory: TEMPORAL_TILE_NODES such neighbourhoods.
 */
#ifndef STAGES_INFER_ROWS_TEMPORAL_INFERENCE_H
#define STAGES_INFER_ROWS_TEMPORAL_INFERENCE_H

#include "stages/infer/rows/inference_tile.h"
#include "stages/sampling/rows/neighbor_sampler.h"

/* The most nodes in a tile; few, so that neighbourhoods of hubs fit. */
enum { TEMPORAL_TILE_NODES = 64 };

/* Returns whether inference uses the times of nodes. */
bool temporal_inference_is_wanted(const struct stage_context *context);
/* The inputs of drawing the neighbourhoods of a tile; all borrowed. */
struct temporal_draw {
    const struct stage_context *context;
    const struct topology *topology; /* all its parts are open */
    const struct model *model;
    const struct edge_use *edge_use;
    struct neighbor_sampler *sampler;
    struct arena *arena; /* holds times and fan-outs */
};

/* Draws the neighbourhoods from which layer `layer`, from 1, of node [count] is computed, each
 * node at its time. The sampler owns the batch, which is valid until the next. Fails:
 * ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code temporal_inference_draw(const struct temporal_draw *draw, int layer,
                                                   const uint32_t *node, uint32_t count,
                                                   struct mini_batch *batch, struct error *err);
/* Computes all layers up to `layer`, from 1, on the neighbourhoods of a tile. The tile has the
 * rows that the first layer reads. Writes *output [count, its width] of the span, in the tile's
 * arena. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code temporal_inference_compute(const struct stage_context *context,
                                                      const struct model *model,
                                                      const float *weights, int layer,
                                                      struct inference_tile *tile, float **output,
                                                      struct error *err);

#endif
