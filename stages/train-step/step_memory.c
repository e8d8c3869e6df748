#include "stages/train-step/step_memory.h"

#include "common/math/sparse_tile.h"
#include "common/nn/layer_pass.h"

struct hops {
    double node[LAYER_COUNT_MAX + 1]; /* known after each hop, at most; double cannot overflow */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* `fanouts` with no items: all neighbours. */
static struct hops bound_hops(double seeds, const struct int_list *fanouts, int layer_count,
                              double node_count)
{
    struct hops hops = {.node = {smaller(seeds, node_count)}};
    double added = hops.node[0];
    for (int h = 0; h < layer_count; h++) {
        const int64_t fanout = h < fanouts->count ? fanouts->value[h] : -1;
        const double all = hops.node[h] + added * (double)fanout;
        hops.node[h + 1] = fanout < 0 ? node_count : smaller(all, node_count);
        added = hops.node[h + 1] - hops.node[h];
    }
    return hops;
}

/* Floats of one layer; an edge counts like a source, and a row in a thread's tile like one of its own. */
static double layer_floats(const struct model *model, int layer, const struct hops *hops,
                           bool trains, int threads)
{
    const int layer_count = model->config.layer_count;
    const struct layer_type *type = layer_type_of(model->config.layer);
    const double in = model_layer_input_dim(model, layer);
    const double out = model_layer_output_dim(model, layer);
    const double mixed = in * layer_matrix_count(type);
    const double destinations = hops->node[layer_count - 1 - layer];
    const double sources = hops->node[layer_count - layer];
    const bool is_last = layer == layer_count - 1;
    const double sparse =
        trains && !is_last ? threads * sparse_tile_floats(TILE_ROWS, out, layer > 0) : 0;
    const double tile = (double)threads * TILE_ROWS * (mixed + in + out) + sparse;
    const double common =
        destinations * (out + out / 32 + 6) + 4 * sources + tile + 2 * mixed * out;
    if (type->maps_first(model_layer_input_dim(model, layer), model_layer_output_dim(model, layer)))
        return common + sources * out +
               (trains ? destinations * out + sources * in + LANE_COUNT * mixed * out : 0);
    return common + (trains ? 2 * destinations * mixed + LANE_COUNT * mixed * out : 0);
}

static double pass_bytes(const struct model *model, const struct hops *hops, bool trains,
                         int threads)
{
    const int layer_count = model->config.layer_count;
    /* The record of the mini-batch: nodes, degrees, edges; weights and gradient; logits and labels. */
    double floats = 4 * hops->node[layer_count] + 3 * (double)model->value_count +
                    3 * hops->node[0] * model->config.output_dim;
    for (int layer = 0; layer < layer_count; layer++)
        floats += layer_floats(model, layer, hops, trains, threads);
    return 4 * floats;
}

struct step_memory step_memory_plan(const struct model *model, const struct stage_context *context,
                                    uint32_t label_dim)
{
    const struct pipeline_settings *settings = context->settings;
    const double nodes = context->book->node_count, budget = (double)context->memory_bytes;
    const int layer_count = model->config.layer_count;
    const int threads = thread_pool_size(context->pool);
    const struct hops training = bound_hops((double)context->schedule->batch_size,
                                            &settings->sample.fanouts, layer_count, nodes);
    const struct hops validation =
        bound_hops((double)context->schedule->evaluation_batch_size,
                   &settings->sample.evaluation_fanouts, layer_count, nodes);
    const double train_bytes = pass_bytes(model, &training, true, threads);
    const double valid_bytes = pass_bytes(model, &validation, false, threads);
    const double step = train_bytes > valid_bytes ? train_bytes : valid_bytes;
    const double labels = smaller(4 * nodes * label_dim + (1 << 20), budget / 8);
    const double left = budget - labels - step;
    const double features = left > budget / 4 ? left : budget / 4;
    return (struct step_memory){.step_bytes = step < 0x1p62 ? (uint64_t)step : (uint64_t)1 << 62,
                                .feature_bytes = (uint64_t)features,
                                .label_bytes = (uint64_t)labels};
}
