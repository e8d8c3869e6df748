/*
 * selection - the nodes and rows that an inference of some nodes needs, layer by layer and type by
 * type.
 *
 *   wanted nodes ─> nodes that layer L reads ─> nodes that layer L - 1 reads ... ─> their features
 *   features ─> layer 1 of the nodes that layer 2 reads ─> ... ─> layer L of the wanted nodes
 *
 * A node has the same number in all layers, in the order in which nodes of its type were first
 * needed. So the nodes of a layer are the first nodes of the layer below. Rows are computed in the
 * same whole tiles and from the same edges as in an inference of all nodes. If a tile contains
 * nodes that nobody needs, their rows are computed from arbitrary rows and dropped. So the rows
 * that are kept have the bits of an inference of all nodes. Memory: 4 bytes for each node of the
 * graph, and the rows of all layers.
 */
#ifndef STAGES_INFER_ROWS_SELECTION_H
#define STAGES_INFER_ROWS_SELECTION_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/rows/inference_tile.h"
#include "store/records/partition/type_ranges.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection_config { /* all borrowed */
    const struct stage_context *context;
    /* of a model without learnable rows; parts of their topology are opened when needed */
    struct inference_tiles *tiles;
    const float *weights;  /* [model->value_count] */
    uint64_t budget_bytes; /* for the rows; 0: no limit */
    const uint32_t *node;  /* [count] distinct partition ids of the type of the logits */
    uint32_t count;
};

struct selected_type {
    uint32_t *node; /* [count], by number */
    size_t count, capacity;
    uint32_t end[LAYER_COUNT_MAX + 1]; /* count of nodes in the features and in each layer */
    size_t width[LAYER_COUNT_MAX + 1]; /* width of the rows, likewise */
    float *row[LAYER_COUNT_MAX + 1];   /* [end, but at least one, width]; NULL: nobody reads them */
    /* the features are mostly zero (sparse_features.h); set if the layer makes use of it */
    bool mostly_zero;
};

struct selection { /* {0} is empty; release with selection_release() */
    struct selection_config config;
    const struct inference_tiles_config *of; /* configuration of the tiles */
    struct type_ranges ranges;
    uint32_t *number; /* [nodes of the graph] */
    bool *is_open;    /* [parts]: whether the part has needed nodes */
    struct selected_type type[RELATION_TYPE_COUNT_MAX];
};

/* Finds the needed nodes, and opens their parts. Fails: ERROR_CORRUPT for damaged inputs;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code selection_find(const struct selection_config *config,
                                          struct selection *out, struct error *err);
/* Reads the features of the needed nodes. Fails: ERROR_NO_MEMORY if the rows do not fit the
 * budget, naming what does; ERROR_CORRUPT. */
MUST_CHECK enum error_code selection_read(struct selection *selection, struct error *err);
void selection_release(struct selection *selection);

/* Writes the rows of `layer` (0: features) that nodes [count] have to out [count]. The nodes are
 * partition ids of one type. A node that is not needed gets an arbitrary row. */
void selection_number(const struct selection *selection, uint32_t type, int layer,
                      const uint32_t *node, uint32_t count, uint32_t *out);

#endif
