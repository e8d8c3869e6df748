/*
 * type_inputs - the rows that a layer reads, of each node type, within a budget.
 *
 *   layer 1        features of the type, from the partition; of a type whose rows are learnt what layer 0 of infer made
 *   layers above   what the layer below gave of the type, from the shards of all parts
 *
 * Only types that the logits still need are there. Where the rows of all of them fit the budget
 * they are all in memory; else those of the smallest types are, in up to half of it, and the rows
 * of the others are read as tiles want them, with what the budget has left shared out by what each
 * wants of a tile. None of this changes a row.
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
    const struct weights_identity *identity; /* of the layers below */
    int layer;                               /* the one that reads, from 1 */
    uint64_t budget_bytes;
};

/* Owns:  *out; type_inputs_close().
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT for layers of other weights; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code type_inputs_open(const struct type_inputs_config *config,
                                            struct type_inputs **out, struct error *err);
void type_inputs_close(struct type_inputs *inputs); /* NULL is fine */
uint64_t type_inputs_bytes(const struct type_inputs *inputs);
bool type_inputs_are_resident(const struct type_inputs *inputs);
/* Whether rows of some type are mostly zero, for a layer that multiplies such before it sums
 * them. */
bool type_inputs_skip_zeros(const struct type_inputs *inputs);

/* The numbers of the type that the parts begin with [part_count + 1] (type_ranges.h). */
const uint32_t *type_inputs_book(const struct type_inputs *inputs, uint32_t type);

/* From now on at most so many bytes. What the last fetch took is given back. */
void type_inputs_limit(struct type_inputs *inputs, uint64_t budget_bytes);
/* Gives back what the last fetch took. */
void type_inputs_rest(struct type_inputs *inputs);

/* The rows of a type by numbers in it; NULL: nobody needs any. */
struct feature_source *type_inputs_source(const struct type_inputs *inputs, uint32_t type);

/* Fills in the rows that a layer reads of a tile (inference_tile_count()). Valid until the next
 * call, with what else they need in the tile's arena. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY when a
 * tile does not fit the budget. */
MUST_CHECK enum error_code type_inputs_fetch(struct type_inputs *inputs,
                                             struct inference_tile *tile, struct error *err);
/* Copies the rows of a tile's own nodes into *out [count, columns], in its arena. Fails
 * likewise. */
MUST_CHECK enum error_code type_inputs_copy_own(struct type_inputs *inputs,
                                                const struct inference_tile *tile, float **out,
                                                struct error *err);

#endif
