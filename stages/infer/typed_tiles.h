/*
 * typed_tiles - which nodes of a type are computed together by a layer over relations, with what
 * neighbours, and the rows that come out.
 *
 * A tile ends at a number of nodes, or of edges in all relations: by the data alone, since the bits
 * of a product may depend on how its rows are cut. It is a neighbourhood of one hop in every
 * relation that ends in the type, without sampling.
 *
 * In a run that samples by times a tile is neighbourhoods of several hops instead, and all layers
 * up to the one that is asked for are computed on it, from the rows that the lowest one reads
 * (temporal_inference.h).
 */
#ifndef STAGES_INFER_TYPED_TILES_H
#define STAGES_INFER_TYPED_TILES_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct typed_tiles;

/* Nodes of a tile at most. */
enum { TYPED_TILE_NODES = 1024 };

struct typed_tiles_config { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology; /* open */
    const struct model *model;
    unsigned edge_columns;                /* that it reads (edge_use.h) */
    uint64_t neighbor_bytes, value_bytes; /* of a tile, for neighbours and for values */
};

/* Owns: *out; typed_tiles_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_tiles_new(const struct typed_tiles_config *config,
                                           struct typed_tiles **out, struct error *err);
void typed_tiles_free(struct typed_tiles *tiles); /* NULL is fine */
const struct typed_tiles_config *typed_tiles_config_of(const struct typed_tiles *tiles);

/* `count` nodes of a type in a part, from row `first` of the type there. */
struct typed_span {
    uint32_t type;
    int part;
    uint32_t first, count;
};

/* How many nodes the tile has that begins with row `first`; rows of the type in the part end before `end`. That part of the topology
 * is open. */
uint32_t typed_tiles_size(const struct typed_tiles *tiles, uint32_t type, int part, uint32_t first,
                          uint32_t end);

/* What a layer computes of a tile: who is in it, and their rows, which are for the caller to fill in. */
struct typed_tile {
    struct typed_span span;
    struct mini_batch
        batch; /* sources by type; without edges {0}: rows of the span alone are read */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    /* NULL, or [relations] in place of the rows of sources that are no destinations (typed_layer_input). */
    const float *const *sum;
    /* A layer with a second_input reads these: [span.count, its width], of the span's type
     * alone. */
    const float *start[RELATION_TYPE_COUNT_MAX];
    bool has_start;
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    struct arena *arena; /* for what the rows need; reset for each tile */
};

/* Its nodes of a type, as partition ids, into out [sources of the type, of a layer without edges destinations]. */
void typed_tile_nodes(const struct typed_tile *tile, const struct type_ranges *ranges,
                      uint32_t type, uint32_t *out);

/* The tile of `span` for layer `layer`, from 1, valid until the next. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_tiles_draw(struct typed_tiles *tiles, int layer,
                                            const struct typed_span *span, struct typed_tile *tile,
                                            struct error *err);
/* Puts what all layers below the last gave of the tile's nodes, rows[layer] [count, its width], in
 * the place of its rows. */
MUST_CHECK enum error_code typed_tile_join(struct typed_tile *tile, const struct model *model,
                                           const float *const *rows, struct error *err);
/* Once it has rows: *output [count, the layer's width] of the span, likewise valid. */
MUST_CHECK enum error_code typed_tiles_compute(struct typed_tiles *tiles, const float *weights,
                                               int layer, struct typed_tile *tile, float **output,
                                               struct error *err);

#endif
