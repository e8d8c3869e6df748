/*
 * pass_output - the output of one layer for a slot's mini-batch, in a step that is a pipeline of
 * layers.
 *
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_output
 *       train-step writes it in the forward pass, and reads it in the forward and backward passes
 *       of the layers above that read this layer
 *       "version"  U64 [1]  of the weights that it was computed with
 *       "shape"    U32 [2]  rows of all node types, columns
 *       "value"    F32 [rows, columns], one node type after the other; of a model in bf16 U16
 *                           [rows, columns, and one more if their product is odd]
 *
 * It lives as long as the records of its round. It may hold a NaN: a run that diverges is not a
 * damaged record.
 */
#ifndef STORE_RECORDS_ROUND_PASS_OUTPUT_H
#define STORE_RECORDS_ROUND_PASS_OUTPUT_H

#include "common/base/error.h"
#include "common/math/precision.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdint.h>

struct pass_output {
    uint64_t weights_version;
    uint32_t row_count, column_count;
    enum precision precision;
    const void *value; /* [row_count, precision_stride(column_count)], borrowed */
    struct record_view view;
};

MUST_CHECK enum error_code pass_output_put(struct store *store, const char *run_id,
                                           const struct key *key, const struct pass_output *output,
                                           struct error *err);
/* The caller releases out->view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code pass_output_get(struct store *store, const char *run_id,
                                           const struct key *key, struct pass_output *out,
                                           struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code pass_output_decode(const struct record_view *view,
                                              struct pass_output *out, struct error *err);

#endif
