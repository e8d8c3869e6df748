#include "stages/infer/rows/inference_tile.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/rows/temporal_inference.h"
#include "stages/sampling/rows/neighbor_sampler.h"

#include <string.h>

/* Fewer edges if there are several relations, because attention then holds several rows for each
 * source. */
enum { TILE_EDGES = 1 << 18, TILE_EDGES_OF_SEVERAL = 1 << 16 };

struct inference_tiles {
    struct inference_tiles_config config;
    struct type_ranges ranges;
    uint32_t relation_count;
    bool is_temporal; /* a tile has neighbourhoods of the past (temporal_inference.h) */
    struct neighbor_sampler *sampler;
    struct arena arena;     /* reset for each tile */
    int64_t *all_neighbors; /* [relations]: fan-outs */
};

enum error_code inference_tiles_new(const struct inference_tiles_config *config,
                                    struct inference_tiles **out, struct error *err)
{
    const struct partition_book *book = config->context->book;
    const struct neighbor_sampler_config sampler = {.topology = config->topology,
                                                    .book = book,
                                                    .has_self_loops = book->self_loop_count > 0,
                                                    .budget_bytes = config->neighbor_bytes};
    struct inference_tiles *tiles = NULL;
    enum error_code rc = memory_new(&tiles, 1, "tiles of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    tiles->config = *config;
    tiles->ranges = partition_book_ranges(book);
    tiles->relation_count = partition_book_relations(book);
    tiles->is_temporal = temporal_inference_is_wanted(config->context);
    tiles->arena.limit = config->value_bytes;
    rc = memory_new(&tiles->all_neighbors, tiles->relation_count, "fan-outs of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < tiles->relation_count; r++)
        tiles->all_neighbors[r] = FANOUT_ALL;
    if (rc == ERROR_NONE)
        rc = neighbor_sampler_new(&sampler, &tiles->sampler, err);
    if (rc == ERROR_NONE)
        *out = tiles;
    else
        inference_tiles_free(tiles);
    return rc;
}

void inference_tiles_free(struct inference_tiles *tiles)
{
    if (!tiles)
        return;
    neighbor_sampler_free(tiles->sampler);
    memory_free(tiles->all_neighbors);
    arena_release(&tiles->arena);
    memory_free(tiles);
}

const struct inference_tiles_config *inference_tiles_config_of(const struct inference_tiles *tiles)
{
    return &tiles->config;
}

uint64_t inference_tiles_bytes(const struct inference_tiles *tiles)
{
    return neighbor_sampler_bytes(tiles->sampler);
}

bool inference_tiles_ask_sources(const struct inference_tiles *tiles)
{
    const struct model *model = tiles->config.model;
    return tiles->is_temporal || tiles->config.edge_use.weight_sum ||
           (layer_reads_listed_rows(model) ? model->divides_by_ends : model->needs_degree);
}

/* --- the nodes of a tile --- */

static bool ends_in(const struct inference_tiles *tiles, uint32_t relation, uint32_t type)
{
    return partition_book_relation(tiles->config.context->book, relation)->target_type == type;
}

static uint64_t edges_of(const struct inference_tiles *tiles, uint32_t type, int part, uint32_t row)
{
    uint64_t edges = 0;
    for (uint32_t r = 0; r < tiles->relation_count; r++) {
        const struct topology_part *rows = topology_rows(tiles->config.topology, part, r);
        if (ends_in(tiles, r, type))
            edges += topology_row_start(rows, row + 1) - topology_row_start(rows, row);
    }
    return edges;
}

uint32_t inference_tiles_size(const struct inference_tiles *tiles, uint32_t type, int part,
                              uint32_t first, uint32_t end)
{
    const uint64_t most = tiles->relation_count > 1 ? TILE_EDGES_OF_SEVERAL : TILE_EDGES;
    if (tiles->is_temporal)
        return end - first < TEMPORAL_TILE_NODES ? end - first : TEMPORAL_TILE_NODES;
    uint64_t edges = edges_of(tiles, type, part, first);
    uint32_t count = 1;
    while (count < INFERENCE_TILE_NODES && count < end - first) {
        edges += edges_of(tiles, type, part, first + count);
        if (edges > most)
            break;
        count++;
    }
    return count;
}

/* --- a tile --- */

static void begin_tile(struct inference_tiles *tiles, const struct inference_span *span,
                       struct inference_tile *tile)
{
    *tile = (struct inference_tile){.span = *span, .arena = &tiles->arena};
    tile->destinations[span->type] = span->count;
    arena_reset(&tiles->arena);
}

static enum error_code draw_neighbors(struct inference_tiles *tiles, const uint32_t *node,
                                      struct inference_tile *tile, struct error *err)
{
    const struct inference_tiles_config *config = &tiles->config;
    struct relation_edges *edges = NULL;
    const struct neighbor_request request = {.hop_count = 1,
                                             .fanout = tiles->all_neighbors,
                                             .seed_node = node,
                                             .seed_count = tile->span.count,
                                             .wants_degree = config->model->needs_degree,
                                             .wants_ends = config->model->divides_by_ends,
                                             .wants_weight_sum = config->edge_use.weight_sum,
                                             .edge_columns = config->edge_use.columns};
    enum error_code rc = neighbor_sampler_draw(tiles->sampler, &request, &tile->batch, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&tiles->arena, &edges, tiles->relation_count, "relations of a tile", err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(&tile->batch, 0, tile->destinations, tile->sources, edges,
                                  &tile->block);
    return rc;
}

/* Draws the neighbourhoods of the past. The rows of the tile are then those that the lowest
 * layer reads. */
static enum error_code draw_past(struct inference_tiles *tiles, int layer, const uint32_t *node,
                                 struct inference_tile *tile, struct error *err)
{
    const struct temporal_draw draw = {.context = tiles->config.context,
                                       .topology = tiles->config.topology,
                                       .model = tiles->config.model,
                                       .edge_use = &tiles->config.edge_use,
                                       .sampler = tiles->sampler,
                                       .arena = &tiles->arena};
    const struct mini_batch *batch = &tile->batch;
    const enum error_code rc =
        temporal_inference_draw(&draw, layer, node, tile->span.count, &tile->batch, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < tiles->ranges.type_count; t++)
        tile->sources[t] = mini_batch_known(batch, t, batch->hop_count);
    return rc;
}

void inference_tile_nodes(const struct inference_tile *tile, const struct type_ranges *ranges,
                          uint32_t type, uint32_t *out)
{
    const struct inference_span *span = &tile->span;
    const struct mini_batch *batch = &tile->batch;
    const uint32_t first = type_ranges_first(ranges, span->part, span->type) + span->first;
    if (tile->is_drawn)
        memcpy(out, batch->node + mini_batch_node_begin(batch, type),
               tile->sources[type] * sizeof *out);
    for (uint32_t i = 0; !tile->is_drawn && i < tile->destinations[type]; i++)
        out[i] = first + i;
}

enum error_code inference_tiles_draw(struct inference_tiles *tiles, int layer,
                                     const struct inference_span *span, struct inference_tile *tile,
                                     struct error *err)
{
    uint32_t *node = NULL;
    begin_tile(tiles, span, tile);
    if (!tiles->is_temporal && !tiles->config.model->layer[layer - 1].type->uses_edges)
        return ERROR_NONE;
    const enum error_code rc = arena_new(&tiles->arena, &node, span->count, "node ids", err);
    if (rc != ERROR_NONE)
        return rc;
    inference_tile_nodes(tile, &tiles->ranges, span->type, node);
    tile->is_drawn = true;
    return tiles->is_temporal ? draw_past(tiles, layer, node, tile, err)
                              : draw_neighbors(tiles, node, tile, err);
}

/* --- the edges of a tile whose sources were summed --- */

/* The gathered rows of one relation. */
struct gathered_rows {
    const struct topology_part *part;
    uint32_t first, count;
    uint64_t edge, edge_count; /* `edge`: the first edge, in the part */
    /* row NULL: there is a row for every destination; degree NULL: not needed */
    uint32_t *row, *start, *neighbor, *degree;
    float *value, *value_sum; /* NULL: not needed */
};

static enum error_code new_rows(struct inference_tiles *tiles, struct gathered_rows *rows,
                                struct error *err)
{
    static const char what[] = "edges of a tile";
    const struct inference_tiles_config *config = &tiles->config;
    struct arena *arena = &tiles->arena;
    const size_t edges = (size_t)rows->edge_count, count = (size_t)rows->count + 1;
    enum error_code rc = arena_new(arena, &rows->start, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &rows->neighbor, edges, what, err);
    if (rc == ERROR_NONE && layer_reads_listed_rows(config->model))
        rc = arena_new(arena, &rows->row, count, what, err);
    if (rc == ERROR_NONE && config->model->needs_degree)
        rc = arena_new(arena, &rows->degree, count, what, err);
    if (rc == ERROR_NONE && config->edge_use.columns >> EDGE_WEIGHT & 1)
        rc = arena_new(arena, &rows->value, edges, what, err);
    if (rc == ERROR_NONE && config->edge_use.weight_sum)
        rc = arena_new(arena, &rows->value_sum, count, what, err);
    return rc;
}

/* Fills the rows of the relation. An edge from a destination to itself comes from its own row.
 * All other edges come from row `count`, which does not exist, because their sources are summed.
 * Returns the number of rows. */
static uint32_t fill_rows(const struct gathered_rows *rows, bool has_self_loops)
{
    const uint32_t node = rows->part->first_node + rows->first;
    uint32_t k = 0;
    rows->start[0] = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint32_t row = rows->first + i, from = rows->start[k];
        const uint32_t end = (uint32_t)(topology_row_start(rows->part, row + 1) - rows->edge);
        if (rows->row && from == end)
            continue;
        if (rows->row)
            rows->row[k] = i;
        if (rows->degree)
            rows->degree[k] =
                rows->row ? end - from : topology_degree(rows->part, row, has_self_loops);
        if (rows->value_sum)
            rows->value_sum[k] = *topology_weight_sum(rows->part, row);
        for (uint32_t e = from; e < end; e++)
            rows->neighbor[e] =
                *topology_neighbor(rows->part, rows->edge + e) == node + i ? i : rows->count;
        rows->start[++k] = end;
    }
    if (rows->degree)
        rows->degree[k] = 0;
    if (rows->value_sum)
        rows->value_sum[k] = 0;
    for (uint64_t e = 0; rows->value && e < rows->edge_count; e++)
        memcpy(&rows->value[e], topology_column(rows->part, EDGE_WEIGHT, rows->edge + e),
               sizeof *rows->value);
    return k;
}

static enum error_code gather_relation(struct inference_tiles *tiles, uint32_t relation,
                                       const struct inference_span *span,
                                       struct relation_edges *out, struct error *err)
{
    const struct topology_part *part = topology_rows(tiles->config.topology, span->part, relation);
    const uint64_t edge = topology_row_start(part, span->first);
    struct gathered_rows rows = {.part = part,
                                 .first = span->first,
                                 .count = span->count,
                                 .edge = edge,
                                 .edge_count =
                                     topology_row_start(part, span->first + span->count) - edge};
    const enum error_code rc = new_rows(tiles, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t count = fill_rows(&rows, tiles->config.context->book->self_loop_count > 0);
    *out = (struct relation_edges){.block = {.destination_count = count,
                                             .source_count = span->count + 1,
                                             .is_bipartite = rows.row != NULL,
                                             .row_start = rows.start,
                                             .neighbor = rows.neighbor,
                                             .degree = rows.degree,
                                             .edge_value = rows.value,
                                             .value_sum = rows.value_sum},
                                   .row = rows.row,
                                   .source_degree = rows.row ? NULL : rows.degree,
                                   .source_sum = rows.row ? NULL : rows.value_sum};
    return ERROR_NONE;
}

enum error_code inference_tiles_gather(struct inference_tiles *tiles,
                                       const struct inference_span *span,
                                       struct inference_tile *tile, struct error *err)
{
    struct relation_edges *edges = NULL;
    begin_tile(tiles, span, tile);
    enum error_code rc =
        arena_new(&tiles->arena, &edges, tiles->relation_count, "relations of a tile", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < tiles->relation_count; r++) {
        edges[r] = (struct relation_edges){.row = NULL};
        if (ends_in(tiles, r, span->type))
            rc = gather_relation(tiles, r, span, &edges[r], err);
    }
    memcpy(tile->sources, tile->destinations, sizeof tile->sources);
    if (!layer_reads_listed_rows(tiles->config.model))
        tile->sources[span->type]++; /* row `count`, which does not exist */
    tile->block = (struct relation_block){tile->destinations, tile->sources, edges};
    return rc;
}

/* --- the output --- */

bool inference_tile_reads(const struct model *model, int layer, int lower)
{
    const struct model_layer *own = &model->layer[layer - 1];
    return lower < layer - 1 && (own->reads_all || own->second_input == lower);
}

enum error_code inference_tile_add_lower(struct inference_tile *tile, const struct model *model,
                                         int layer, const float *const *rows, struct error *err)
{
    const struct model_layer *own = &model->layer[layer - 1];
    const size_t width = model->layer[layer - 1].type_input_dim[tile->span.type];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    tile->has_start = own->second_input >= 0;
    if (tile->has_start)
        tile->start[tile->span.type] = rows[own->second_input];
    if (!own->reads_all)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(tile->arena, &joined, tile->span.count * width, "joined layers", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int l = 0; l < layer - 1; l++)
        stride[l] = model_layer_output_dim(model, l);
    model_join_rows(model, rows, stride, tile->span.count, joined);
    tile->rows[tile->span.type] = (struct input_rows){.base = joined, .stride = width};
    return ERROR_NONE;
}

enum error_code inference_tiles_compute(struct inference_tiles *tiles, const float *weights,
                                        int layer, struct inference_tile *tile, float **output,
                                        struct error *err)
{
    const struct model *model = tiles->config.model;
    const struct model_workspace workspace = {.arena = &tiles->arena,
                                              .pool = tiles->config.context->pool};
    const struct typed_layer_input input = {.block = tile->block.edges ? &tile->block : NULL,
                                            .count = tile->destinations,
                                            .sum = tile->sum,
                                            .start = tile->has_start ? tile->start : NULL,
                                            .rows = tile->rows};
    if (tiles->is_temporal)
        return temporal_inference_compute(tiles->config.context, model, weights, layer, tile,
                                          output, err);
    const enum error_code rc = arena_new(
        &tiles->arena, output, tile->span.count * (size_t)model_layer_output_dim(model, layer - 1),
        "a layer's output", err);
    return rc == ERROR_NONE ? model_infer_types(model, weights, layer - 1, &input, tile->span.type,
                                                &workspace, *output, err)
                            : rc;
}
