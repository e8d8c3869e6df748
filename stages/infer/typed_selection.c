#include "stages/infer/typed_selection.h"

#include <string.h>

struct tiles {
    struct typed_tiles *of;
    const float *weights;
};

/* What the layer below gives of the nodes of a tile. */
static enum error_code find_rows(const struct selection *selection, int layer,
                                 struct typed_tile *tile, struct error *err)
{
    const struct mini_batch *batch = &tile->batch;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < selection->ranges.type_count; t++) {
        const struct selected_type *own = &selection->type[t];
        const uint32_t count = batch->type_count ? tile->sources[t] : tile->destinations[t];
        uint32_t *index = NULL;
        tile->rows[t] =
            (struct input_rows){.base = own->row[layer - 1], .stride = own->width[layer - 1]};
        if (count == 0)
            continue;
        rc = arena_new(tile->arena, &index, count, "rows of a tile", err);
        if (rc == ERROR_NONE)
            typed_tile_nodes(tile, &selection->ranges, t, index);
        if (rc == ERROR_NONE)
            selection_number(selection, t, layer - 1, index, count, index);
        tile->rows[t].row_index = index;
    }
    return rc;
}

/* Copies what layer `other`, from 0, gave of the tile's own nodes, the first of its type. */
static enum error_code copy_other(const struct selection *selection, int other,
                                  const struct typed_tile *tile, float **out, struct error *err)
{
    const uint32_t type = tile->span.type;
    const struct selected_type *own = &selection->type[type];
    const size_t dim = own->width[other + 1];
    const enum error_code rc =
        arena_new(tile->arena, out, tile->span.count * dim, "rows of a tile", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < tile->span.count; i++)
        memcpy(*out + i * dim, own->row[other + 1] + tile->rows[type].row_index[i] * dim,
               dim * sizeof **out);
    return rc;
}

/* Finds what layer `layer`, from 1, reads beside the rows of the layer below it. */
static enum error_code find_others(const struct selection *selection, int layer,
                                   struct typed_tile *tile, struct error *err)
{
    const struct model *model = selection->config.model;
    const struct model_layer *own = &model->layer[layer - 1];
    float *rows[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++)
        if (own->reads_all || own->second_input == l)
            rc = copy_other(selection, l, tile, &rows[l], err);
    if (own->second_input >= 0) {
        tile->start[tile->span.type] = rows[own->second_input];
        tile->has_start = true;
    }
    return rc == ERROR_NONE && own->reads_all
               ? typed_tile_join(tile, model, (const float *const *)(const void *)rows, err)
               : rc;
}

static enum error_code infer_tile(void *context, const struct selection *selection, int layer,
                                  const struct typed_span *span, float **output, struct error *err)
{
    const struct tiles *tiles = context;
    struct typed_tile tile;
    enum error_code rc = typed_tiles_draw(tiles->of, layer, span, &tile, err);
    if (rc == ERROR_NONE)
        rc = find_rows(selection, layer, &tile, err);
    if (rc == ERROR_NONE)
        rc = find_others(selection, layer, &tile, err);
    return rc == ERROR_NONE
               ? typed_tiles_compute(tiles->of, tiles->weights, layer, &tile, output, err)
               : rc;
}

static uint32_t tile_size(void *context, const struct typed_span *span, uint32_t end)
{
    const struct tiles *tiles = context;
    return typed_tiles_size(tiles->of, span->type, span->part, span->first, end);
}

enum error_code typed_selection_run(const struct selection_config *config,
                                    struct typed_tiles *tiles, const float *weights,
                                    struct selected_rows *out, struct error *err)
{
    struct tiles of = {tiles, weights};
    const struct selection_tiles kind = {&of, tile_size, infer_tile};
    struct selection selection = {.target_type = 0};
    *out = (struct selected_rows){0};
    enum error_code rc = selection_find(config, &selection, err);
    if (rc == ERROR_NONE && config->model->divides_by_ends) /* of sources in any part */
        rc = topology_open_parts(config->topology, config->context->pool, err);
    if (rc == ERROR_NONE)
        rc = selection_read(&selection, err);
    if (rc == ERROR_NONE)
        rc = selection_infer(&selection, &kind, out, err);
    selection_release(&selection);
    return rc;
}
