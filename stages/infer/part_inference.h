/*
 * part_inference - one layer of the model for all nodes of one part, with all their neighbours.
 *
 * The rows of a part are taken in tiles fixed by the graph, not by the memory; each tile is a one-hop neighbourhood
 * without sampling, whose inputs are the features, or the layer below of every part. The output is a
 * sealed shard of its own, read by the layer above just as features are.
 *
 * When the inputs do not fit the memory, layers that want but the sum of their sources' rows, or the greatest of them, have
 * that made for many tiles at once (source_windows.h), and a tile begins with it and the rows of its own nodes. So have tiles
 * of GAT that are computed on rows as they are (gat_rows.h), by the tile's shape alone; others have the rows of their sources read
 * for each. All tiles of GATv2 begin so, whether the inputs fit or not.
 *
 * Of a run that samples by times tiles are neighbourhoods of several hops instead (temporal_inference.h).
 */
#ifndef STAGES_INFER_PART_INFERENCE_H
#define STAGES_INFER_PART_INFERENCE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/source_windows.h"
#include "stages/plan/edge_use.h"
#include "stages/sampling/neighbor_sampler.h"
#include "store/features/feature_source.h"

#include <stdbool.h>

struct part_inference { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology;
    const struct model *model;
    struct edge_use edge_use;
    const float *weights; /* [model->value_count] */
    const struct weights_identity *identity;
    struct neighbor_sampler *sampler;
    struct feature_source *input,
        *second; /* the layer below; what the layer reads beside it, or NULL */
    struct feature_source
        *lower[LAYER_COUNT_MAX];    /* of a layer that reads_all: those below `input` */
    struct source_windows *windows; /* NULL: tiles read their sources' rows */
    bool has_self_loops;            /* there may be some */
    bool mostly_zero;               /* the input (sparse_features.h) */
    bool is_temporal;               /* rows are of each node at its time (temporal_inference.h) */
    struct arena *arena;            /* reset for each tile */
};

/* Layer `layer` counts from 1. Publishes run/<id>/infer/<weights version>/<layer>/part/<part>/shard and
 * its seal, which holds the identity of the weights.
 * Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_NO_MEMORY when a tile does not fit the budgets;
 * ERROR_CORRUPT for damaged inputs, or when other rows are stored already; ERROR_IO. */
MUST_CHECK enum error_code part_inference_run(struct part_inference *inference, int layer, int part,
                                              struct error *err);

#endif
