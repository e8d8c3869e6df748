/*
 * selection - the nodes that an inference of some nodes asks for, layer by layer and type by type, and their rows.
 *
 *   wanted nodes ─> those that layer L reads ─> those that layer L - 1 reads ... ─> those whose features are read
 *   features of these ─> layer 1 of as many as layer 2 reads ─> ... ─> layer L of the wanted ones
 *
 * A node has the same number in all layers, by when it was first asked for among those of its type, so that the nodes of a layer are
 * the first ones of the layer below. Rows are computed in the tiles of an inference of all nodes, each as a whole and from the same
 * edges: where a tile has nodes that nobody asked for, their rows are computed of rows that are not theirs, and dropped. So the
 * bits of the others are those of an inference of all nodes. Takes 4 bytes for each node of the graph, and the rows of all layers.
 *
 * A graph without relations is one of one type. What a tile is, and how it is computed, is the caller's.
 */
#ifndef STAGES_INFER_SELECTION_H
#define STAGES_INFER_SELECTION_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/typed_tiles.h"
#include "store/features/feature_source.h"
#include "store/records/type_ranges.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection_config { /* all borrowed */
    const struct stage_context *context;
    const struct topology *topology; /* parts are opened as they are asked for */
    const struct model *model;       /* without learnable rows */
    uint64_t budget_bytes;           /* for the rows; 0: what the machine has */
    const uint32_t *node; /* [count], of the partition and of the type of the logits, each once */
    uint32_t count;
};

struct selected_type {
    uint32_t *node; /* [count], by number */
    size_t count, capacity;
    uint32_t end[LAYER_COUNT_MAX + 1]; /* of the features, of each layer */
    size_t width[LAYER_COUNT_MAX + 1]; /* of rows, likewise */
    float *row[LAYER_COUNT_MAX + 1];   /* [end, and at least one, width]; NULL: nobody reads any */
};

struct selection { /* {0} is empty; release with selection_release() */
    struct selection_config config;
    struct type_ranges ranges;
    uint32_t target_type;
    uint32_t *number; /* [nodes of the graph] */
    bool *is_open;    /* [parts]: it has nodes that are asked for */
    struct selected_type type[RELATION_TYPE_COUNT_MAX];
};

/* What is done with a tile. */
struct selection_tiles {
    void *context;
    /* Nodes of the tile that begins with row span->first of its type and part, whose rows end before `end`. */
    uint32_t (*size)(void *context, const struct typed_span *span, uint32_t end);
    /* Layer `layer`, from 1: *output [count, its width], valid until the next tile. */
    enum error_code (*infer)(void *context, const struct selection *selection, int layer,
                             const struct typed_span *span, float **output, struct error *err);
};

/* What comes out: rows of the features, then of each layer, of the type of the logits: those of node[i] in row i, behind them others. */
struct selected_rows {               /* {0} is empty */
    float *row[LAYER_COUNT_MAX + 1]; /* owned */
};

/* Finds who is asked for, and opens their parts. Fails: ERROR_CORRUPT for damaged inputs; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code selection_find(const struct selection_config *config,
                                          struct selection *out, struct error *err);
/* Reads their features. Fails: ERROR_NO_MEMORY when the rows do not fit the budget, saying what does; ERROR_CORRUPT. */
MUST_CHECK enum error_code selection_read(struct selection *selection, struct error *err);
/* Computes all layers, and moves their rows to *out: selected_rows_release(). Fails: ERROR_UNAVAILABLE when asked to stop; as tiles do. */
MUST_CHECK enum error_code selection_infer(struct selection *selection,
                                           const struct selection_tiles *tiles,
                                           struct selected_rows *out, struct error *err);
void selection_release(struct selection *selection);
void selected_rows_release(struct selected_rows *rows);

/* The features of a type, to be read and not held; of numbers in the type. Owns: *out. */
MUST_CHECK enum error_code selection_open_features(const struct selection *selection, uint32_t type,
                                                   struct feature_source **out, struct error *err);
/* The rows of `layer` (0: features) that nodes [count], of the partition and of one type, have, into out [count]; those that nobody asked
 * for there have any. */
void selection_number(const struct selection *selection, uint32_t type, int layer,
                      const uint32_t *node, uint32_t count, uint32_t *out);

#endif
