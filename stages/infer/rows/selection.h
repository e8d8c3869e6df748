/*
 * selection - the nodes that an inference of some nodes asks for, layer by layer and type by type,
 * and their rows.
 *
 *   wanted nodes ─> those that layer L reads ─> those that layer L - 1 reads ... ─> those whose features are read
 *   features of these ─> layer 1 of as many as layer 2 reads ─> ... ─> layer L of the wanted ones
 *
 * A node has the same number in all layers, by when it was first asked for among those of its type,
 * so that the nodes of a layer are the first ones of the layer below. Rows are computed in the
 * tiles of an inference of all nodes, each as a whole and from the same edges: where a tile has
 * nodes that nobody asked for, their rows are computed of rows that are not theirs, and dropped. So
 * the bits of the others are those of an inference of all nodes. Takes 4 bytes for each node of the
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
    struct inference_tiles
        *tiles;            /* parts of their topology are opened as they are asked for; of a model
                                    * without learnable rows */
    const float *weights;  /* [model->value_count] */
    uint64_t budget_bytes; /* for the rows; 0: what the machine has */
    const uint32_t *node;  /* [count], of the partition and of the type of the logits, each once */
    uint32_t count;
};

struct selected_type {
    uint32_t *node; /* [count], by number */
    size_t count, capacity;
    uint32_t end[LAYER_COUNT_MAX + 1]; /* of the features, of each layer */
    size_t width[LAYER_COUNT_MAX + 1]; /* of rows, likewise */
    float *row[LAYER_COUNT_MAX + 1];   /* [end, and at least one, width]; NULL: nobody reads any */
    bool mostly_zero; /* the features are (sparse_features.h), for a layer that is to know */
};

struct selection { /* {0} is empty; release with selection_release() */
    struct selection_config config;
    const struct inference_tiles_config *of; /* the tiles */
    struct type_ranges ranges;
    uint32_t *number; /* [nodes of the graph] */
    bool *is_open;    /* [parts]: it has nodes that are asked for */
    struct selected_type type[RELATION_TYPE_COUNT_MAX];
};

/* Finds who is asked for, and opens their parts. Fails: ERROR_CORRUPT for damaged inputs;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code selection_find(const struct selection_config *config,
                                          struct selection *out, struct error *err);
/* Reads their features. Fails: ERROR_NO_MEMORY when the rows do not fit the budget, saying what
 * does; ERROR_CORRUPT. */
MUST_CHECK enum error_code selection_read(struct selection *selection, struct error *err);
void selection_release(struct selection *selection);

/* The rows of `layer` (0: features) that nodes [count], of the partition and of one type, have,
 * into out [count]; those that nobody asked for there have any. */
void selection_number(const struct selection *selection, uint32_t type, int layer,
                      const uint32_t *node, uint32_t count, uint32_t *out);

#endif
