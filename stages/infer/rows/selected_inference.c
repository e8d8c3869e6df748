#include "stages/infer/rows/selected_inference.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"

#include <string.h>

/* --- a tile --- */

/* Finds the rows that the layer below computed for the nodes of a tile. */
static enum error_code find_rows(const struct selection *s, int layer, struct inference_tile *tile,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < s->ranges.type_count; t++) {
        const struct selected_type *own = &s->type[t];
        const uint32_t count = inference_tile_count(tile, t);
        uint32_t *index = NULL;
        tile->rows[t] = (struct input_rows){.base = own->row[layer - 1],
                                            .stride = own->width[layer - 1],
                                            .mostly_zero = layer == 1 && own->mostly_zero};
        if (count == 0)
            continue;
        rc = arena_new(tile->arena, &index, count, "rows of a tile", err);
        if (rc == ERROR_NONE)
            inference_tile_nodes(tile, &s->ranges, t, index);
        if (rc == ERROR_NONE)
            selection_number(s, t, layer - 1, index, count, index);
        tile->rows[t].row_index = index;
    }
    return rc;
}

/* Copies the output of layer `lower`, from 0, for the tile's own nodes, which are the first of
 * their type. */
static enum error_code copy_lower(const struct selection *s, int lower,
                                  const struct inference_tile *tile, float **out, struct error *err)
{
    const struct selected_type *own = &s->type[tile->span.type];
    const uint32_t *index = tile->rows[tile->span.type].row_index;
    const size_t width = own->width[lower + 1];
    const enum error_code rc =
        arena_new(tile->arena, out, tile->span.count * width, "rows of a tile", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < tile->span.count; i++)
        memcpy(*out + i * width, own->row[lower + 1] + index[i] * width, width * sizeof **out);
    return rc;
}

/* Finds what layer `layer`, from 1, reads besides the rows of the layer below it. */
static enum error_code find_lower(const struct selection *s, int layer, struct inference_tile *tile,
                                  struct error *err)
{
    const float *lower[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        float *rows = NULL;
        if (inference_tile_reads(s->of->model, layer, l))
            rc = copy_lower(s, l, tile, &rows, err);
        lower[l] = rows;
    }
    return rc == ERROR_NONE ? inference_tile_add_lower(tile, s->of->model, layer, lower, err) : rc;
}

static enum error_code infer_tile(const struct selection *s, int layer,
                                  const struct inference_span *span, float **output,
                                  struct error *err)
{
    struct inference_tiles *tiles = s->config.tiles;
    struct inference_tile tile;
    enum error_code rc = inference_tiles_draw(tiles, layer, span, &tile, err);
    if (rc == ERROR_NONE)
        rc = find_rows(s, layer, &tile, err);
    if (rc == ERROR_NONE)
        rc = find_lower(s, layer, &tile, err);
    return rc == ERROR_NONE
               ? inference_tiles_compute(tiles, s->config.weights, layer, &tile, output, err)
               : rc;
}

/* --- all tiles --- */

/* Copies the needed rows of a tile to the selection. `output` NULL: copies nothing. Returns
 * whether the tile has needed nodes. */
static bool keep_tile(struct selection *s, int layer, const struct inference_span *span,
                      const float *output)
{
    const struct selected_type *own = &s->type[span->type];
    const size_t width = own->width[layer];
    const uint32_t first = type_ranges_first(&s->ranges, span->part, span->type) + span->first;
    bool found = false;
    for (uint32_t i = 0; i < span->count; i++) {
        const uint32_t number = s->number[first + i];
        found |= number < own->end[layer];
        if (output && number < own->end[layer])
            memcpy(own->row[layer] + number * width, output + i * width, width * sizeof *output);
    }
    return found;
}

static enum error_code infer_part(struct selection *s, int layer, uint32_t type, int part,
                                  struct error *err)
{
    const uint32_t end = type_ranges_count(&s->ranges, part, type);
    struct inference_span span = {.type = type, .part = part};
    enum error_code rc = ERROR_NONE;
    for (; rc == ERROR_NONE && span.first < end; span.first += span.count) {
        float *output = NULL;
        span.count = inference_tiles_size(s->config.tiles, type, part, span.first, end);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        if (!keep_tile(s, layer, &span, NULL))
            continue;
        rc = infer_tile(s, layer, &span, &output, err);
        if (rc == ERROR_NONE)
            (void)keep_tile(s, layer, &span, output);
    }
    return rc;
}

/* Computes all layers and moves their rows to *out. */
static enum error_code infer_layers(struct selection *s, struct selected_rows *out,
                                    struct error *err)
{
    const int layers = s->of->model->config.layer_count;
    struct selected_type *target = &s->type[s->of->context->book->target_type];
    enum error_code rc = ERROR_NONE;
    for (int layer = 1; layer <= layers; layer++)
        for (uint32_t t = 0; t < s->ranges.type_count; t++)
            for (int part = 0; rc == ERROR_NONE && part < s->ranges.part_count; part++)
                if (s->type[t].end[layer] && s->is_open[part])
                    rc = infer_part(s, layer, t, part, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(out->row, target->row, sizeof out->row);
    memset(target->row, 0, sizeof target->row);
    return ERROR_NONE;
}

enum error_code selected_inference_run(const struct selection_config *config,
                                       struct selected_rows *out, struct error *err)
{
    struct selection selection = {.of = NULL};
    *out = (struct selected_rows){0};
    enum error_code rc = selection_find(config, &selection, err);
    if (rc == ERROR_NONE && inference_tiles_ask_sources(config->tiles))
        rc = topology_open_parts(selection.of->topology, selection.of->context->pool, err);
    if (rc == ERROR_NONE)
        rc = selection_read(&selection, err);
    if (rc == ERROR_NONE)
        rc = infer_layers(&selection, out, err);
    selection_release(&selection);
    return rc;
}

void selected_rows_release(struct selected_rows *rows)
{
    for (int layer = 0; layer <= LAYER_COUNT_MAX; layer++)
        memory_free(rows->row[layer]);
    *rows = (struct selected_rows){0};
}
