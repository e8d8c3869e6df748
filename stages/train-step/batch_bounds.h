/*
 * batch_bounds - how large a mini-batch can be: upper bounds by its sampler, batch size and fan-outs.
 *
 * In double, which cannot overflow; a graph's own size bounds all.
 */
#ifndef STAGES_TRAIN_STEP_BATCH_BOUNDS_H
#define STAGES_TRAIN_STEP_BATCH_BOUNDS_H

#include "common/nn/model.h"
#include "stages/engine/stage.h"

#include <stdbool.h>

struct batch_bounds {
    double node[LAYER_COUNT_MAX + 1]; /* known after each hop */
    double edge[LAYER_COUNT_MAX + 1]; /* of the layer of a hop; nested: read so far */
    double row_count, edge_count;     /* of the whole batch */
    /* Else about as many nodes are computed by the first layer as read, and their rows are not aggregated ahead. */
    bool is_nested;
    bool has_factors; /* its edges, which brings degrees with it */
};

/* Nodes of a subgraph at most, of a disjoint batch of one seed. */
double batch_bounds_subgraph(const struct stage_context *context);
struct batch_bounds batch_bounds_of_training(const struct stage_context *context, int hop_count);
struct batch_bounds batch_bounds_of_validation(const struct stage_context *context, int hop_count);

#endif
