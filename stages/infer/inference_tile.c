#include "stages/infer/inference_tile.h"

#include "common/nn/layers/layer.h"

enum { TILE_EDGES = 1 << 18 };

uint32_t inference_tile_size(const struct topology_part *part, uint32_t first, uint32_t end)
{
    const uint32_t row = first - part->first_node;
    const uint64_t from = topology_row_start(part, row);
    uint32_t count = 1;
    while (count < INFERENCE_TILE_NODES && count < end - first &&
           topology_row_start(part, row + count + 1) - from <= TILE_EDGES)
        count++;
    return count;
}

enum error_code inference_tile_nodes(struct arena *arena, uint32_t first, uint32_t count,
                                     uint32_t **node, struct error *err)
{
    const enum error_code rc = arena_new(arena, node, count, "node ids", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        (*node)[i] = first + i;
    return rc;
}

enum error_code inference_tile_draw(struct neighbor_sampler *sampler, const struct model *model,
                                    const struct edge_use *edge_use, int layer,
                                    const uint32_t *node, uint32_t count, struct mini_batch *batch,
                                    struct error *err)
{
    static const int64_t all_neighbors[1] = {FANOUT_ALL};
    const struct neighbor_request request = {.hop_count = model->layer[layer - 1].type->uses_edges,
                                             .fanout = all_neighbors,
                                             .seed_node = node,
                                             .seed_count = count,
                                             .wants_degree = model->needs_degree,
                                             .wants_weight_sum = edge_use->weight_sum,
                                             .edge_columns = edge_use->columns};
    return neighbor_sampler_draw(sampler, &request, batch, err);
}
