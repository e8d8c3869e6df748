/*
 * pass_gradient - the gradients that one layer computed for a slot's mini-batch, in a step that is
 * a pipeline of layers.
 *
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_gradient
 *       train-step writes it in the backward pass, and reads it in the passes of the layers below
 *       that this layer reads, and in the last pass
 *       "version"  U64 [1]  of the weights that it was computed with
 *       "value"    F32 [values]     the gradient of the layer's own parameters, in the order of
 *                                   common/nn/layer_training.h; absent if the layer has none
 *       "part"     U32 [parts, 4]   the gradients of the outputs of layers below: the number of the
 *                                   layer, from 0; 1 if the part belongs to that layer's `next`
 *                                   (struct output_gradient), else 0; rows; columns
 *       "type"     U32 [parts]      the node type of the rows of each part; absent if it is 0 for all
 *       "row"      F32 [values]     the rows [rows, columns] of all parts, one part after the other
 *       "counts"   U64 [2], "loss" F64 [1]   only in the last layer, as in a gradient
 *
 * It lives as long as the records of its round. It may hold a NaN: a run that diverges is not a
 * damaged record.
 */
#ifndef STORE_RECORDS_ROUND_PASS_GRADIENT_H
#define STORE_RECORDS_ROUND_PASS_GRADIENT_H

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
    /* For a put, the rows of the parts lie one behind the other. */
    struct pass_gradient_part part[PASS_GRADIENT_PARTS_MAX];
    bool has_loss;
    uint64_t seed_count, correct_count;
    double loss_sum;
    struct record_view view;
};

MUST_CHECK enum error_code pass_gradient_put(struct store *store, const char *run_id,
                                             const struct key *key,
                                             const struct pass_gradient *gradient,
                                             struct error *err);
/* The caller releases out->view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code pass_gradient_get(struct store *store, const char *run_id,
                                             const struct key *key, struct pass_gradient *out,
                                             struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code pass_gradient_decode(const struct record_view *view,
                                                struct pass_gradient *out, struct error *err);

#endif
