#include "stages/infer/part_inference.h"

#include "common/base/stop_signal.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/inference_tile.h"
#include "stages/infer/layer_shard.h"
#include "stages/infer/temporal_inference.h"

#include <stdio.h>
#include <string.h>

static uint32_t temporal_tile_size(uint32_t first, uint32_t end)
{
    return end - first < TEMPORAL_TILE_NODES ? end - first : TEMPORAL_TILE_NODES;
}

/* The neighbourhoods of `count` nodes, or those nodes alone for a layer that uses no edges. */
static enum error_code draw_tile(struct part_inference *inference, int layer, const uint32_t *node,
                                 uint32_t count, struct mini_batch *batch, struct error *err)
{
    return inference_tile_draw(inference->sampler, inference->model, &inference->edge_use, layer,
                               node, count, batch, err);
}

/* Rows of these nodes side by side, in the arena. */
static enum error_code fetch_rows(struct part_inference *inference, struct feature_source *source,
                                  const uint32_t *node, uint32_t count, float **out,
                                  struct error *err)
{
    struct feature_rows rows = {0};
    enum error_code rc = feature_source_fetch(source, node, count, &rows, err);
    if (rc == ERROR_NONE)
        rc = arena_new(inference->arena, out, (size_t)count * rows.dim, "rows of a layer", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        memcpy(*out + (size_t)i * rows.dim,
               (const float *)rows.base + (rows.row_index ? rows.row_index[i] : i) * rows.stride,
               rows.dim * sizeof **out);
    return rc;
}

/* What the layer reads of these nodes beside the layer below. */
static enum error_code fetch_second(struct part_inference *inference, const uint32_t *node,
                                    uint32_t count, const float **out, struct error *err)
{
    float *copy = NULL;
    const enum error_code rc =
        inference->second ? fetch_rows(inference, inference->second, node, count, &copy, err)
                          : ERROR_NONE;
    *out = copy;
    return rc;
}

/* Of a layer that reads all layers below: their rows of these nodes joined, in place of those of the layer below. */
static enum error_code join_lower(struct part_inference *inference, int layer, const uint32_t *node,
                                  uint32_t count, struct feature_rows *rows, struct error *err)
{
    const struct model *model = inference->model;
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    if (!model->layer[layer - 1].reads_all)
        return ERROR_NONE;
    const uint32_t width = model_layer_input_dim(model, layer - 1);
    enum error_code rc =
        arena_new(inference->arena, &joined, (size_t)count * width, "joined layers", err);
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        struct feature_source *source = l < layer - 2 ? inference->lower[l] : inference->input;
        float *copy = NULL;
        rc = fetch_rows(inference, source, node, count, &copy, err);
        lower[l] = copy;
        stride[l] = model_layer_output_dim(model, l);
    }
    if (rc == ERROR_NONE)
        model_join_rows(model, lower, stride, count, joined);
    *rows = (struct feature_rows){.base = joined, .stride = width, .dim = width};
    return rc;
}

/* The nodes of a tile, and room for what the layer gives of them. */
static enum error_code new_tile(struct part_inference *inference, int layer, uint32_t first,
                                uint32_t count, uint32_t **node, float **output, struct error *err)
{
    const size_t width = model_layer_output_dim(inference->model, layer - 1);
    const enum error_code rc = inference_tile_nodes(inference->arena, first, count, node, err);
    return rc == ERROR_NONE
               ? arena_new(inference->arena, output, count * width, "a layer's output", err)
               : rc;
}

static enum error_code infer_tile(struct part_inference *inference, int layer, uint32_t first,
                                  uint32_t count, float **output, struct error *err)
{
    uint32_t *node = NULL;
    struct mini_batch batch = {0};
    struct feature_rows rows = {0};
    const float *second = NULL;
    enum error_code rc = new_tile(inference, layer, first, count, &node, output, err);
    if (rc == ERROR_NONE)
        rc = draw_tile(inference, layer, node, count, &batch, err);
    stage_times_enter(inference->context->times, TIME_READ);
    if (rc == ERROR_NONE)
        rc = fetch_second(inference, node, count, &second, err);
    if (rc == ERROR_NONE)
        rc = feature_source_fetch(inference->input, batch.node, batch.node_count, &rows, err);
    if (rc == ERROR_NONE)
        rc = join_lower(inference, layer, node, count, &rows, err);
    stage_times_enter(inference->context->times, TIME_COMPUTE);
    stage_times_add_rows(inference->context->times, batch.node_count,
                         batch.node_count * (uint64_t)rows.dim * sizeof(float));
    if (rc != ERROR_NONE)
        return rc;
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    struct layer_input input = {.block = batch.hop_count ? mini_batch_block(&batch, 0) : every_row,
                                .rows = {.base = rows.base,
                                         .stride = rows.stride,
                                         .row_index = rows.row_index,
                                         .mostly_zero = inference->mostly_zero},
                                .second = second};
    const struct model_workspace workspace = {.arena = inference->arena,
                                              .pool = inference->context->pool};
    return model_infer_layer(inference->model, inference->weights, layer - 1, &input, &workspace,
                             *output, err);
}

