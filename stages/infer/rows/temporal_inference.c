#include "stages/infer/rows/temporal_inference.h"

#include "common/nn/layers/layer.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/sampling/samplers/sampler.h"

#include <string.h>

/* The round of the random draws. No round of training or validation has this number. */
static const uint32_t inference_round = UINT32_MAX - 1;

bool temporal_inference_is_wanted(const struct stage_context *context)
{
    return sampler_goes_by_time(pipeline_sampler(context->settings)) &&
           task_has(context->book->task, TASK_LABELS_NODES);
}

/* Returns the number of hops of the layers below `layer`. */
static int hops_below(const struct model *model, int layer)
{
    int hops = 0;
    for (int l = 0; l < layer; l++)
        hops += model->layer[l].type->uses_edges;
    return hops;
}

/* Writes the fan-outs of `hops` hops, the same for each relation, to out [relations, hops]. They
 * are the last fan-outs of validation, because the first ones belong to the layers above. */
static void find_fanouts(const struct temporal_draw *draw, int hops, int64_t *out)
{
    const struct int_list *fanouts = &draw->context->settings->sample.evaluation_fanouts;
    const int above = draw->model->hop_count - hops; /* hops of the layers above */
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
    const struct neighbor_request request = {.seed = draw->context->schedule->seed,
                                             .round = inference_round,
                                             .hop_count = hops,
                                             .fanout = fanout,
                                             .seed_node = node,
                                             .seed_count = count,
                                             .times = {.seed_time = time},
                                             .options = &settings->sample.option,
                                             .wants_degree = draw->model->needs_degree,
                                             .wants_ends = draw->model->divides_by_ends,
                                             .wants_weight_sum = draw->edge_use->weight_sum,
                                             .edge_columns = draw->edge_use->columns};
    return hops ? pipeline_sampler(settings)->draw(draw->sampler, &request, batch, err)
                : neighbor_sampler_draw(draw->sampler, &request, batch, err);
}

/* The computation of one tile through the layers. */
struct past {
    const struct stage_context *context;
    const struct model *model;
    const float *weights;
    struct inference_tile *tile;
    struct input_rows rows[LAYER_COUNT_MAX + 1]
                          [RELATION_TYPE_COUNT_MAX]; /* the rows that each layer reads */
};

/* One layer of a neighbourhood. It is computed one type at a time. */
struct past_layer {
    int number; /* from 0 */
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    struct relation_edges *edges; /* [relations] of the block; NULL: the layer uses no edges */
};

static enum error_code find_layer(const struct past *past, int layer, struct past_layer *out,
                                  struct error *err)
{
    const struct model_layer *of = &past->model->layer[layer];
    const struct mini_batch *batch = &past->tile->batch;
    *out = (struct past_layer){.number = layer};
    for (uint32_t t = 0; t < mini_batch_types(batch); t++)
        out->destinations[t] = mini_batch_known(batch, t, batch->hop_count - of->hop);
    if (!of->type->uses_edges)
        return ERROR_NONE;
    const enum error_code rc = arena_new(past->tile->arena, &out->edges,
                                         mini_batch_relations(batch), "relations of a tile", err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(batch, of->hop, out->destinations, out->sources, out->edges,
                                  &out->block);
    return rc;
}

/* Makes a block for one type, in which relations to other types have no rows. A layer without
 * edges gets an empty block. */
static enum error_code edges_of_type(const struct past *past, const struct past_layer *layer,
                                     uint32_t type, const uint32_t *alone,
                                     struct relation_block *out, struct error *err)
{
    const struct mini_batch *batch = &past->tile->batch;
    const uint32_t relations = mini_batch_relations(batch);
    struct relation_edges *edges = NULL;
    *out = (struct relation_block){.edges = NULL};
    if (!layer->edges)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(past->tile->arena, &edges, relations, "relations of a tile", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        edges[r] = layer->edges[r];
        if (mini_batch_target_type(batch, r) != type)
            edges[r].block.destination_count = 0;
    }
    *out = (struct relation_block){alone, layer->sources, edges};
    return rc;
}

/* Computes the layer's rows of one type into past->rows of the next layer. */
static enum error_code compute_type(struct past *past, const struct past_layer *layer,
                                    uint32_t type, float **output, struct error *err)
{
    const int l = layer->number, second = past->model->layer[l].second_input;
    const size_t width = model_layer_output_dim(past->model, l);
    const struct model_workspace workspace = {.arena = past->tile->arena,
                                              .pool = past->context->pool};
    uint32_t alone[RELATION_TYPE_COUNT_MAX] = {0};
    const float *start[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct relation_block block;
    alone[type] = layer->destinations[type];
    if (second >= 0)
        start[type] = past->rows[second + 1][type].base;
    enum error_code rc = edges_of_type(past, layer, type, alone, &block, err);
    if (rc == ERROR_NONE)
        rc = arena_new(past->tile->arena, output, alone[type] * width, "a layer's output", err);
    const struct typed_layer_input input = {.block = block.edges ? &block : NULL,
                                            .count = alone,
                                            .rows = past->rows[l],
                                            .start = second >= 0 ? start : NULL};
    if (rc == ERROR_NONE)
        rc = model_infer_types(past->model, past->weights, l, &input, type, &workspace, *output,
                               err);
    past->rows[l + 1][type].base = *output;
    return rc;
}

/* Joins the outputs of all lower layers for the tile's own nodes, if the layer reads them all.
 * The own nodes are the first of their type. */
static enum error_code join_lower(struct past *past, int layer, struct error *err)
{
    const uint32_t type = past->tile->span.type;
    const float *lower[LAYER_COUNT_MAX] = {NULL};
    if (!past->model->layer[layer].reads_all)
        return ERROR_NONE;
    for (int l = 0; l < layer; l++)
        lower[l] = past->rows[l + 1][type].base;
    const enum error_code rc =
        inference_tile_add_lower(past->tile, past->model, layer + 1, lower, err);
    past->rows[layer][type] = past->tile->rows[type];
    return rc;
}

enum error_code temporal_inference_compute(const struct stage_context *context,
                                           const struct model *model, const float *weights,
                                           int layer, struct inference_tile *tile, float **output,
                                           struct error *err)
{
    struct past past = {.context = context, .model = model, .weights = weights, .tile = tile};
    enum error_code rc = ERROR_NONE;
    memcpy(past.rows[0], tile->rows, sizeof past.rows[0]);
    for (int l = 0; rc == ERROR_NONE && l < layer; l++) {
        struct past_layer one;
        rc = find_layer(&past, l, &one, err);
        if (rc == ERROR_NONE)
            rc = join_lower(&past, l, err);
        for (uint32_t t = 0; rc == ERROR_NONE && t < mini_batch_types(&tile->batch); t++) {
            past.rows[l + 1][t] = (struct input_rows){.stride = model_layer_output_dim(model, l)};
            if (one.destinations[t] && (l + 1 < layer || t == tile->span.type))
                rc = compute_type(&past, &one, t, output, err);
        }
    }
    return rc;
}
