#include "stages/infer/typed_inference.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/nn/model.h"
#include "common/nn/operators/gather.h"
#include "stages/infer/layer_shard.h"
#include "stages/infer/temporal_inference.h"
#include "stages/infer/type_inputs.h"
#include "stages/infer/typed_windows.h"
#include "store/features/feature_source.h"

#include <string.h>

struct typed_inference {
    struct typed_inference_config config;
    struct type_inputs *inputs; /* NULL: none are open */
    struct type_inputs
        *other[LAYER_COUNT_MAX];   /* rows of layers below that it reads, too; NULL: not */
    struct typed_windows *windows; /* over them; NULL: tiles read their sources' rows */
    uint64_t own_bytes; /* with windows: for the rows of a tile's own nodes, and those in memory */
    int input_layer;    /* the layer that reads them */
    /* Of the unit at hand: */
    const float *weights;
    int layer, part; /* from 1; from 0 */
};

enum error_code typed_inference_new(const struct typed_inference_config *config,
                                    struct typed_inference **out, struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "inference over relations", err);
    if (rc == ERROR_NONE)
        (*out)->config = *config;
    return rc;
}

void typed_inference_close_inputs(struct typed_inference *inference)
{
    if (!inference)
        return;
    typed_windows_free(inference->windows);
    inference->windows = NULL;
    type_inputs_close(inference->inputs);
    inference->inputs = NULL;
    for (int l = 0; l < LAYER_COUNT_MAX; l++)
        type_inputs_close(inference->other[l]);
    memset(inference->other, 0, sizeof inference->other);
    inference->input_layer = 0;
}

void typed_inference_free(struct typed_inference *inference)
{
    if (!inference)
        return;
    typed_inference_close_inputs(inference);
    memory_free(inference);
}

static const struct model *model_of(const struct typed_inference *inference)
{
    return typed_tiles_config_of(inference->config.tiles)->model;
}

static void tell_memory(const struct typed_inference *inference)
{
    const struct typed_inference_config *config = &inference->config;
    const struct typed_tiles_config *tiles = typed_tiles_config_of(config->tiles);
    char all[32], rows[32], tile[32];
    log_info("memory: %s, of it up to %s for neighbours and values of a tile, %s for the rows that "
             "layer %d reads, which %s",
             text_size(config->context->memory_bytes, all),
             text_size(tiles->neighbor_bytes + tiles->value_bytes, tile),
             text_size(type_inputs_bytes(inference->inputs), rows), inference->input_layer,
             type_inputs_are_resident(inference->inputs) ? "all fit"
             : inference->windows                        ? "are summed in windows"
                                                         : "are read as tiles want them");
}

/* Whether layer `layer`, from 1, reads the rows of model.layer[other] beside those of the layer
 * below it. */
static bool reads_other(const struct typed_inference *inference, int layer, int other)
{
    const struct model_layer *own = &model_of(inference)->layer[layer - 1];
    return own->second_input == other || (own->reads_all && other < layer - 2);
}

/* Returns the bytes that the rows of one of the layers that it reads may take. */
static uint64_t rows_bytes(const struct typed_inference *inference, int layer)
{
    uint64_t count = 1;
    for (int l = 0; l < layer - 1; l++)
        count += reads_other(inference, layer, l);
    return inference->config.rows_bytes / count;
}

/* What the budget has beside the rows of a tile's own nodes. */
static enum error_code open_windows(struct typed_inference *inference, int layer, struct error *err)
{
    const uint64_t all = rows_bytes(inference, layer);
    inference->own_bytes = type_inputs_need(inference->inputs, TYPED_TILE_NODES);
    const struct typed_windows_config config = {
        .tiles = inference->config.tiles,
        .inputs = inference->inputs,
        .layer = layer,
        .budget_bytes = all > inference->own_bytes ? all - inference->own_bytes : 0};
    return temporal_inference_is_wanted(inference->config.context) ||
                   type_inputs_are_resident(inference->inputs) ||
                   !typed_windows_are_possible(model_of(inference), layer) || !config.budget_bytes
               ? ERROR_NONE
               : typed_windows_new(&config, &inference->windows, err);
}

