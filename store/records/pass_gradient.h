/*
 * pass_gradient - the record of what a layer found on the way back for a slot's mini-batch, where a step is a pipeline of layers.
 *
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_gradient   written by train-step on the way back, read by it in the passes of the
 *                                                         layers that this one reads, and by the last pass
 *       "version"  U64 [1]  of the weights it was made with
 *       "value"    F32 [values]     the gradient of the layer's own parameters, as common/nn/layer_training.h lists them; absent where it
 *                                   has none
 *       "part"     U32 [parts, 4]   of what it leaves for the outputs of layers below: the layer, from 0; 1 where it lies on that
 *                                   layer (struct output_gradient's `next`), else 0; rows; columns
 *       "type"     U32 [parts]      the node type of the rows of each part; absent where it is 0
 *                                   for all
 *       "row"      F32 [values]     their rows [rows, columns], part behind part
 *       "counts"   U64 [2], "loss" F64 [1]   of the last layer, as in a gradient
 *
 * It lives as long as the records of its round. It may hold a NaN: a run that diverges is the user's to mend.
 */
#ifndef STORE_RECORDS_PASS_GRADIENT_H
#define STORE_RECORDS_PASS_GRADIENT_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { PASS_GRADIENT_PARTS_MAX = 64 }; /* a layer leaves up to three for each node type */

struct pass_gradient_part {
    uint32_t layer, type, row_count, column_count;
    bool is_next;
    const float *row; /* [row_count, column_count] */
};

struct pass_gradient {
    uint64_t weights_version;
    uint64_t value_count;
    const float *value; /* [value_count] */
    int part_count;
    struct pass_gradient_part
        part[PASS_GRADIENT_PARTS_MAX]; /* to be put, they lie one behind the other */
    bool has_loss;
    uint64_t seed_count, correct_count;
    double loss_sum;
    struct record_view view;
};

MUST_CHECK enum error_code pass_gradient_put(struct store *store, const char *run_id,
                                             const struct key *key,
                                             const struct pass_gradient *gradient,
                                             struct error *err);
/* Release the view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code pass_gradient_get(struct store *store, const char *run_id,
                                             const struct key *key, struct pass_gradient *out,
                                             struct error *err);
/* The check alone, of a record of any origin. Borrows from the view; `view` inside stays empty. Fails: ERROR_CORRUPT naming record
 * and section. */
MUST_CHECK enum error_code pass_gradient_decode(const struct record_view *view,
                                                struct pass_gradient *out, struct error *err);

#endif
