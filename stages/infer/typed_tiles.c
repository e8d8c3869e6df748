#include "stages/infer/typed_tiles.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "stages/sampling/neighbor_sampler.h"

#include <string.h>

/* Attention holds several rows for each source. */
enum { TILE_EDGES = 1 << 16 };

struct typed_tiles {
    struct typed_tiles_config config;
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

static enum error_code draw_neighbors(struct typed_tiles *tiles, struct typed_tile *tile,
                                      struct error *err)
{
    const struct partition_book *book = tiles->config.context->book;
    const struct model *model = tiles->config.model;
    const struct type_ranges ranges = partition_book_ranges(book);
    const struct typed_span *span = &tile->span;
    const uint32_t first = type_ranges_first(&ranges, span->part, span->type) + span->first;
    struct relation_edges *edges = NULL;
    uint32_t *node = NULL;
    enum error_code rc = arena_new(&tiles->arena, &node, span->count, "node ids", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < span->count; i++)
        node[i] = first + i;
    const struct neighbor_request request = {
        .hop_count = 1,
        .fanout = tiles->all_neighbors,
        .seed_node = node,
        .seed_count = span->count,
        .wants_degree = tiles->config.model->needs_degree,
        .wants_ends = model->divides_by_ends,
        .wants_weight_sum = model->divides_by_ends && tiles->config.edge_columns >> EDGE_WEIGHT & 1,
        .edge_columns = tiles->config.edge_columns};
    if (rc == ERROR_NONE)
        rc = neighbor_sampler_draw(tiles->sampler, &request, &tile->batch, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&tiles->arena, &edges, partition_book_relations(book), "relations of a tile",
                       err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(&tile->batch, 0, tile->destinations, tile->sources, edges,
                                  &tile->block);
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
    *tile = (struct typed_tile){.span = *span, .arena = &tiles->arena};
    tile->destinations[span->type] = span->count;
    arena_reset(&tiles->arena);
    return tiles->config.model->layer[layer - 1].type->uses_edges ? draw_neighbors(tiles, tile, err)
                                                                  : ERROR_NONE;
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

enum error_code typed_tiles_compute(struct typed_tiles *tiles, const float *weights, int layer,
                                    struct typed_tile *tile, float **output, struct error *err)
{
    const struct model *model = tiles->config.model;
    const struct model_workspace workspace = {.arena = &tiles->arena,
                                              .pool = tiles->config.context->pool};
    const struct typed_layer_input input = {.block = tile->block.edges ? &tile->block : NULL,
                                            .count = tile->destinations,
                                            .sum = tile->sum,
                                            .start = tile->has_start ? tile->start : NULL,
                                            .rows = tile->rows};
    const enum error_code rc = arena_new(
        &tiles->arena, output, (size_t)tile->span.count * model_layer_output_dim(model, layer - 1),
        "a layer's output", err);
    return rc == ERROR_NONE ? typed_model_infer_layer(model, weights, layer - 1, &input,
                                                      tile->span.type, &workspace, *output, err)
                            : rc;
}
