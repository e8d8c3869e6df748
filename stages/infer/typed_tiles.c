#include "stages/infer/typed_tiles.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/temporal_inference.h"
#include "stages/sampling/neighbor_sampler.h"

#include <string.h>

/* Attention holds several rows for each source. */
enum { TILE_EDGES = 1 << 16 };

struct typed_tiles {
    struct typed_tiles_config config;
    bool is_temporal; /* a tile is neighbourhoods of the past (temporal_inference.h) */
    struct neighbor_sampler *sampler;
    struct arena arena;     /* reset for each tile */
    int64_t *all_neighbors; /* [relations]: fan-outs */
};

enum error_code typed_tiles_new(const struct typed_tiles_config *config, struct typed_tiles **out,
                                struct error *err)
{
    const uint32_t relations = partition_book_relations(config->context->book);
    const struct neighbor_sampler_config sampler = {.topology = config->topology,
                                                    .book = config->context->book,
                                                    .has_self_loops =
                                                        config->context->book->self_loop_count > 0,
                                                    .budget_bytes = config->neighbor_bytes};
    struct typed_tiles *tiles = NULL;
    enum error_code rc = memory_new(&tiles, 1, "tiles of node types", err);
    if (rc != ERROR_NONE)
        return rc;
    tiles->config = *config;
    tiles->is_temporal = temporal_inference_is_wanted(config->context);
    tiles->arena.limit = config->value_bytes;
    rc = memory_new(&tiles->all_neighbors, relations, "fan-outs of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        tiles->all_neighbors[r] = FANOUT_ALL;
    if (rc == ERROR_NONE)
        rc = neighbor_sampler_new(&sampler, &tiles->sampler, err);
    if (rc == ERROR_NONE)
        *out = tiles;
    else
        typed_tiles_free(tiles);
    return rc;
}

void typed_tiles_free(struct typed_tiles *tiles)
{
    if (!tiles)
        return;
    neighbor_sampler_free(tiles->sampler);
    memory_free(tiles->all_neighbors);
    arena_release(&tiles->arena);
    memory_free(tiles);
}

const struct typed_tiles_config *typed_tiles_config_of(const struct typed_tiles *tiles)
{
    return &tiles->config;
}

/* --- which nodes --- */

static uint64_t edges_of(const struct typed_tiles *tiles, uint32_t type, int part, uint32_t row)
{
    const struct partition_book *book = tiles->config.context->book;
    uint64_t edges = 0;
    for (uint32_t r = 0; r < partition_book_relations(book); r++) {
        const struct topology_part *rows = topology_rows(tiles->config.topology, part, r);
        if (partition_book_relation(book, r)->target_type == type)
            edges += topology_row_start(rows, row + 1) - topology_row_start(rows, row);
    }
    return edges;
}

uint32_t typed_tiles_size(const struct typed_tiles *tiles, uint32_t type, int part, uint32_t first,
                          uint32_t end)
{
    if (tiles->is_temporal)
        return end - first < TEMPORAL_TILE_NODES ? end - first : TEMPORAL_TILE_NODES;
    uint64_t edges = edges_of(tiles, type, part, first);
    uint32_t count = 1;
    while (count < TYPED_TILE_NODES && count < end - first) {
        edges += edges_of(tiles, type, part, first + count);
        if (edges > TILE_EDGES)
            break;
        count++;
    }
    return count;
}

/* --- a tile --- */

static enum error_code draw_neighbors(struct typed_tiles *tiles, const uint32_t *node,
                                      struct typed_tile *tile, struct error *err)
{
    const struct model *model = tiles->config.model;
    struct relation_edges *edges = NULL;
    const struct neighbor_request request = {
        .hop_count = 1,
        .fanout = tiles->all_neighbors,
        .seed_node = node,
        .seed_count = tile->span.count,
        .wants_degree = model->needs_degree,
        .wants_ends = model->divides_by_ends,
        .wants_weight_sum = model->divides_by_ends && tiles->config.edge_columns >> EDGE_WEIGHT & 1,
        .edge_columns = tiles->config.edge_columns};
    enum error_code rc = neighbor_sampler_draw(tiles->sampler, &request, &tile->batch, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&tiles->arena, &edges, tile->batch.relation_count, "relations of a tile",
                       err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(&tile->batch, 0, tile->destinations, tile->sources, edges,
                                  &tile->block);
    return rc;
}

/* The rows of a tile are then those that the lowest layer reads. */
static enum error_code draw_past(struct typed_tiles *tiles, int layer, const uint32_t *node,
                                 struct typed_tile *tile, struct error *err)
{
    const struct temporal_draw draw = {.context = tiles->config.context,
                                       .topology = tiles->config.topology,
                                       .model = tiles->config.model,
                                       .edge_columns = tiles->config.edge_columns,
                                       .sampler = tiles->sampler,
                                       .arena = &tiles->arena};
    const struct mini_batch *batch = &tile->batch;
    const enum error_code rc =
        temporal_inference_draw(&draw, layer, node, tile->span.count, &tile->batch, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < batch->type_count; t++)
        tile->sources[t] = mini_batch_known(batch, t, batch->hop_count);
    return rc;
}

/* The nodes of the span, as partition ids. */
static enum error_code find_nodes(struct typed_tiles *tiles, const struct typed_span *span,
                                  uint32_t **out, struct error *err)
{
    const struct type_ranges ranges = partition_book_ranges(tiles->config.context->book);
    const uint32_t first = type_ranges_first(&ranges, span->part, span->type) + span->first;
    const enum error_code rc = arena_new(&tiles->arena, out, span->count, "node ids", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < span->count; i++)
        (*out)[i] = first + i;
    return rc;
}

void typed_tile_nodes(const struct typed_tile *tile, const struct type_ranges *ranges,
                      uint32_t type, uint32_t *out)
{
    const struct typed_span *span = &tile->span;
    const struct mini_batch *batch = &tile->batch;
    const uint32_t first = type_ranges_first(ranges, span->part, span->type) + span->first;
    if (batch->type_count)
        memcpy(out, batch->node + batch->node_begin[type], tile->sources[type] * sizeof *out);
    for (uint32_t i = 0; !batch->type_count && i < tile->destinations[type]; i++)
        out[i] = first + i;
}

enum error_code typed_tiles_draw(struct typed_tiles *tiles, int layer,
                                 const struct typed_span *span, struct typed_tile *tile,
                                 struct error *err)
{
    uint32_t *node = NULL;
    *tile = (struct typed_tile){.span = *span, .arena = &tiles->arena};
    tile->destinations[span->type] = span->count;
    arena_reset(&tiles->arena);
    if (!tiles->is_temporal && !tiles->config.model->layer[layer - 1].type->uses_edges)
        return ERROR_NONE;
    const enum error_code rc = find_nodes(tiles, span, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    return tiles->is_temporal ? draw_past(tiles, layer, node, tile, err)
                              : draw_neighbors(tiles, node, tile, err);
}

/* --- what comes out --- */

/* One layer, from 0, of the rows of one type. */
static enum error_code compute(struct typed_tiles *tiles, const float *weights, int layer,
                               const struct typed_layer_input *input, uint32_t type, uint32_t rows,
                               float **output, struct error *err)
{
    const struct model *model = tiles->config.model;
    const struct model_workspace workspace = {.arena = &tiles->arena,
                                              .pool = tiles->config.context->pool};
    const enum error_code rc =
        arena_new(&tiles->arena, output, rows * (size_t)model_layer_output_dim(model, layer),
                  "a layer's output", err);
    return rc == ERROR_NONE
               ? model_infer_types(model, weights, layer, input, type, &workspace, *output, err)
               : rc;
}

/* One layer of a neighbourhood, which is computed one type at a time. */
struct past_layer {
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    struct relation_edges *edges; /* [relations] of the block; NULL: the layer uses none */
};

static enum error_code find_past_layer(struct typed_tiles *tiles, const struct mini_batch *batch,
                                       int layer, struct past_layer *out, struct error *err)
{
    const struct model_layer *of = &tiles->config.model->layer[layer];
    *out = (struct past_layer){.edges = NULL};
    for (uint32_t t = 0; t < batch->type_count; t++)
        out->destinations[t] = mini_batch_known(batch, t, batch->hop_count - of->hop);
    if (!of->type->uses_edges)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(&tiles->arena, &out->edges, batch->relation_count, "relations of a tile", err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(batch, of->hop, out->destinations, out->sources, out->edges,
                                  &out->block);
    return rc;
}

/* The rows of one type that the layer gives: those of the others are left out of what it
 * computes. */
static enum error_code compute_type(struct typed_tiles *tiles, const float *weights, int layer,
                                    const struct past_layer *past, const struct input_rows *rows,
                                    uint32_t type, float **output, struct error *err)
{
    const struct partition_book *book = tiles->config.context->book;
    const uint32_t relations = partition_book_relations(book);
    uint32_t alone[RELATION_TYPE_COUNT_MAX] = {0};
    struct relation_block block = past->block;
    struct relation_edges *edges = NULL;
    alone[type] = past->destinations[type];
    enum error_code rc =
        past->edges ? arena_new(&tiles->arena, &edges, relations, "relations of a tile", err)
                    : ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && edges && r < relations; r++) {
        edges[r] = past->edges[r];
        if (partition_book_relation(book, r)->target_type != type)
            edges[r].block.destination_count = 0;
    }
    block.destination_count = alone;
    block.edges = edges;
    const struct typed_layer_input input = {
        .block = edges ? &block : NULL, .count = alone, .rows = rows};
    return rc == ERROR_NONE ? compute(tiles, weights, layer, &input, type, alone[type], output, err)
                            : rc;
}

enum error_code typed_tile_join(struct typed_tile *tile, const struct model *model,
                                const float *const *rows, struct error *err)
{
    const int last = model->config.layer_count - 1;
    const size_t width = model->layer[last].type_input_dim[tile->span.type];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    const enum error_code rc =
        arena_new(tile->arena, &joined, tile->span.count * width, "joined layers", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int l = 0; l < last; l++)
        stride[l] = model_layer_output_dim(model, l);
    model_join_rows(model, rows, stride, tile->span.count, joined);
    tile->rows[tile->span.type] = (struct input_rows){.base = joined, .stride = width};
    return ERROR_NONE;
}

/* A layer that reads all below it reads what they gave of the tile's own nodes, the first of their
 * type. */
static enum error_code join_past(const struct typed_tiles *tiles, struct typed_tile *tile,
                                 struct input_rows (*rows)[RELATION_TYPE_COUNT_MAX], int layer,
                                 struct error *err)
{
    const uint32_t type = tile->span.type;
    const float *lower[LAYER_COUNT_MAX] = {NULL};
    for (int l = 0; l < layer; l++)
        lower[l] = rows[l + 1][type].base;
    const enum error_code rc = typed_tile_join(tile, tiles->config.model, lower, err);
    rows[layer][type] = tile->rows[type];
    return rc;
}

/* All layers up to one, from 1, of the neighbourhoods of a tile. */
static enum error_code compute_past(struct typed_tiles *tiles, const float *weights, int layer,
                                    struct typed_tile *tile, float **output, struct error *err)
{
    const struct model *model = tiles->config.model;
    struct input_rows rows[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    memcpy(rows[0], tile->rows, sizeof rows[0]);
    for (int l = 0; rc == ERROR_NONE && l < layer; l++) {
        struct past_layer past;
        rc = find_past_layer(tiles, &tile->batch, l, &past, err);
        if (rc == ERROR_NONE && model->layer[l].reads_all)
            rc = join_past(tiles, tile, rows, l, err);
        for (uint32_t t = 0; rc == ERROR_NONE && t < tile->batch.type_count; t++) {
            rows[l + 1][t] = (struct input_rows){.stride = model_layer_output_dim(model, l)};
            if (past.destinations[t] == 0 || (l + 1 == layer && t != tile->span.type))
                continue;
            rc = compute_type(tiles, weights, l, &past, rows[l], t, output, err);
            rows[l + 1][t].base = *output;
        }
    }
    return rc;
}

enum error_code typed_tiles_compute(struct typed_tiles *tiles, const float *weights, int layer,
                                    struct typed_tile *tile, float **output, struct error *err)
{
    const struct typed_layer_input input = {.block = tile->block.edges ? &tile->block : NULL,
                                            .count = tile->destinations,
                                            .sum = tile->sum,
                                            .start = tile->has_start ? tile->start : NULL,
                                            .rows = tile->rows};
    return tiles->is_temporal ? compute_past(tiles, weights, layer, tile, output, err)
                              : compute(tiles, weights, layer - 1, &input, tile->span.type,
                                        tile->span.count, output, err);
}
