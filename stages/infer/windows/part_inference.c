#include "stages/infer/windows/part_inference.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/rows/layer_shard.h"
#include "stages/infer/rows/temporal_inference.h"
#include "stages/infer/rows/type_inputs.h"
#include "stages/infer/windows/source_windows.h"
#include "store/features/feature_source.h"

#include <string.h>

struct part_inference {
    struct part_inference_config config;
    struct type_inputs *inputs; /* NULL: not open */
    /* rows of other lower layers that the layer reads; NULL: not read */
    struct type_inputs *other[LAYER_COUNT_MAX];
    struct source_windows *windows; /* over `inputs`; NULL: tiles read the rows of their sources */
    int input_layer;                /* the layer that reads `inputs` */
    /* The current unit. */
    const float *weights;
    int layer, part; /* from 1; from 0 */
};

enum error_code part_inference_new(const struct part_inference_config *config,
                                   struct part_inference **out, struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "inference", err);
    if (rc == ERROR_NONE)
        (*out)->config = *config;
    return rc;
}

void part_inference_close_inputs(struct part_inference *inference)
{
    if (!inference)
        return;
    source_windows_free(inference->windows);
    inference->windows = NULL;
    type_inputs_close(inference->inputs);
    inference->inputs = NULL;
    for (int l = 0; l < LAYER_COUNT_MAX; l++)
        type_inputs_close(inference->other[l]);
    memset(inference->other, 0, sizeof inference->other);
    inference->input_layer = 0;
}

void part_inference_free(struct part_inference *inference)
{
    part_inference_close_inputs(inference);
    memory_free(inference);
}

static const struct model *model_of(const struct part_inference *inference)
{
    return inference_tiles_config_of(inference->config.tiles)->model;
}

/* --- the inputs of a layer --- */

/* Returns the bytes of the rows of all layers that the layer reads. */
static uint64_t bytes_of_inputs(const struct part_inference *inference)
{
    uint64_t bytes = type_inputs_bytes(inference->inputs);
    for (int l = 0; l < LAYER_COUNT_MAX; l++)
        bytes += inference->other[l] ? type_inputs_bytes(inference->other[l]) : 0;
    return bytes;
}

static void tell_memory(const struct part_inference *inference)
{
    const struct part_inference_config *config = &inference->config;
    const struct inference_tiles_config *tiles = inference_tiles_config_of(config->tiles);
    const uint64_t bytes = bytes_of_inputs(inference) +
                           (inference->windows ? source_windows_bytes(inference->windows) : 0);
    char all[32], rows[32], tile[32];
    log_info("memory: %s, of it up to %s for neighbours and values of a tile, %s for the rows that "
             "layer %d reads, which %s",
             text_size(config->context->memory_bytes, all),
             text_size(tiles->neighbor_bytes + tiles->value_bytes, tile), text_size(bytes, rows),
             inference->input_layer,
             type_inputs_are_resident(inference->inputs) ? "all fit"
             : inference->windows                        ? "are summed in windows"
                                                         : "are read as tiles want them");
}

/* Returns whether layer `layer`, from 1, reads the rows of model.layer[other] besides those of
 * the layer below, from separate inputs. */
static bool reads_other(const struct part_inference *inference, int layer, int other)
{
    const struct model *model = model_of(inference);
    return inference_tile_reads(model, layer, other) &&
           (other < layer - 2 || model->layer[layer - 1].second_input == other);
}

/* Returns the bytes that the rows of each layer it reads may take. */
static uint64_t rows_bytes(const struct part_inference *inference, int layer)
{
    uint64_t count = 1;
    for (int l = 0; l < layer - 1; l++)
        count += reads_other(inference, layer, l);
    return inference->config.rows_bytes / count;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Returns whether sums are computed in windows. Except for attention, rows that are mostly zero
 * are multiplied before they are summed (sparse_layer.h), so they are read tile by tile. */
static bool wants_windows(const struct part_inference *inference, int layer)
{
    const struct model *model = model_of(inference);
    const bool is_sum =
        type_inputs_skip_zeros(inference->inputs) && layer_reads_sums(model, layer - 1);
    return inference->config.window_bytes && !is_sum &&
           !temporal_inference_is_wanted(inference->config.context) &&
           source_windows_are_possible(model, layer) &&
           (source_windows_are_always(model, layer) ||
            !type_inputs_are_resident(inference->inputs));
}

/* Opens the windows. Their budget is what the rows of other layers and the memory already held
 * leave. Some tiles still read rows directly; rows get the memory while windows rest. */
static enum error_code open_windows(struct part_inference *inference, int layer, struct error *err)
{
    const uint64_t rows = rows_bytes(inference, layer), held = type_inputs_bytes(inference->inputs);
    const uint64_t beside =
        inference->config.rows_bytes - rows + held + inference_tiles_bytes(inference->config.tiles);
    const struct source_windows_config config = {
        .tiles = inference->config.tiles,
        .inputs = inference->inputs,
        .weights = inference->weights,
        .layer = layer,
        .budget_bytes = difference(inference->config.window_bytes, beside)};
    if (!wants_windows(inference, layer))
        return ERROR_NONE;
    const enum error_code rc = source_windows_new(&config, &inference->windows, err);
    if (rc != ERROR_NONE || !inference->windows)
        return rc;
    const uint64_t left =
        held + difference(config.budget_bytes, source_windows_resting_bytes(inference->windows));
    type_inputs_limit(inference->inputs, left < rows ? left : rows);
    return ERROR_NONE;
}

static enum error_code open_inputs(struct part_inference *inference,
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
    part_inference_close_inputs(inference);
    enum error_code rc = type_inputs_open(&config, &inference->inputs, err);
    if (rc == ERROR_NONE)
        rc = open_windows(inference, layer, err);
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        config.layer = l + 2; /* the layer that reads the output of layer l */
        if (reads_other(inference, layer, l))
            rc = type_inputs_open(&config, &inference->other[l], err);
    }
    if (rc != ERROR_NONE)
        return rc;
    inference->input_layer = layer;
    tell_memory(inference);
    return ERROR_NONE;
}

