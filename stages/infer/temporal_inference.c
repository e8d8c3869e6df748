#include "stages/infer/temporal_inference.h"

#include "common/nn/layers/layer.h"
#include "stages/sampling/sampler.h"

#include <string.h>

/* No round of training has this number, nor has validation. */
static const uint32_t inference_round = UINT32_MAX - 1;

struct tile { /* one run */
    struct part_inference *inference;
    struct mini_batch batch;
    struct feature_rows rows;
    const float *output[LAYER_COUNT_MAX]; /* of each layer */
    size_t stride[LAYER_COUNT_MAX];
};

bool temporal_inference_is_wanted(const struct stage_context *context)
{
    return sampler_goes_by_time(pipeline_sampler(context->settings)) &&
           task_has(context->book->task, TASK_LABELS_NODES);
}

/* Hops of the layers below `layer`, counted from 0. */
static int hops_below(const struct model *model, int layer)
{
    int hops = 0;
    for (int l = 0; l < layer; l++)
        hops += model->layer[l].type->uses_edges;
    return hops;
}

/* Fan-outs of the hops of the layers below `layer`, the same in each relation, into out [relations,
 * hops]: those that validation has at these hops. */
static void find_fanouts(const struct temporal_draw *draw, int hops, int64_t *out)
{
    const struct int_list *fanouts = &draw->context->settings->sample.evaluation_fanouts;
    const int above = draw->model->hop_count - hops; /* hops that layers above would take */
    for (uint32_t r = 0; r < topology_relations(draw->topology); r++)
        for (int hop = 0; hop < hops; hop++)
            *out++ = fanouts->count ? fanouts->value[above + hop] : FANOUT_ALL;
}

enum error_code temporal_inference_draw(const struct temporal_draw *draw, int layer,
                                        const uint32_t *node, uint32_t count,
                                        struct mini_batch *batch, struct error *err)
{
    const struct pipeline_settings *settings = draw->context->settings;
    const int hops = hops_below(draw->model, layer);
    const size_t fanouts = topology_relations(draw->topology) * (size_t)hops;
    int64_t *time = NULL, *fanout = NULL;
    enum error_code rc = arena_new(draw->arena, &time, count, "times of nodes", err);
    if (rc == ERROR_NONE)
        rc = arena_new(draw->arena, &fanout, fanouts + 1, "fan-outs of relations", err);
    if (rc == ERROR_NONE)
        rc = seed_times_find(draw->topology, &settings->sample.option, node, count, time, err);
    if (rc != ERROR_NONE)
        return rc;
    find_fanouts(draw, hops, fanout);
    const struct neighbor_request request = {
        .seed = draw->context->schedule->seed,
        .round = inference_round,
        .hop_count = hops,
        .fanout = fanout,
        .seed_node = node,
        .seed_count = count,
        .times = {.seed_time = time},
        .options = &settings->sample.option,
        .wants_degree = draw->model->needs_degree,
        .wants_weight_sum = draw->model->divides_by_ends && draw->edge_columns >> EDGE_WEIGHT & 1,
        .wants_ends = draw->model->divides_by_ends,
        .edge_columns = draw->edge_columns};
    return hops ? pipeline_sampler(settings)->draw(draw->sampler, &request, batch, err)
                : neighbor_sampler_draw(draw->sampler, &request, batch, err);
}

/* What layer `l`, from 0, computes on: the block of its hop, or all rows that there are at its place. */
static struct message_block block_of(const struct tile *tile, int l)
{
    const struct model_layer *layer = &tile->inference->model->layer[l];
    const struct mini_batch *batch = &tile->batch;
    if (layer->type->uses_edges)
        return mini_batch_block(batch, layer->hop);
    const uint32_t rows = batch->hop_count == 0 ? batch->seed_count
                          : layer->hop < batch->hop_count
                              ? mini_batch_block(batch, layer->hop).source_count
                              : mini_batch_block(batch, layer->hop - 1).destination_count;
    return (struct message_block){.destination_count = rows, .source_count = rows};
}

static struct input_rows features_of(const struct tile *tile)
{
    return (struct input_rows){.base = tile->rows.base,
                               .stride = tile->rows.stride,
                               .row_index = tile->rows.row_index,
                               .mostly_zero = tile->inference->mostly_zero};
}

/* What layer `l` reads: the features, the layer below, or all of them joined. */
static enum error_code read_input(const struct tile *tile, int l, struct layer_input *input,
                                  struct error *err)
{
    const struct model *model = tile->inference->model;
    const int second = model->layer[l].second_input;
    enum error_code rc = ERROR_NONE;
    float *joined = NULL;
    input->block = block_of(tile, l);
    input->rows =
        l == 0 ? features_of(tile)
               : (struct input_rows){.base = tile->output[l - 1], .stride = tile->stride[l - 1]};
    if (model->layer[l].reads_all) {
        const uint32_t count = input->block.source_count, width = model_layer_input_dim(model, l);
        rc =
            arena_new(tile->inference->arena, &joined, (size_t)count * width, "joined layers", err);
        if (rc == ERROR_NONE)
            model_join_rows(model, tile->output, tile->stride, count, joined);
        input->rows = (struct input_rows){.base = joined, .stride = width};
    }
    if (second >= 0)
        input->second = tile->output[second];
    return rc;
}

static enum error_code compute(struct tile *tile, int l, float **output, struct error *err)
{
    const struct part_inference *inference = tile->inference;
    const struct model_workspace workspace = {.arena = inference->arena,
                                              .pool = inference->context->pool};
    struct layer_input input = {0};
    enum error_code rc = read_input(tile, l, &input, err);
    tile->stride[l] = model_layer_output_dim(inference->model, l);
    if (rc == ERROR_NONE)
        rc = arena_new(inference->arena, output, input.block.destination_count * tile->stride[l],
                       "a layer's output", err);
    if (rc == ERROR_NONE)
        rc = model_infer_layer(inference->model, inference->weights, l, &input, &workspace, *output,
                               err);
    tile->output[l] = *output;
    return rc;
}

enum error_code temporal_inference_tile(struct part_inference *inference, int layer, uint32_t first,
                                        uint32_t count, float **output, struct error *err)
{
    struct tile tile = {.inference = inference};
    uint32_t *node = NULL;
    enum error_code rc = arena_new(inference->arena, &node, count, "node ids", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        node[i] = first + i;
    const struct temporal_draw draw = {.context = inference->context,
                                       .topology = inference->topology,
                                       .model = inference->model,
                                       .edge_columns = inference->edge_use.columns,
                                       .sampler = inference->sampler,
                                       .arena = inference->arena};
    if (rc == ERROR_NONE)
        rc = temporal_inference_draw(&draw, layer, node, count, &tile.batch, err);
    stage_times_enter(inference->context->times, TIME_READ);
    if (rc == ERROR_NONE)
        rc = feature_source_fetch(inference->input, tile.batch.node, tile.batch.node_count,
                                  &tile.rows, err);
    stage_times_enter(inference->context->times, TIME_COMPUTE);
    if (rc != ERROR_NONE)
        return rc;
    stage_times_add_rows(inference->context->times, tile.batch.node_count,
                         tile.batch.node_count * (uint64_t)tile.rows.dim * sizeof(float));
    for (int l = 0; rc == ERROR_NONE && l < layer; l++)
        rc = compute(&tile, l, output, err);
    return rc;
}