/* The edges of a tile, as far as they count once their rows were summed: how many each destination has, and which are
 * from itself. All others are from row `count`, which is not there. */
static enum error_code edges_of_tile(const struct part_inference *inference, int part,
                                     uint32_t first, uint32_t count, struct message_block *out,
                                     struct error *err)
{
    const struct topology_part *rows = &inference->topology->part[part];
    const uint32_t row = first - rows->first_node;
    const uint64_t from = topology_row_start(rows, row);
    const bool is_weighted = inference->edge_use.columns >> EDGE_WEIGHT & 1;
    uint32_t *row_start = NULL, *neighbor = NULL, *degree = NULL;
    float *value = NULL, *value_sum = NULL;
    enum error_code rc =
        arena_new(inference->arena, &row_start, (size_t)count + 1, "rows of a tile", err);
    if (rc == ERROR_NONE)
        rc = arena_new(inference->arena, &neighbor,
                       (size_t)(topology_row_start(rows, row + count) - from), "edges of a tile",
                       err);
    if (rc == ERROR_NONE)
        rc = arena_new(inference->arena, &degree, (size_t)count + 1, "degrees of a tile", err);
    if (rc == ERROR_NONE && is_weighted)
        rc = arena_new(inference->arena, &value,
                       (size_t)(topology_row_start(rows, row + count) - from), "weights of a tile",
                       err);
    if (rc == ERROR_NONE && inference->edge_use.weight_sum)
        rc = arena_new(inference->arena, &value_sum, (size_t)count + 1, "weights of a tile", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; value_sum && i < count; i++)
        value_sum[i] = *topology_weight_sum(rows, row + i);
    if (value_sum)
        value_sum[count] = 0;
    row_start[0] = degree[count] = 0;
    for (uint32_t i = 0; i < count; i++) {
        row_start[i + 1] = (uint32_t)(topology_row_start(rows, row + i + 1) - from);
        degree[i] = topology_degree(rows, row + i, inference->has_self_loops);
        for (uint32_t e = row_start[i]; e < row_start[i + 1]; e++)
            neighbor[e] = *topology_neighbor(rows, from + e) == first + i ? i : count;
    }
    for (uint32_t e = 0; value && e < row_start[count]; e++)
        memcpy(&value[e], topology_column(rows, EDGE_WEIGHT, from + e), sizeof *value);
    *out = (struct message_block){.destination_count = count,
                                  .source_count = count + 1,
                                  .row_start = row_start,
                                  .neighbor = neighbor,
                                  .degree = degree,
                                  .edge_value = value,
                                  .value_sum = value_sum};
    return ERROR_NONE;
}

/* As infer_tile(), from the sums of the rows of its sources. */
static enum error_code infer_summed_tile(struct part_inference *inference, int layer, int part,
                                         uint32_t first, uint32_t count, const float *sum,
                                         float **output, struct error *err)
{
    const uint32_t dim = model_layer_input_dim(inference->model, layer - 1);
    struct layer_input input = {0};
    uint32_t *node = NULL;
    float *own = NULL;
    enum error_code rc = new_tile(inference, layer, first, count, &node, output, err);
    if (rc == ERROR_NONE)
        rc = fetch_second(inference, node, count, &input.second, err);
    if (rc == ERROR_NONE)
        rc = arena_new(inference->arena, &own, (size_t)count * dim, "rows of a tile", err);
    if (rc == ERROR_NONE)
        rc = edges_of_tile(inference, part, first, count, &input.block, err);
    if (rc == ERROR_NONE)
        rc = feature_source_read(inference->input, first, first + count, own, err);
    input.rows = (struct input_rows){.base = own, .stride = dim};
    const struct model_workspace workspace = {.arena = inference->arena,
                                              .pool = inference->context->pool};
    return rc == ERROR_NONE ? model_infer_sums(inference->model, inference->weights, layer - 1,
                                               &input, sum, &workspace, *output, err)
                            : rc;
}