/* --- a tile --- */

/* Reads what the tile's layer reads besides the rows of the layer below: rows of its own nodes. */
static enum error_code read_lower(struct part_inference *inference, struct inference_tile *tile,
                                  struct error *err)
{
    const struct model *model = model_of(inference);
    const float *lower[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (int l = 0; rc == ERROR_NONE && l < inference->layer - 1; l++) {
        struct type_inputs *inputs = inference->other[l] ? inference->other[l] : inference->inputs;
        float *rows = NULL;
        if (inference_tile_reads(model, inference->layer, l))
            rc = type_inputs_copy_own(inputs, tile, &rows, err);
        lower[l] = rows;
    }
    return rc == ERROR_NONE ? inference_tile_add_lower(tile, model, inference->layer, lower, err)
                            : rc;
}

/* Reads only the rows of the tile's own nodes, because its sources were summed. */
static enum error_code read_sums(struct part_inference *inference, struct inference_tile *tile,
                                 struct error *err)
{
    const uint32_t type = tile->span.type;
    const uint32_t columns = layer_reads_columns(model_of(inference), inference->layer - 1, type);
    float *own = NULL;
    const enum error_code rc = type_inputs_copy_own(inference->inputs, tile, &own, err);
    source_windows_take(inference->windows, tile);
    tile->rows[type] = (struct input_rows){.base = own, .stride = columns};
    return rc;
}

/* Computes a tile. `is_summed`: the last source_windows_sum() included it. */
static enum error_code infer_tile(struct part_inference *inference,
                                  const struct inference_span *span, bool is_summed, float **output,
                                  struct error *err)
{
    const struct stage_context *context = inference->config.context;
    struct inference_tiles *tiles = inference->config.tiles;
    struct inference_tile tile;
    enum error_code rc = is_summed
                             ? inference_tiles_gather(tiles, span, &tile, err)
                             : inference_tiles_draw(tiles, inference->layer, span, &tile, err);
    stage_times_enter(context->times, TIME_READ);
    if (rc == ERROR_NONE)
        rc = is_summed ? read_sums(inference, &tile, err)
                       : type_inputs_fetch(inference->inputs, &tile, err);
    if (rc == ERROR_NONE && !temporal_inference_is_wanted(context))
        rc = read_lower(inference, &tile, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    return rc == ERROR_NONE ? inference_tiles_compute(tiles, inference->weights, inference->layer,
                                                      &tile, output, err)
                            : rc;
}

/* --- a part --- */

/* Sums the sources of the tiles from `first` on. Windows and rows of sources share the same
 * memory in turn, so the rows are released first. */
static enum error_code sum_tiles(struct part_inference *inference,
                                 const struct inference_span *first, uint32_t end, uint32_t *summed,
                                 struct error *err)
{
    *summed = first->first;
    if (!inference->windows)
        return ERROR_NONE;
    type_inputs_rest(inference->inputs);
    const enum error_code rc = source_windows_sum(inference->windows, first, end, summed, err);
    if (rc == ERROR_NONE && *summed == first->first)
        source_windows_rest(inference->windows);
    return rc;
}

static enum error_code write_type(struct part_inference *inference, uint32_t type,
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
    for (struct inference_span span = {.type = type, .part = inference->part};
         rc == ERROR_NONE && span.first < end; span.first += span.count) {
        float *output = NULL;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        span.count =
            inference_tiles_size(inference->config.tiles, type, inference->part, span.first, end);
        if (span.first >= summed)
            rc = sum_tiles(inference, &span, end, &summed, err);
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
    struct part_inference *inference = opaque;
    const struct partition_book *book = inference->config.context->book;
    bool needed[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    model_needs(model_of(inference), inference->layer - 1, needed);
    for (uint32_t t = 0; rc == ERROR_NONE && t < partition_book_types(book); t++)
        if (needed[t]) {
            rc = write_type(inference, t, writer, err);
            if (rc != ERROR_NONE)
                rc = error_context(err, rc, "nodes of type %s", partition_book_type_name(book, t));
        }
    return rc;
}

enum error_code part_inference_run(struct part_inference *inference, const float *weights,
                                   const struct weights_identity *identity, int layer, int part,
                                   struct error *err)
{
    inference->weights = weights;
    inference->layer = layer;
    inference->part = part;
    const bool is_temporal = temporal_inference_is_wanted(inference->config.context);
    enum error_code rc = open_inputs(inference, identity, is_temporal ? 1 : layer, err);
    stage_times_enter(inference->config.context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE)
        rc = layer_shard_write(inference->config.context, identity, layer, part, write_types,
                               inference, err);
    if (rc != ERROR_NONE) /* an open input may be damaged; the retry must open it again */
        part_inference_close_inputs(inference);
    return rc;
}
