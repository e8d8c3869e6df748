/*
 * type_inputs - the rows that a layer over relations reads, of each node type, within a budget.
 *
 *   layer 1        features of the type, from the partition; of a type whose rows are learnt what layer 0 of infer made
 *   layers above   what the layer below gave of the type, from the shards of all parts
 *
 * Only types that the logits still need are there. Where the rows of all of them fit the budget they are all in memory; else
 * those of the smallest types are, in up to half of it, and the rows of the others are read as tiles want them, with what the
 * budget has left shared out by what each wants of a tile. None of this changes a row.
 */
#ifndef STAGES_INFER_TYPE_INPUTS_H
#define STAGES_INFER_TYPE_INPUTS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/typed_tiles.h"
#include "store/records/weights_identity.h"

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

/* The first number of a type in a part; of part `part_count` how many there are. */
uint32_t type_inputs_first(const struct type_inputs *inputs, uint32_t type, int part);
const uint32_t *type_inputs_book(const struct type_inputs *inputs, uint32_t type);

/* From now on at most so many bytes. What the last fetch took is given back. */
void type_inputs_limit(struct type_inputs *inputs, uint64_t budget_bytes);
/* What rows that are in memory take, and fetching `count` of each other type. */
uint64_t type_inputs_need(const struct type_inputs *inputs, uint32_t count);

/* The rows of a type by numbers in it; NULL: nobody needs any. */
struct feature_source *type_inputs_source(const struct type_inputs *inputs, uint32_t type);

/* Fills in the rows that a layer reads of a tile: of all in its batch; of one with sums, or without edges, of its span alone. Valid until the next call, with what
 * else they need in the tile's arena. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY when a tile does not fit the budget. */
MUST_CHECK enum error_code type_inputs_fetch(struct type_inputs *inputs, struct typed_tile *tile,
                                             struct error *err);

#endif