/* Whether a tile is summed in windows, which for attention goes by how many sources it has. */
static enum error_code tile_is_summed(struct part_inference *inference, int layer, uint32_t first,
                                      uint32_t count, bool *out, struct error *err)
{
    struct mini_batch batch = {0};
    uint32_t *node = NULL;
    *out = inference->windows != NULL;
    if (!inference->windows || !source_windows_choose(inference->windows))
        return ERROR_NONE;
    arena_reset(inference->arena);
    enum error_code rc = inference_tile_nodes(inference->arena, first, count, &node, err);
    if (rc == ERROR_NONE)
        rc = draw_tile(inference, layer, node, count, &batch, err);
    if (rc == ERROR_NONE)
        *out = source_windows_take(inference->windows, count, batch.node_count);
    return rc;
}

/* The sums of whole tiles from `first` on that are summed, as many as there is room for; *end is `first` when that one is
 * not. */
static enum error_code sum_tiles(struct part_inference *inference, int layer, int part,
                                 uint32_t first, uint32_t *end, const float **sum,
                                 struct error *err)
{
    const uint32_t part_end = inference->topology->book[part + 1];
    const uint32_t room = source_windows_destinations(inference->windows);
    const size_t row_bytes = feature_source_row_bytes(inference->input);
    uint64_t row_count = 0;
    enum error_code rc = ERROR_NONE;
    *end = first;
    while (*end < part_end) {
        const uint32_t count =
            inference_tile_size(&inference->topology->part[part], *end, part_end);
        bool is_summed = false;
        if (*end + count - first > room)
            break;
        rc = tile_is_summed(inference, layer, *end, count, &is_summed, err);
        if (rc != ERROR_NONE || !is_summed)
            break;
        *end += count;
    }
    feature_source_rest(inference->input);
    if (rc == ERROR_NONE && *end > first)
        rc = source_windows_sum(inference->windows, part, first, *end, sum, &row_count, err);
    stage_times_add_rows(inference->context->times, row_count, row_count * row_bytes);
    return rc;
}

static enum error_code add_rows(const struct part_inference *inference,
                                struct feature_shard_writer *writer, const float *output,
                                uint32_t count, struct error *err)
{
    stage_times_enter(inference->context->times, TIME_WRITE);
    const enum error_code rc = feature_shard_writer_add(writer, output, count, err);
    stage_times_enter(inference->context->times, TIME_COMPUTE);
    return rc;
}

static enum error_code write_tiles(struct part_inference *inference, int layer, int part,
                                   struct feature_shard_writer *writer, struct error *err)
{
    const uint32_t begin = inference->topology->book[part];
    const uint32_t end = inference->topology->book[part + 1];
    struct tensor_spec tensor = {.type = TENSOR_F32,
                                 .dim = model_layer_output_dim(inference->model, layer - 1),
                                 .row_count = end - begin};
    (void)snprintf(tensor.name, sizeof tensor.name, "%s", layer_tensor);
    const size_t width = inference->windows ? source_windows_width(inference->windows) : 0;
    uint32_t summed = begin, sums_begin = begin; /* whose sums are there */
    const float *sum = NULL;
    enum error_code rc = feature_shard_writer_begin(writer, &tensor, err);
    for (uint32_t first = begin, count = 0; rc == ERROR_NONE && first < end; first += count) {
        float *output = NULL;
        count = inference->is_temporal
                    ? temporal_tile_size(first, end)
                    : inference_tile_size(&inference->topology->part[part], first, end);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        if (inference->windows && first >= summed) {
            sums_begin = first;
            rc = sum_tiles(inference, layer, part, first, &summed, &sum, err);
            if (rc != ERROR_NONE)
                return rc;
        }
        arena_reset(inference->arena);
        if (inference->windows && first >= summed)
            source_windows_rest(inference->windows);
        rc = inference->is_temporal
                 ? temporal_inference_tile(inference, layer, first, count, &output, err)
             : first < summed ? infer_summed_tile(inference, layer, part, first, count,
                                                  sum + (first - sums_begin) * width, &output, err)
                              : infer_tile(inference, layer, first, count, &output, err);
        if (rc == ERROR_NONE)
            rc = add_rows(inference, writer, output, count, err);
    }
    return rc;
}

struct part_filler {
    struct part_inference *inference;
    int layer, part;
};

static enum error_code fill_part(void *opaque, struct feature_shard_writer *writer,
                                 struct error *err)
{
    const struct part_filler *filler = opaque;
    return write_tiles(filler->inference, filler->layer, filler->part, writer, err);
}

enum error_code part_inference_run(struct part_inference *inference, int layer, int part,
                                   struct error *err)
{
    struct part_filler filler = {inference, layer, part};
    return layer_shard_write(inference->context, inference->identity, layer, part, fill_part,
                             &filler, err);
}
