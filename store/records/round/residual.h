/*
 * residual - the part of a slot's gradients that was not sent yet.
 *
 * With train-step.gradient: top_k a slot sends only the largest numbers of its gradient. The rest
 * is added to the gradient of the slot's next round (error feedback): F. Seide and others, "1-Bit
 * Stochastic Gradient Descent", Interspeech 2014; S. U. Stich and others, "Sparsified SGD with
 * Memory", NeurIPS 2018.
 *
 *   run/<id>/round/<r>/slot/<k>/residual   train-step writes it before the gradient, and reads it
 *                                          in the next round that has the slot
 *       "value"    F32 [count]   finite; one number for each parameter that is trained
 */
#ifndef STORE_RECORDS_ROUND_RESIDUAL_H
#define STORE_RECORDS_ROUND_RESIDUAL_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct residual {
    uint64_t count;
    const float *value; /* [count], borrowed from the view */
    struct record_view view;
};

/* `durability` is STORE_DURABLE if a snapshot needs the record. */
MUST_CHECK enum error_code residual_put(struct store *store, const char *run_id, int64_t round,
                                        int slot, const float *value, uint64_t count,
                                        enum store_durability durability, struct error *err);
/* The caller releases out->view. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT, also for another number of
 * values than `count`. */
MUST_CHECK enum error_code residual_get(struct store *store, const char *run_id, int64_t round,
                                        int slot, uint64_t count, struct residual *out,
                                        struct error *err);

#endif
