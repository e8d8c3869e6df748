/*
 * inference_tile - which nodes of a part are computed together, and with what neighbours.
 *
 * A tile ends at a number of nodes, or of edges where the degrees are high: by the data alone, since the bits of a
 * product may depend on how its rows are cut.
 */
#ifndef STAGES_INFER_INFERENCE_TILE_H
#define STAGES_INFER_INFERENCE_TILE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/edge_use.h"
#include "stages/sampling/neighbor_sampler.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdint.h>

/* Nodes of a tile at most. */
enum { INFERENCE_TILE_NODES = 1024 };

/* Nodes of the tile that begins with `first`, in a part that ends before `end`. */
uint32_t inference_tile_size(const struct topology_part *part, uint32_t first, uint32_t end);
/* The ids of its nodes, in the arena. */
MUST_CHECK enum error_code inference_tile_nodes(struct arena *arena, uint32_t first, uint32_t count,
                                                uint32_t **node, struct error *err);
/* The neighbourhoods of its nodes, or those nodes alone for a layer (from 1) that uses no edges. */
MUST_CHECK enum error_code inference_tile_draw(struct neighbor_sampler *sampler,
                                               const struct model *model,
                                               const struct edge_use *edge_use, int layer,
                                               const uint32_t *node, uint32_t count,
                                               struct mini_batch *batch, struct error *err);

#endif
