/*
 * selected_inference - all layers of the model for some nodes, from their neighbourhood alone.
 *
 *   wanted nodes ─> those that layer L reads ─> those that layer L - 1 reads ... ─> those whose features are read
 *   features of these ─> layer 1 of as many as layer 2 reads ─> ... ─> layer L of the wanted ones
 *
 * A node has the same number in all layers, by when it was first asked for, so that the nodes of a layer are the first ones of
 * the layer below. Rows are computed in the tiles of part_inference.h, each as a whole and from the same edges: where a tile has
 * nodes that nobody asked for, their rows are computed of rows that are not theirs, and dropped. So the bits of the others are those of
 * an inference of all nodes. Takes 4 bytes for each node of the graph, and the rows of all layers.
 */
#ifndef STAGES_INFER_SELECTED_INFERENCE_H
#define STAGES_INFER_SELECTED_INFERENCE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/edge_use.h"
#include "stages/sampling/neighbor_sampler.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct selected_inference_config { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology;
    const struct model *model; /* of nodes of one type, without learnable rows */
    const struct edge_use *edge_use;
    const float *weights; /* [model->value_count] */
    struct neighbor_sampler *sampler;
    struct arena *arena;   /* reset for each tile */
    uint64_t budget_bytes; /* for the rows; 0: what the machine has */
    const uint32_t *node;  /* [count], of the partition, each once */
    uint32_t count;
};

struct selected_rows { /* {0} is empty */
    float *row
        [LAYER_COUNT_MAX +
         1]; /* owned; of the features, then of each layer: those of node[i] in row i, behind them others */
};

/* Owns: *out; selected_rows_release(). Fails: ERROR_NO_MEMORY when the neighbourhood does not fit the budget, saying what
 * does; ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for damaged inputs. */
MUST_CHECK enum error_code selected_inference_run(const struct selected_inference_config *config,
                                                  struct selected_rows *out, struct error *err);
void selected_rows_release(struct selected_rows *rows);

#endif
