#include "stages/infer/selected_inference.h"

#include "common/nn/layers/layer.h"
#include "stages/infer/inference_tile.h"
#include "stages/plan/sparse_features.h"
#include "store/features/feature_source.h"

#include <string.h>

struct tiles {
    const struct selected_inference_config *config;
    bool mostly_zero; /* features are */
};

static const struct model *model_of(const struct tiles *tiles)
{
    return tiles->config->selection.model;
}

/* Whether the first layer takes them for such (sparse_layer.h). */
static enum error_code detect_zeros(const struct selection *selection, bool *mostly_zero,
                                    struct error *err)
{
    struct feature_source *features = NULL;
    enum error_code rc = selection_open_features(selection, 0, &features, err);
    if (rc == ERROR_NONE)
        rc = sparse_features_detect(features, selection->config.topology->node_count, mostly_zero,
                                    err);
    feature_source_close(features);
    return rc;
}

/* --- a tile --- */

/* What a layer reads beside the layer below, of the destinations: the output of layer `from`, counted from 0. */
static enum error_code copy_rows(const struct tiles *tiles, const struct selected_type *nodes,
                                 int from, const uint32_t *index, uint32_t count, const float **out,
                                 struct error *err)
{
    const size_t width = nodes->width[from];
    float *copy = NULL;
    const enum error_code rc =
        arena_new(tiles->config->arena, &copy, count * width, "rows of a layer", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        memcpy(copy + i * width, nodes->row[from] + index[i] * width, width * sizeof *copy);
    *out = copy;
    return rc;
}

static enum error_code join_lower(const struct tiles *tiles, const struct selected_type *nodes,
                                  int layer, const uint32_t *index, uint32_t count,
                                  struct layer_input *input, struct error *err)
{
    const struct model *model = model_of(tiles);
    const uint32_t width = model_layer_input_dim(model, layer - 1);
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    enum error_code rc =
        arena_new(tiles->config->arena, &joined, (size_t)count * width, "joined layers", err);
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        rc = copy_rows(tiles, nodes, l + 1, index, count, &lower[l], err);
        stride[l] = nodes->width[l + 1];
    }
    if (rc == ERROR_NONE)
        model_join_rows(model, lower, stride, count, joined);
    input->rows = (struct input_rows){.base = joined, .stride = width};
    return rc;
}

static enum error_code draw_tile(const struct tiles *tiles, int layer, uint32_t first,
                                 uint32_t count, struct mini_batch *batch, struct error *err)
{
    const struct selected_inference_config *config = tiles->config;
    uint32_t *node = NULL;
    const enum error_code rc = inference_tile_nodes(config->arena, first, count, &node, err);
    return rc == ERROR_NONE ? inference_tile_draw(config->sampler, model_of(tiles),
                                                  config->edge_use, layer, node, count, batch, err)
                            : rc;
}

static enum error_code infer_tile(void *context, const struct selection *selection, int layer,
                                  const struct typed_span *span, float **output, struct error *err)
{
    const struct tiles *tiles = context;
    const struct selected_inference_config *config = tiles->config;
    const struct selected_type *nodes = &selection->type[0];
    const struct model_layer *kind = &model_of(tiles)->layer[layer - 1];
    const uint32_t count = span->count;
    struct mini_batch batch = {0};
    uint32_t *index = NULL;
    arena_reset(config->arena);
    enum error_code rc =
        arena_new(config->arena, output, count * nodes->width[layer], "a layer's output", err);
    if (rc == ERROR_NONE)
        rc = draw_tile(tiles, layer, selection->ranges.part_start[span->part] + span->first, count,
                       &batch, err);
    if (rc == ERROR_NONE)
        rc = arena_new(config->arena, &index, batch.node_count, "rows of a tile", err);
    if (rc != ERROR_NONE)
        return rc;
    selection_number(selection, 0, layer - 1, batch.node, batch.node_count, index);
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    struct layer_input input = {.block = batch.hop_count ? mini_batch_block(&batch, 0) : every_row,
                                .rows = {.base = nodes->row[layer - 1],
                                         .stride = nodes->width[layer - 1],
                                         .row_index = index,
                                         .mostly_zero = layer == 1 && tiles->mostly_zero}};
    if (kind->second_input >= 0)
        rc = copy_rows(tiles, nodes, kind->second_input + 1, index, count, &input.second, err);
    if (rc == ERROR_NONE && kind->reads_all)
        rc = join_lower(tiles, nodes, layer, index, count, &input, err);
    const struct model_workspace workspace = {.arena = config->arena,
                                              .pool = config->selection.context->pool};
    return rc == ERROR_NONE ? model_infer_layer(model_of(tiles), config->weights, layer - 1, &input,
                                                &workspace, *output, err)
                            : rc;
}

static uint32_t tile_size(void *context, const struct typed_span *span, uint32_t end)
{
    const struct tiles *tiles = context;
    const struct topology_part *part = &tiles->config->selection.topology->part[span->part];
    return inference_tile_size(part, part->first_node + span->first, part->first_node + end);
}

enum error_code selected_inference_run(const struct selected_inference_config *config,
                                       struct selected_rows *out, struct error *err)
{
    struct tiles tiles = {.config = config};
    const struct selection_tiles kind = {&tiles, tile_size, infer_tile};
    const struct topology *topology = config->selection.topology;
    struct selection selection = {.target_type = 0};
    *out = (struct selected_rows){0};
    enum error_code rc = selection_find(&config->selection, &selection, err);
    if (rc == ERROR_NONE && (model_of(&tiles)->needs_degree || config->edge_use->weight_sum))
        rc = topology_open_parts(topology, config->selection.context->pool, err);
    if (rc == ERROR_NONE)
        rc = detect_zeros(&selection, &tiles.mostly_zero, err);
    if (rc == ERROR_NONE)
        rc = selection_read(&selection, err);
    if (rc == ERROR_NONE)
        rc = selection_infer(&selection, &kind, out, err);
    selection_release(&selection);
    return rc;
}