static enum error_code open_inputs(struct typed_inference *inference,
                                   const struct weights_identity *identity, int layer,
                                   struct error *err)
{
    const struct stage_context *context = inference->config.context;
    struct type_inputs_config config = {.context = context,
                                        .model = model_of(inference),
                                        .identity = identity,
                                        .layer = layer,
                                        .budget_bytes = rows_bytes(inference, layer)};
    if (inference->input_layer == layer)
        return ERROR_NONE;
    typed_inference_close_inputs(inference);
    enum error_code rc = type_inputs_open(&config, &inference->inputs, err);
    if (rc == ERROR_NONE)
        rc = open_windows(inference, layer, err);
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        config.layer = l + 2; /* which reads what that layer gives */
        if (reads_other(inference, layer, l))
            rc = type_inputs_open(&config, &inference->other[l], err);
    }
    if (rc != ERROR_NONE)
        return rc;
    inference->input_layer = layer;
    tell_memory(inference);
    return ERROR_NONE;
}

static size_t place_of(const struct input_rows *rows, uint32_t i)
{
    return rows->row_index ? rows->row_index[i] : i;
}

/* Copies the rows of the tile's own nodes, the first of its type. */
static enum error_code copy_own(const struct typed_tile *tile, const struct input_rows *found,
                                size_t dim, float **out, struct error *err)
{
    const enum error_code rc =
        arena_new(tile->arena, out, tile->span.count * dim, "rows of a tile", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < tile->span.count; i++)
        memcpy(*out + i * dim, (const float *)found->base + place_of(found, i) * found->stride,
               dim * sizeof **out);
    return rc;
}

/* Fetches what the layers below gave of the tile's own nodes: that of `layer` [count, its
 * width]. */
static enum error_code fetch_other(struct typed_inference *inference, const struct typed_tile *tile,
                                   int layer, float **out, struct error *err)
{
    const size_t dim = model_layer_output_dim(model_of(inference), layer);
    const uint32_t type = tile->span.type;
    struct typed_tile own = {.span = tile->span, .arena = tile->arena};
    own.destinations[type] = tile->span.count;
    if (!inference->other[layer]) /* the layer right below */
        return copy_own(tile, &tile->rows[type], dim, out, err);
    const enum error_code rc = type_inputs_fetch(inference->other[layer], &own, err);
    return rc == ERROR_NONE ? copy_own(tile, &own.rows[type], dim, out, err) : rc;
}

