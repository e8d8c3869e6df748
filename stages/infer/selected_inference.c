#include "stages/infer/selected_inference.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/inference_tile.h"
#include "stages/plan/sparse_features.h"
#include "stages/sampling/graph_row.h"
#include "store/features/feature_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t nobody = UINT32_MAX;

struct selection {
    const struct selected_inference_config *config;
    uint32_t *number; /* [nodes of the graph]; nobody: not asked for */
    uint32_t *node;   /* [count], by number */
    size_t count, capacity;
    bool *is_open;                     /* [parts]: it has nodes that are asked for */
    uint32_t end[LAYER_COUNT_MAX + 1]; /* nodes of the features, of each layer */
    size_t width[LAYER_COUNT_MAX + 1]; /* of rows, likewise */
    float *row[LAYER_COUNT_MAX + 1];   /* [end, width] */
    bool mostly_zero;
};

/* --- who is asked for --- */

static enum error_code enter(struct selection *s, uint32_t node, struct error *err)
{
    const struct topology *topology = s->config->topology;
    if (node >= topology->node_count)
        return error_set(err, ERROR_CORRUPT, "node %" PRIu32 ": expected below %" PRIu32, node,
                         topology->node_count);
    if (s->number[node] != nobody)
        return ERROR_NONE;
    const int part = topology_part_of(topology, node);
    enum error_code rc = memory_grow(&s->node, &s->capacity, s->count + 1, "nodes", err);
    if (rc == ERROR_NONE && !s->is_open[part])
        rc = topology_open_part(topology, part, err);
    if (rc != ERROR_NONE)
        return rc;
    s->is_open[part] = true;
    s->number[node] = (uint32_t)s->count;
    s->node[s->count++] = node;
    return ERROR_NONE;
}

static enum error_code enter_neighbors(struct selection *s, uint32_t node, struct error *err)
{
    struct graph_row row;
    enum error_code rc = graph_row_of(s->config->topology, node, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t neighbor = 0;
        rc = graph_row_neighbor(s->config->topology, &row, k, &neighbor, err);
        if (rc == ERROR_NONE)
            rc = enter(s, neighbor, err);
    }
    return rc;
}

static enum error_code find_nodes(struct selection *s, struct error *err)
{
    const struct selected_inference_config *config = s->config;
    const int layers = config->model->config.layer_count;
    uint32_t expanded = 0; /* whose neighbours are in */
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < config->count; i++)
        rc = enter(s, config->node[i], err);
    for (int layer = layers; rc == ERROR_NONE && layer > 0; layer--) {
        s->end[layer] = (uint32_t)s->count;
        while (rc == ERROR_NONE && config->model->layer[layer - 1].type->uses_edges &&
               expanded < s->end[layer])
            rc = enter_neighbors(s, s->node[expanded++], err);
    }
    s->end[0] = (uint32_t)s->count;
    return rc == ERROR_NONE && (config->model->needs_degree || config->edge_use->weight_sum)
               ? topology_open_parts(config->topology, config->context->pool, err)
               : rc;
}

/* --- their features --- */

static int by_node(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Those of `sorted` [count], each block of the shards once, into the rows of their numbers. */
static enum error_code read_blocks(struct selection *s, struct feature_source *features,
                                   const uint32_t *sorted, float *block, struct error *err)
{
    const size_t width = s->width[0];
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0, next = 0; rc == ERROR_NONE && i < s->count; i = next) {
        const uint32_t first = sorted[i], end = feature_source_block_end(features, first);
        for (next = i; next < s->count && sorted[next] < end; next++)
            ;
        rc = feature_source_read(features, first, sorted[next - 1] + 1, block, err);
        for (size_t k = i; rc == ERROR_NONE && k < next; k++)
            memcpy(s->row[0] + s->number[sorted[k]] * width, block + (sorted[k] - first) * width,
                   width * sizeof *block);
    }
    return rc;
}

static uint32_t longest_block(const struct feature_source *features, const uint32_t *sorted,
                              size_t count)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t length = feature_source_block_end(features, sorted[i]) - sorted[i];
        longest = length > longest ? length : longest;
    }
    return longest;
}

static enum error_code read_features(struct selection *s, struct feature_source *features,
                                     struct error *err)
{
    uint32_t *sorted = NULL;
    float *block = NULL;
    enum error_code rc = memory_new(&sorted, s->count, "nodes", err);
    if (rc == ERROR_NONE) {
        memcpy(sorted, s->node, s->count * sizeof *sorted);
        qsort(sorted, s->count, sizeof *sorted, by_node);
        rc = memory_new(&block, longest_block(features, sorted, s->count) * s->width[0],
                        "a block of features", err);
    }
    if (rc == ERROR_NONE)
        rc = read_blocks(s, features, sorted, block, err);
    memory_free(sorted);
    memory_free(block);
    return rc;
}

