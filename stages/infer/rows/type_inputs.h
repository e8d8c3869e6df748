/*
 * type_inputs - the rows that a layer reads, for each node type, within a budget.
 *
 *   layer 1        features of the type, from the partition; for a type with learnable rows, the
 *                  output of layer 0 of infer
 *   layers above   output of the layer below for the type, from the shards of all parts
 *
 * Only the types that the logits still need are present. If their rows all fit the budget, all are
 * in memory. Otherwise the smallest types are, in up to half of the budget, and the rows of the
 * others are read for each tile; the rest of the budget is shared in proportion to the rows that a
 * tile needs. This never changes a row.
 */
#ifndef STAGES_INFER_ROWS_TYPE_INPUTS_H
#define STAGES_INFER_ROWS_TYPE_INPUTS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/rows/inference_tile.h"
#include "store/records/round/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

struct type_inputs;

struct type_inputs_config { /* all borrowed */
    const struct stage_context *context;
    const struct model *model;
    const struct weights_identity *identity; /* weights of the layers below */
    int layer;                               /* the layer that reads the rows, from 1 */
    uint64_t budget_bytes;
};

/* Creates *out, which the caller frees with type_inputs_close(). Fails: ERROR_NOT_FOUND;
 * ERROR_CORRUPT for layers computed with other weights; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code type_inputs_open(const struct type_inputs_config *config,
                                            struct type_inputs **out, struct error *err);
void type_inputs_close(struct type_inputs *inputs); /* NULL is fine */
uint64_t type_inputs_bytes(const struct type_inputs *inputs);
bool type_inputs_are_resident(const struct type_inputs *inputs);
/* Returns whether rows of some type are mostly zero, for a layer that multiplies such rows
 * before it sums them. */
bool type_inputs_skip_zeros(const struct type_inputs *inputs);

/* Returns the first number of each part in the type, [part_count + 1] (type_ranges.h). */
const uint32_t *type_inputs_book(const struct type_inputs *inputs, uint32_t type);

/* Limits the bytes from now on, and frees the memory of the last fetch. */
void type_inputs_limit(struct type_inputs *inputs, uint64_t budget_bytes);
/* Frees the memory of the last fetch. */
void type_inputs_rest(struct type_inputs *inputs);

/* Returns the source of the rows of a type, by number; NULL if nobody needs any. */
struct feature_source *type_inputs_source(const struct type_inputs *inputs, uint32_t type);

/* Fills in the rows that a layer reads of a tile (inference_tile_count()). They are valid until
 * the next call; further memory lies in the tile's arena. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY
 * if a tile does not fit the budget. */
MUST_CHECK enum error_code type_inputs_fetch(struct type_inputs *inputs,
                                             struct inference_tile *tile, struct error *err);
/* Copies the rows of a tile's own nodes to *out [count, columns], in its arena. Fails as
 * type_inputs_fetch(). */
MUST_CHECK enum error_code type_inputs_copy_own(struct type_inputs *inputs,
                                                const struct inference_tile *tile, float **out,
                                                struct error *err);

#endif
