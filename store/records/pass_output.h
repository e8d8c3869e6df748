/*
 * pass_output - the record of what a layer of the model gave for a slot's mini-batch, where a step is a pipeline of layers.
 *
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_output   written by train-step on the way forth, read by it in the passes of the
 *                                                       layers that read this one, on the way forth and back
 *       "version"  U64 [1]  of the weights it was made with
 *       "shape"    U32 [2]  rows of all node types, columns
 *       "value"    F32 [rows, columns], the rows of one type behind those of the type before;
 *                  of a model in bf16 U16 [rows, columns, one more where they are odd]
 *
 * It lives as long as the records of its round. It may hold a NaN: a run that diverges is the user's to mend.
 */
#ifndef STORE_RECORDS_PASS_OUTPUT_H
#define STORE_RECORDS_PASS_OUTPUT_H

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
/* Release the view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code pass_output_get(struct store *store, const char *run_id,
                                           const struct key *key, struct pass_output *out,
                                           struct error *err);
/* The check alone, of a record of any origin. Borrows from the view; `view` inside stays empty. Fails: ERROR_CORRUPT naming record
 * and section. */
MUST_CHECK enum error_code pass_output_decode(const struct record_view *view,
                                              struct pass_output *out, struct error *err);

#endif