static enum error_code open_features(const struct selection *s, struct feature_source **out,
                                     struct error *err)
{
    const struct stage_context *context = s->config->context;
    const struct feature_source_config config = {
        .store = context->store,
        .origin = FEATURES_OF_PARTITION,
        .id = context->book->id,
        .part_count = context->book->part_count,
        .book = context->book->book,
        .tensor = "features",
        .only_read = true,
    };
    return feature_source_open(&config, out, err);
}

/* --- layers --- */

static enum error_code new_rows(struct selection *s, struct error *err)
{
    const struct model *model = s->config->model;
    const uint64_t budget = s->config->budget_bytes;
    char wanted[32], had[32];
    uint64_t bytes = 0;
    for (int layer = 0; layer <= model->config.layer_count; layer++) {
        if (layer > 0)
            s->width[layer] = model_layer_output_dim(model, layer - 1);
        bytes += s->end[layer] * (uint64_t)s->width[layer] * sizeof(float);
    }
    if (budget && bytes > budget)
        return error_set(err, ERROR_NO_MEMORY,
                         "the neighbourhood of %" PRIu32 " nodes is %" PRIu32
                         " nodes, whose rows take %s, of %s that there are: give more --memory, "
                         "fewer --nodes, or infer all nodes, which takes as little as it is given",
                         s->config->count, s->end[0], text_size(bytes, wanted),
                         text_size(budget, had));
    enum error_code rc = ERROR_NONE;
    for (int layer = 0; rc == ERROR_NONE && layer <= model->config.layer_count; layer++)
        rc = memory_new(&s->row[layer], s->end[layer] * s->width[layer], "rows of a layer", err);
    return rc;
}

/* The rows of the layer below that the wanted nodes of a tile read; those that only others read are any. */
static enum error_code number_sources(const struct selection *s, int layer,
                                      const struct mini_batch *batch, uint32_t **out,
                                      struct error *err)
{
    const enum error_code rc =
        arena_new(s->config->arena, out, batch->node_count, "rows of a tile", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < batch->node_count; i++) {
        const uint32_t number = s->number[batch->node[i]];
        (*out)[i] = number < s->end[layer - 1] ? number : 0;
    }
    return rc;
}

