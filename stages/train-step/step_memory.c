#include "stages/train-step/step_memory.h"

#include "common/math/sparse_tile.h"
#include "common/nn/layer_pass.h"
#include "common/nn/source_aggregation.h"

/* Known after each hop, and read by it, at most; double cannot overflow. */
struct hops {
    double node[LAYER_COUNT_MAX + 1];
    double edge[LAYER_COUNT_MAX + 1]; /* of the hops so far */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* `fanouts` with no items: all neighbours. */
static struct hops bound_hops(double seeds, const struct int_list *fanouts, int layer_count,
                              const struct partition_book *book)
{
    const double node_count = book->node_count, edge_count = (double)book->edge_count;
    struct hops hops = {.node = {smaller(seeds, node_count)}};
    double added = hops.node[0];
    for (int h = 0; h < layer_count; h++) {
        const int64_t fanout = h < fanouts->count ? fanouts->value[h] : -1;
        const double read = fanout < 0 ? edge_count : smaller(added * (double)fanout, edge_count);
        hops.edge[h + 1] = smaller(hops.edge[h] + read, edge_count);
        hops.node[h + 1] = smaller(hops.node[h] + read, node_count);
        added = hops.node[h + 1] - hops.node[h];
    }
    return hops;
}

/* In bf16: the weights [out, wide] as products want them, a thread's rows before they are rounded, and of
 * backward the operands of a tile. In floats, of which each is two bf16. */
static double rounded_floats(double out, double in, double wide, bool trains, int threads)
{
    const double weights =
        ((wide + 1) * out + (wide + 1) * (out + 16) + (out + 1) * (wide + 16)) / 2;
    const double operands = trains ? (double)TILE_ROWS * (out + wide + 32) / 2 : 0;
    return weights + threads * (in + out * LAYER_ROUNDED_ROWS + operands + 64);
}

/* What layer_pass.c and layer_backward.c ask the arena for, in floats. */
static double layer_floats(const struct model *model, int layer, const struct hops *hops,
                           bool trains, bool is_aggregated, int threads)
{
    const int layer_count = model->config.layer_count;
    const struct layer_type *type = layer_type_of(model->config.layer);
    const double in = model_layer_input_dim(model, layer);
    const double out = model_layer_output_dim(model, layer);
    const double wide = in * layer_matrix_count(type);
    const double destinations = hops->node[layer_count - 1 - layer];
    const double sources = hops->node[layer_count - layer];
    const double edges = hops->edge[layer_count - layer];
    const bool is_first = layer == 0, is_last = layer == layer_count - 1;
    const bool projects_first = type->projects_first(model_layer_input_dim(model, layer),
                                                     model_layer_output_dim(model, layer));
    const double tile = (double)threads * TILE_ROWS;
    const bool rounds = model->config.precision == PRECISION_BF16;
    const double kept = rounds ? 0.5 : 1; /* floats for each element that is kept */
    double floats = wide * out + 2 * destinations + sources; /* joined weights; those of edges */
    floats += is_last ? 0 : destinations * (out + rounds) * kept;
    floats += rounds ? rounded_floats(out, in, wide, trains, threads) : 0;
    if (projects_first)
        floats += sources * out + tile * in;
    else if (!is_aggregated)
        floats += trains ? destinations * (wide + rounds) * kept : tile * (wide + rounds);
    if (!trains)
        return floats;
    if (is_first && !projects_first &&
        !is_aggregated) /* those of edges again, and sums: idle_aggregation.h */
        floats += 2 * destinations + sources + threads * (in + 16);
    floats += ACCUMULATOR_COUNT * (wide + 1) * out + tile * (out + in) + threads * out;
    if (!is_last) /* one bit for each output; tiles without zeros */
        floats +=
            destinations * (out / 32 + 2) + threads * sparse_tile_floats(TILE_ROWS, out, !is_first);
    if (projects_first)
        floats += destinations * out + (is_first ? 0 : sources * in);
    else
        floats += is_first ? 0 : destinations * wide;
    return floats + (projects_first || !is_first ? sources + edges : 0);
}

/* Of alignment and the arena's blocks, a few for each layer. */
enum { SLACK_BYTES = 1 << 20 };

static double pass_bytes(const struct model *model, const struct hops *hops, bool trains,
                         bool is_aggregated, int threads)
{
    /* The gradient; logits, their slope and labels. */
    double floats =
        (double)model->value_count + 4 * hops->node[0] * (double)model->config.output_dim;
    for (int layer = 0; layer < model->config.layer_count; layer++)
        floats += layer_floats(model, layer, hops, trains, is_aggregated && layer == 0, threads);
    return 4 * floats + SLACK_BYTES;
}

/* The arrays of a mini-batch, and a bit for each node of the graph that checks it. */
static double batch_bytes(const struct model *model, const struct hops *hops, double node_count)
{
    const int layer_count = model->config.layer_count;
    const double nodes = hops->node[layer_count] * (model->needs_degree ? 2 : 1);
    return 4 * (nodes + hops->node[layer_count - 1] + hops->edge[layer_count]) + node_count / 8;
}

static uint64_t bytes_of(double bytes)
{
    return bytes < 0x1p62 ? (uint64_t)bytes : (uint64_t)1 << 62;
}

struct step_memory step_memory_plan(const struct model *model, const struct stage_context *context,
                                    uint32_t label_dim)
{
    const struct pipeline_settings *settings = context->settings;
    const double nodes = context->book->node_count, budget = (double)context->memory_bytes;
    const enum precision precision = model->config.precision;
    const double rows = nodes * (double)precision_bytes(precision) *
                        (double)precision_stride(precision, context->book->feature_dim);
    const int layers = model->config.layer_count;
    const int threads = thread_pool_size(context->pool);
    const struct hops training = bound_hops((double)context->schedule->batch_size,
                                            &settings->sample.fanouts, layers, context->book);
    const struct hops validation =
        bound_hops((double)context->schedule->evaluation_batch_size,
                   &settings->sample.evaluation_fanouts, layers, context->book);
    const double weights = 8 * (double)model->value_count; /* two versions of the record */
    const double labels = smaller(4 * nodes * label_dim + (1 << 20), budget / 8);
    /* Those trained on, read ahead, and looked at to choose the rows that are kept; and the one evaluated on. A
     * record is about half of its batch at most, and is given back when that was read. */
    const double batches =
        3.5 * batch_bytes(model, &training, nodes) + 1.5 * batch_bytes(model, &validation, nodes);
    const double records = smaller(batches + weights, budget / 8);
    double step = larger(pass_bytes(model, &training, true, false, threads),
                         pass_bytes(model, &validation, false, false, threads));
    const bool rows_fit = budget - labels - records - step >= rows;
    if (!rows_fit)
        step = larger(pass_bytes(model, &training, true, true, threads),
                      pass_bytes(model, &validation, false, true, threads));
    const double left = budget - labels - records - step;
    return (struct step_memory){.step_bytes = bytes_of(step),
                                .record_bytes = (uint64_t)records,
                                .feature_bytes = (uint64_t)larger(left, budget / 4),
                                .label_bytes = (uint64_t)labels,
                                .rows_fit = rows_fit};
}
