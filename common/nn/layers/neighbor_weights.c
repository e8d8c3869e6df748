#include "common/nn/layers/neighbor_weights.h"

static const char what[] = "the weights of neighbours"; /* user of the memory, for messages */

enum error_code neighbor_weights_values(const struct message_block *block, struct arena *arena,
                                        const float **out, struct error *err)
{
    float *product = NULL;
    *out = block->edge_factor ? block->edge_factor : block->edge_value;
    if (!block->edge_factor || !block->edge_value)
        return ERROR_NONE;
    const uint64_t end =
        block->row_start ? block->row_start[block->destination_count] : block->edge_count;
    const enum error_code rc = arena_new(arena, &product, end, what, err);
    *out = product;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    must(block->row_start);
    for (uint64_t e = block->row_start[0]; e < end; e++)
        product[e] = block->edge_value[e] * block->edge_factor[e];
    return ERROR_NONE;
}

/* Returns whether loops are missing among the edges that the degree counts. */
static bool leaves_loops_out(const struct message_block *block)
{
    return !block->is_bipartite && !block->degree_has_loops;
}

float neighbor_weights_correction(const struct message_block *block, uint32_t i)
{
    const uint32_t count = block->row_start[i + 1] - block->row_start[i];
    uint32_t loops = 0;
    must(block->degree);
    if (block->edge_factor)
        return 1;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1] && leaves_loops_out(block);
         e++)
        loops += block->neighbor[e] == i;
    const uint32_t found = count - loops;
    if (found == 0 || found >= block->degree[i])
        return 1;
    return (float)(block->degree[i] + loops) / (float)count;
}

/* Returns the scale of a mean over edges with factors. */
static float mean_scale(const struct message_block *block, uint32_t i)
{
    float count = (float)block->degree[i];
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        if (leaves_loops_out(block) && block->neighbor[e] == i)
            count += block->edge_factor[e];
    return count > 0 ? 1 / count : 0;
}

static float scale_of(int64_t aggr, const struct message_block *block, uint32_t i)
{
    const uint32_t count = block->row_start[i + 1] - block->row_start[i];
    if (aggr == LAYER_AGGR_ADD)
        return neighbor_weights_correction(block, i);
    if (block->edge_factor)
        return mean_scale(block, i);
    return count ? 1 / (float)count : 0;
}

enum error_code neighbor_weights(const struct model_layer *layer, const struct message_block *block,
                                 struct arena *arena, struct aggregation *out, struct error *err)
{
    const uint32_t rows = block->destination_count;
    float *scale = NULL;
    *out = (struct aggregation){.destination_count = rows,
                                .edge_value = block->edge_value,
                                .self_beside = !block->is_bipartite};
    if (layer->config.option.aggr == LAYER_AGGR_MAX)
        return arena_new(arena, &out->greatest, (size_t)rows * layer->input_dim, what, err);
    enum error_code rc = neighbor_weights_values(block, arena, &out->edge_value, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &scale, rows, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; !arena->counts && i < rows; i++)
        scale[i] = scale_of(layer->config.option.aggr, block, i);
    out->destination_scale = scale;
    return ERROR_NONE;
}

bool neighbor_weights_project_first(uint32_t input_dim, uint32_t output_dim)
{
    (void)input_dim;
    (void)output_dim;
    return false;
}