/* Fetches what the tile's layer reads beside the rows of the layer below it. */
static enum error_code fetch_others(struct typed_inference *inference, struct typed_tile *tile,
                                    struct error *err)
{
    const struct model *model = model_of(inference);
    const struct model_layer *own = &model->layer[inference->layer - 1];
    const uint32_t type = tile->span.type;
    float *rows[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (int l = 0; rc == ERROR_NONE && l < inference->layer - 1; l++)
        if (own->reads_all || own->second_input == l)
            rc = fetch_other(inference, tile, l, &rows[l], err);
    if (own->second_input >= 0) {
        tile->start[type] = rows[own->second_input];
        tile->has_start = true;
    }
    return rc == ERROR_NONE && own->reads_all
               ? typed_tile_join(tile, model, (const float *const *)(const void *)rows, err)
               : rc;
}

/* `is_summed`: it is among those that typed_windows_sum() was asked for. */
static enum error_code infer_tile(struct typed_inference *inference, const struct typed_span *span,
                                  bool is_summed, float **output, struct error *err)
{
    const struct stage_context *context = inference->config.context;
    struct typed_tiles *tiles = inference->config.tiles;
    struct typed_tile tile;
    enum error_code rc = typed_tiles_draw(tiles, inference->layer, span, &tile, err);
    stage_times_enter(context->times, TIME_READ);
    if (rc == ERROR_NONE && is_summed)
        rc = typed_windows_take(inference->windows, &tile, err);
    if (rc == ERROR_NONE)
        rc = type_inputs_fetch(inference->inputs, &tile, err);
    if (rc == ERROR_NONE && !temporal_inference_is_wanted(context))
        rc = fetch_others(inference, &tile, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    return rc == ERROR_NONE ? typed_tiles_compute(tiles, inference->weights, inference->layer,
                                                  &tile, output, err)
                            : rc;
}

/* --- a part --- */

/* Sums for the tiles from `first` on, whose memory is that of rows of sources else. */
static enum error_code sum_tiles(struct typed_inference *inference, const struct typed_span *first,
                                 uint32_t *summed, struct error *err)
{
    *summed = first->first;
    if (!inference->windows)
        return ERROR_NONE;
    type_inputs_limit(inference->inputs, inference->own_bytes);
    const enum error_code rc =
        typed_windows_sum(inference->windows, first->type, first->part, first->first, summed, err);
    if (rc != ERROR_NONE || *summed > first->first)
        return rc;
    typed_windows_rest(inference->windows);
    type_inputs_limit(inference->inputs, rows_bytes(inference, inference->layer));
    return ERROR_NONE;
}

static enum error_code write_type(struct typed_inference *inference, uint32_t type,
                                  struct feature_shard_writer *writer, struct error *err)
{
    const struct stage_context *context = inference->config.context;
    const struct type_ranges ranges = partition_book_ranges(context->book);
    const uint32_t end = type_ranges_count(&ranges, inference->part, type);
    struct tensor_spec tensor = {
        .type = TENSOR_F32,
        .dim = model_layer_output_dim(model_of(inference), inference->layer - 1),
        .row_count = end};
    layer_tensor_of_type(type, tensor.name);
    uint32_t summed = 0; /* rows before it have sums */
    enum error_code rc = feature_shard_writer_begin(writer, &tensor, err);
    for (struct typed_span span = {.type = type, .part = inference->part};
         rc == ERROR_NONE && span.first < end; span.first += span.count) {
        float *output = NULL;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        span.count =
            typed_tiles_size(inference->config.tiles, type, inference->part, span.first, end);
        if (span.first >= summed)
            rc = sum_tiles(inference, &span, &summed, err);
        if (rc == ERROR_NONE)
            rc = infer_tile(inference, &span, span.first < summed, &output, err);
        stage_times_enter(context->times, TIME_WRITE);
        if (rc == ERROR_NONE)
            rc = feature_shard_writer_add(writer, output, span.count, err);
        stage_times_enter(context->times, TIME_COMPUTE);
    }
    return rc;
}

static enum error_code write_types(void *opaque, struct feature_shard_writer *writer,
                                   struct error *err)
{
    struct typed_inference *inference = opaque;
    const struct partition_book *book = inference->config.context->book;
    bool needed[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    model_needs(model_of(inference), inference->layer - 1, needed);
    for (uint32_t t = 0; rc == ERROR_NONE && t < partition_book_types(book); t++)
        if (needed[t]) {
            rc = write_type(inference, t, writer, err);
            if (rc != ERROR_NONE)
                rc = error_context(err, rc, "nodes of type %s", book->type_name[t]);
        }
    return rc;
}

enum error_code typed_inference_run(struct typed_inference *inference, const float *weights,
                                    const struct weights_identity *identity, int layer, int part,
                                    struct error *err)
{
    inference->weights = weights;
    inference->layer = layer;
    inference->part = part;
    const bool is_temporal = temporal_inference_is_wanted(inference->config.context);
    enum error_code rc = open_inputs(inference, identity, is_temporal ? 1 : layer, err);
    if (rc == ERROR_NONE)
        rc = layer_shard_write(inference->config.context, identity, layer, part, write_types,
                               inference, err);
    if (rc != ERROR_NONE) /* what was open may be what was damaged, and is made again meanwhile */
        typed_inference_close_inputs(inference);
    return rc;
}
