/*
 * inference_tile - the nodes of a type that are computed together, their neighbours, and their
 * output rows.
 *
 * A tile ends at a number of nodes, or of edges in all relations. Only the data decides this,
 * because the bits of a product may depend on how its rows are cut. A tile is a neighbourhood of
 * one hop in every relation that ends in the type, without sampling.
 *
 * In a run that samples by times, a tile has neighbourhoods of several hops instead. All layers up
 * to the requested one are computed on it, from the rows that the lowest layer reads
 * (temporal_inference.h).
 */
#ifndef STAGES_INFER_ROWS_INFERENCE_TILE_H
#define STAGES_INFER_ROWS_INFERENCE_TILE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct inference_tiles;

/* The most nodes in a tile. */
enum { INFERENCE_TILE_NODES = 1024 };

struct inference_tiles_config { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology; /* open */
    const struct model *model;
    struct edge_use edge_use;
    uint64_t neighbor_bytes, value_bytes; /* for the neighbours and for the values of a tile */
};

/* Creates *out, which the caller frees with inference_tiles_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code inference_tiles_new(const struct inference_tiles_config *config,
                                               struct inference_tiles **out, struct error *err);
void inference_tiles_free(struct inference_tiles *tiles); /* NULL is fine */
const struct inference_tiles_config *inference_tiles_config_of(const struct inference_tiles *tiles);
/* Returns the bytes that neighbours take. */
uint64_t inference_tiles_bytes(const struct inference_tiles *tiles);
/* Returns whether a tile reads the topology of its sources, which may lie in any part: because
 * edges are divided by values of the source, or because the tile goes back in time. */
bool inference_tiles_ask_sources(const struct inference_tiles *tiles);

/* `count` nodes of a type in a part; `first` is a row of the type in that part. */
struct inference_span {
    uint32_t type;
    int part;
    uint32_t first, count;
};

/* Returns the number of nodes in the tile that begins with row `first`. The rows of the type in
 * the part end before `end`. That part of the topology must be open. */
uint32_t inference_tiles_size(const struct inference_tiles *tiles, uint32_t type, int part,
                              uint32_t first, uint32_t end);

/* A tile lists its nodes. The caller fills in the rows that a layer reads of them. */
struct inference_tile {
    struct inference_span span;
    /* whether the rows of all nodes in `batch` are read; otherwise those of the span only */
    bool is_drawn;
    struct mini_batch batch; /* sources by type */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    /* NULL, or [relations] sums that replace the rows of sources that are no destinations
     * (model_infer_types()). */
    const float *const *sum;
    /* [span.count, its width] for the span's type only, read by a layer with a second_input. */
    const float *start[RELATION_TYPE_COUNT_MAX];
    bool has_start;
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    struct arena *arena; /* for the memory that rows need; reset for each tile */
};

/* Returns how many nodes of a type have rows. */
static inline uint32_t inference_tile_count(const struct inference_tile *tile, uint32_t type)
{
    return tile->is_drawn ? tile->sources[type] : tile->destinations[type];
}
/* Writes these nodes, as partition ids, to out [inference_tile_count()]. */
void inference_tile_nodes(const struct inference_tile *tile, const struct type_ranges *ranges,
                          uint32_t type, uint32_t *out);

/* Draws the tile of `span` for layer `layer`, from 1. It is valid until the next one. Fails:
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code inference_tiles_draw(struct inference_tiles *tiles, int layer,
                                                const struct inference_span *span,
                                                struct inference_tile *tile, struct error *err);
/* Draws the tile for a layer that gets sums: it has the edges of its sources, but not the
 * sources. */
MUST_CHECK enum error_code inference_tiles_gather(struct inference_tiles *tiles,
                                                  const struct inference_span *span,
                                                  struct inference_tile *tile, struct error *err);
/* Adds to the tile what layer `layer`, from 1, reads besides the layer below it. rows[l] is NULL
 * or the output of layer l, from 0, for the tile's nodes [count, its width]. */
MUST_CHECK enum error_code inference_tile_add_lower(struct inference_tile *tile,
                                                    const struct model *model, int layer,
                                                    const float *const *rows, struct error *err);
/* Returns whether layer `layer`, from 1, also reads the output of layer `lower`, from 0. */
bool inference_tile_reads(const struct model *model, int layer, int lower);
/* Computes the output of the tile after its rows were filled in: *output [count, the layer's
 * width] of the span, valid until the next tile. */
MUST_CHECK enum error_code inference_tiles_compute(struct inference_tiles *tiles,
                                                   const float *weights, int layer,
                                                   struct inference_tile *tile, float **output,
                                                   struct error *err);

#endif
