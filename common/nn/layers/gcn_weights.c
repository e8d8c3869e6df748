#include "common/nn/layers/gcn_weights.h"

#include "common/nn/layers/neighbor_weights.h"

#include <math.h>

static uint32_t neighbors_of(const struct message_block *block, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        count += block->neighbor[e] != i;
    return count;
}

/* Returns 1 / sqrt(sum). Like PyG's gcn_norm it gives 0 for a sum that is not positive: the node
 * then sends and receives nothing. */
static float inverse_root(float sum)
{
    return sum > 0 ? 1 / sqrtf(sum) : 0;
}

/* Returns the sum of the values of the edges of i to itself, as counted in value_sum; 1 if there
 * are none. */
static float loop_value(const struct message_block *block, uint32_t i)
{
    bool found = false;
    float sum = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        if (block->neighbor[e] == i) {
            sum += block->edge_value[e];
            found = true;
        }
    return found ? sum : 1;
}

static void weigh_valued_nodes(const struct message_block *block, float *source_scale,
                               float *self_scale)
{
    must(block->value_sum);
    for (uint32_t j = 0; j < block->source_count; j++)
        source_scale[j] = inverse_root(block->value_sum[j]);
    for (uint32_t i = 0; i < block->destination_count; i++)
        self_scale[i] = source_scale[i] * loop_value(block, i) * source_scale[i];
}

static void weigh_plain_nodes(const struct message_block *block, float *source_scale,
                              float *self_scale)
{
    for (uint32_t j = 0; j < block->source_count; j++)
        source_scale[j] = 1 / sqrtf((float)block->degree[j] + 1);
    for (uint32_t i = 0; i < block->destination_count; i++)
        self_scale[i] = 1 / ((float)block->degree[i] + 1);
}

/* Divides by the degrees that both ends have in the relation. There are no loops. */
static void weigh_bipartite(const struct message_block *block, float *destination_scale,
                            float *source_scale)
{
    const bool has_values = block->edge_value != NULL;
    must(has_values ? block->value_sum && block->source_value_sum : block->source_degree != NULL);
    for (uint32_t j = 0; j < block->source_count; j++)
        source_scale[j] =
            inverse_root(has_values ? block->source_value_sum[j] : (float)block->source_degree[j]);
    for (uint32_t i = 0; i < block->destination_count; i++)
        destination_scale[i] =
            inverse_root(has_values ? block->value_sum[i] : (float)block->degree[i]) *
            neighbor_weights_correction(block, i);
}

static void weigh_nodes(const struct message_block *block, float *destination_scale,
                        float *source_scale, float *self_scale)
{
    must(block->degree);
    if (block->edge_value)
        weigh_valued_nodes(block, source_scale, self_scale);
    else
        weigh_plain_nodes(block, source_scale, self_scale);
    for (uint32_t i = 0; i < block->destination_count; i++) {
        const uint32_t found = neighbors_of(block, i);
        const bool sampled = found > 0 && found < block->degree[i] && !block->edge_factor;
        destination_scale[i] =
            sampled ? source_scale[i] * ((float)block->degree[i] / (float)found) : source_scale[i];
    }
}

enum error_code gcn_weights(const struct model_layer *layer, const struct message_block *block,
                            struct arena *arena, struct aggregation *out, struct error *err)
{
    (void)layer;
    static const char what[] = "the weights of edges";
    float *destination_scale = NULL, *source_scale = NULL, *self_scale = NULL;
    const float *edge_value = NULL;
    enum error_code rc = arena_new(arena, &destination_scale, block->destination_count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &source_scale, block->source_count, what, err);
    if (rc == ERROR_NONE && !block->is_bipartite)
        rc = arena_new(arena, &self_scale, block->destination_count, what, err);
    if (rc == ERROR_NONE)
        rc = neighbor_weights_values(block, arena, &edge_value, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts && block->is_bipartite)
        weigh_bipartite(block, destination_scale, source_scale);
    else if (!arena->counts)
        weigh_nodes(block, destination_scale, source_scale, self_scale);
    *out = (struct aggregation){.destination_count = block->destination_count,
                                .destination_scale = destination_scale,
                                .source_scale = source_scale,
                                .edge_value = edge_value,
                                .self_scale = self_scale,
                                .skip_self_loops = !block->is_bipartite};
    return ERROR_NONE;
}

bool gcn_weights_project_first(uint32_t input_dim, uint32_t output_dim)
{
    return input_dim > output_dim;
}