/* What a layer reads beside the layer below, of the destinations: the output of layer `from`, counted from 0. */
static enum error_code copy_rows(const struct selection *s, int from, const uint32_t *index,
                                 uint32_t count, const float **out, struct error *err)
{
    const size_t width = s->width[from];
    float *copy = NULL;
    const enum error_code rc =
        arena_new(s->config->arena, &copy, count * width, "rows of a layer", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        memcpy(copy + i * width, s->row[from] + index[i] * width, width * sizeof *copy);
    *out = copy;
    return rc;
}

static enum error_code join_lower(const struct selection *s, int layer, const uint32_t *index,
                                  uint32_t count, struct layer_input *input, struct error *err)
{
    const struct model *model = s->config->model;
    const uint32_t width = model_layer_input_dim(model, layer - 1);
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    enum error_code rc =
        arena_new(s->config->arena, &joined, (size_t)count * width, "joined layers", err);
    for (int l = 0; rc == ERROR_NONE && l < layer - 1; l++) {
        rc = copy_rows(s, l + 1, index, count, &lower[l], err);
        stride[l] = s->width[l + 1];
    }
    if (rc == ERROR_NONE)
        model_join_rows(model, lower, stride, count, joined);
    input->rows = (struct input_rows){.base = joined, .stride = width};
    return rc;
}

static enum error_code infer_tile(struct selection *s, int layer, uint32_t first, uint32_t count,
                                  float **output, struct error *err)
{
    const struct selected_inference_config *config = s->config;
    const struct model_layer *kind = &config->model->layer[layer - 1];
    struct mini_batch batch = {0};
    uint32_t *node = NULL, *index = NULL;
    arena_reset(config->arena);
    enum error_code rc = inference_tile_nodes(config->arena, first, count, &node, err);
    if (rc == ERROR_NONE)
        rc = arena_new(config->arena, output, count * s->width[layer], "a layer's output", err);
    if (rc == ERROR_NONE)
        rc = inference_tile_draw(config->sampler, config->model, config->edge_use, layer, node,
                                 count, &batch, err);
    if (rc == ERROR_NONE)
        rc = number_sources(s, layer, &batch, &index, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    struct layer_input input = {.block = batch.hop_count ? mini_batch_block(&batch, 0) : every_row,
                                .rows = {.base = s->row[layer - 1],
                                         .stride = s->width[layer - 1],
                                         .row_index = index,
                                         .mostly_zero = layer == 1 && s->mostly_zero}};
    if (kind->second_input >= 0)
        rc = copy_rows(s, kind->second_input + 1, index, count, &input.second, err);
    if (rc == ERROR_NONE && kind->reads_all)
        rc = join_lower(s, layer, index, count, &input, err);
    const struct model_workspace workspace = {.arena = config->arena,
                                              .pool = config->context->pool};
    return rc == ERROR_NONE ? model_infer_layer(config->model, config->weights, layer - 1, &input,
                                                &workspace, *output, err)
                            : rc;
}

/* Keeps the rows of a tile that are asked for; false when there is none. */
static bool keep_tile(struct selection *s, int layer, uint32_t first, uint32_t count,
                      const float *output)
{
    const size_t width = s->width[layer];
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = s->number[first + i];
        found |= number < s->end[layer];
        if (output && number < s->end[layer])
            memcpy(s->row[layer] + number * width, output + i * width, width * sizeof *output);
    }
    return found;
}

static enum error_code infer_part(struct selection *s, int layer, int part, struct error *err)
{
    const struct topology *topology = s->config->topology;
    const uint32_t end = topology->book[part + 1];
    enum error_code rc = ERROR_NONE;
    for (uint32_t first = topology->book[part], count = 0; rc == ERROR_NONE && first < end;
         first += count) {
        float *output = NULL;
        count = inference_tile_size(&topology->part[part], first, end);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        if (!keep_tile(s, layer, first, count, NULL))
            continue;
        rc = infer_tile(s, layer, first, count, &output, err);
        if (rc == ERROR_NONE)
            (void)keep_tile(s, layer, first, count, output);
    }
    return rc;
}

static enum error_code infer_layers(struct selection *s, struct error *err)
{
    const struct topology *topology = s->config->topology;
    enum error_code rc = ERROR_NONE;
    for (int layer = 1; rc == ERROR_NONE && layer <= s->config->model->config.layer_count; layer++)
        for (int part = 0; rc == ERROR_NONE && part < topology->part_count; part++)
            if (s->is_open[part])
                rc = infer_part(s, layer, part, err);
    return rc;
}

static enum error_code begin(struct selection *s, struct error *err)
{
    const struct topology *topology = s->config->topology;
    enum error_code rc = memory_new(&s->number, topology->node_count, "numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->is_open, (size_t)topology->part_count, "parts", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < topology->node_count; i++)
        s->number[i] = nobody;
    return rc;
}

enum error_code selected_inference_run(const struct selected_inference_config *config,
                                       struct selected_rows *out, struct error *err)
{
    struct selection s = {.config = config};
    struct feature_source *features = NULL;
    *out = (struct selected_rows){0};
    enum error_code rc = begin(&s, err);
    if (rc == ERROR_NONE)
        rc = find_nodes(&s, err);
    if (rc == ERROR_NONE)
        rc = open_features(&s, &features, err);
    if (rc == ERROR_NONE) {
        s.width[0] = feature_source_dim(features);
        rc = new_rows(&s, err);
    }
    if (rc == ERROR_NONE)
        rc = sparse_features_detect(features, config->topology->node_count, &s.mostly_zero, err);
    if (rc == ERROR_NONE)
        rc = read_features(&s, features, err);
    feature_source_close(features);
    if (rc == ERROR_NONE)
        log_info("%" PRIu32 " nodes, of whose neighbourhood %" PRIu32 " of %" PRIu32
                 " nodes are read",
                 config->count, s.end[0], config->topology->node_count);
    if (rc == ERROR_NONE)
        rc = infer_layers(&s, err);
    memory_free(s.number);
    memory_free(s.node);
    memory_free(s.is_open);
    memcpy(out->row, s.row, sizeof out->row);
    if (rc != ERROR_NONE)
        selected_rows_release(out);
    return rc;
}

void selected_rows_release(struct selected_rows *rows)
{
    for (int layer = 0; layer <= LAYER_COUNT_MAX; layer++)
        memory_free(rows->row[layer]);
    *rows = (struct selected_rows){0};
}
