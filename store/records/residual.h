/*
 * residual - the record of what a slot's gradients have not said yet: where the largest numbers alone are sent
 * (train-step.gradient: top_k), the rest is added to the gradient of the slot's next round.
 *
 * Error feedback: F. Seide and others, "1-Bit Stochastic Gradient Descent", Interspeech 2014; S. U. Stich and others,
 * "Sparsified SGD with Memory", NeurIPS 2018.
 *
 *   run/<id>/round/<r>/slot/<k>/residual   written by train-step before the gradient, read by it in the next round that has the slot
 *       "value"    F32 [count]   finite; one for each parameter that is trained
 */
#ifndef STORE_RECORDS_RESIDUAL_H
#define STORE_RECORDS_RESIDUAL_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct residual {
    uint64_t count;
    const float *value; /* [count], borrowed from the view */
    struct record_view view;
};

/* `durability`: STORE_DURABLE for what a snapshot needs. */
MUST_CHECK enum error_code residual_put(struct store *store, const char *run_id, int64_t round,
                                        int slot, const float *value, uint64_t count,
                                        enum store_durability durability, struct error *err);
/* Of `count` values. Release the view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code residual_get(struct store *store, const char *run_id, int64_t round,
                                        int slot, uint64_t count, struct residual *out,
                                        struct error *err);

#endif
