/*
 * inference_tile - which nodes of a type are computed together, with what neighbours, and the rows
 * that come out.
 *
 * A tile ends at a number of nodes, or of edges in all relations: by the data alone, since the bits
 * of a product may depend on how its rows are cut. It is a neighbourhood of one hop in every
 * relation that ends in the type, without sampling.
 *
 * In a run that samples by times a tile is neighbourhoods of several hops instead, and all layers
 * up to the one that is asked for are computed on it, from the rows that the lowest one reads
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

/* Nodes of a tile at most. */
enum { INFERENCE_TILE_NODES = 1024 };

struct inference_tiles_config { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology; /* open */
    const struct model *model;
    struct edge_use edge_use;
    uint64_t neighbor_bytes, value_bytes; /* of a tile, for neighbours and for values */
};

/* Owns: *out; inference_tiles_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code inference_tiles_new(const struct inference_tiles_config *config,
                                               struct inference_tiles **out, struct error *err);
void inference_tiles_free(struct inference_tiles *tiles); /* NULL is fine */
const struct inference_tiles_config *inference_tiles_config_of(const struct inference_tiles *tiles);
/* Bytes that neighbours take. */
uint64_t inference_tiles_bytes(const struct inference_tiles *tiles);
/* Whether a tile asks the topology about its sources, which lie in any part: what they have divides
 * edges, or a tile goes back in time. */
bool inference_tiles_ask_sources(const struct inference_tiles *tiles);

/* `count` nodes of a type in a part, from row `first` of the type there. */
struct inference_span {
    uint32_t type;
    int part;
    uint32_t first, count;
};

/* How many nodes the tile has that begins with row `first`; rows of the type in the part end before
 * `end`. That part of the topology is open. */
uint32_t inference_tiles_size(const struct inference_tiles *tiles, uint32_t type, int part,
                              uint32_t first, uint32_t end);

/* A tile says who is in it. The caller fills in the rows that a layer reads of it. */
struct inference_tile {
    struct inference_span span;
    bool is_drawn;           /* rows of all nodes in `batch` are read; else of the span alone */
    struct mini_batch batch; /* sources by type */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    /* NULL, or [relations] in place of the rows of sources that are no destinations
     * (model_infer_types()). */
    const float *const *sum;
    /* A layer with a second_input reads these: [span.count, its width], of the span's type
     * alone. */
    const float *start[RELATION_TYPE_COUNT_MAX];
    bool has_start;
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    struct arena *arena; /* for what the rows need; reset for each tile */
};

/* How many of its nodes of a type have rows. */
static inline uint32_t inference_tile_count(const struct inference_tile *tile, uint32_t type)
{
    return tile->is_drawn ? tile->sources[type] : tile->destinations[type];
}
/* These nodes, as partition ids, into out [inference_tile_count()]. */
void inference_tile_nodes(const struct inference_tile *tile, const struct type_ranges *ranges,
                          uint32_t type, uint32_t *out);

/* The tile of `span` for layer `layer`, from 1, valid until the next. Fails: ERROR_CORRUPT;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code inference_tiles_draw(struct inference_tiles *tiles, int layer,
                                                const struct inference_span *span,
                                                struct inference_tile *tile, struct error *err);
/* The same for a layer that gets sums: of its sources the edges alone are there. */
MUST_CHECK enum error_code inference_tiles_gather(struct inference_tiles *tiles,
                                                  const struct inference_span *span,
                                                  struct inference_tile *tile, struct error *err);
/* Gives the tile what layer `layer`, from 1, reads beside the layer below it: rows[l], unless it is
 * NULL, is what layer l, from 0, gave of the tile's nodes [count, its width]. */
MUST_CHECK enum error_code inference_tile_add_lower(struct inference_tile *tile,
                                                    const struct model *model, int layer,
                                                    const float *const *rows, struct error *err);
/* Whether layer `layer`, from 1, reads that of layer `lower`, from 0. */
bool inference_tile_reads(const struct model *model, int layer, int lower);
/* Once it has rows: *output [count, the layer's width] of the span, likewise valid. */
MUST_CHECK enum error_code inference_tiles_compute(struct inference_tiles *tiles,
                                                   const float *weights, int layer,
                                                   struct inference_tile *tile, float **output,
                                                   struct error *err);

#endif
