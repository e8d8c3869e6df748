/*
 * temporal_inference - what layers give of the nodes of a tile, each at its own time, of runs that sample by times.
 *
 * With relations the tiles are those of typed_tiles.h, of nodes of one type.
 *
 * Layer by layer that cannot be had: what a node looks like depends on who asks, and when. So each node of a tile is the seed of a
 * neighbourhood of its own, drawn as validation draws it (temporal_neighbor_sampler.c), with as many hops as the layers up to the
 * one that is asked for; these are computed on it from the features on. No layer below is read, and nothing later than a node is.
 *
 * The cost is that of sampling: of a node all that sample.evaluation_fanouts leave of its neighbourhood (by default everything that is
 * early enough), once for each of the last two layers and each below, where a layer at a time takes each edge once. Memory is
 * that of TEMPORAL_TILE_NODES such neighbourhoods.
 */
#ifndef STAGES_INFER_TEMPORAL_INFERENCE_H
#define STAGES_INFER_TEMPORAL_INFERENCE_H

#include "stages/infer/part_inference.h"

/* Nodes of a tile at most: of few neighbourhoods, so that hubs fit. */
enum { TEMPORAL_TILE_NODES = 64 };

/* Whether nodes have times that inference goes by. */
bool temporal_inference_is_wanted(const struct stage_context *context);
/* These say how the neighbourhoods of a tile are drawn. All are borrowed. */
struct temporal_draw {
    const struct stage_context *context;
    const struct topology *topology; /* all its parts are open */
    const struct model *model;
    unsigned edge_columns; /* that the model reads */
    struct neighbor_sampler *sampler;
    struct arena *arena; /* for times and fan-outs */
};

/* Draws what layer `layer`, from 1, of node [count] is computed from, each node at its time. The
 * batch is the sampler's until the next. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code temporal_inference_draw(const struct temporal_draw *draw, int layer,
                                                   const uint32_t *node, uint32_t count,
                                                   struct mini_batch *batch, struct error *err);

/* Rows of `layer`, from 1, of nodes first .. first + count - 1, into *output [count, its width], in the arena. All parts of the
 * topology are open, and the input is that of layer 1. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code temporal_inference_tile(struct part_inference *inference, int layer,
                                                   uint32_t first, uint32_t count, float **output,
                                                   struct error *err);

#endif
