/*
 * row_gradients - the gradients of a round for the rows of a learnable tensor: for each row, the
 * mean over the slots.
 *
 * Each gradient record lists the rows that its slot read. The gradient of a row is the sum over
 * the slots, each weighted by its labelled seeds, divided by the labelled seeds of the round. This
 * is the gradient of the mean loss over the seeds of the round, as in gradient_mean.h for the
 * dense parameters. A slot that did not read the row adds nothing. Sums are computed in double,
 * slot after slot.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ROW_GRADIENTS_H
#define STAGES_TRAIN_STEP_ROWS_ROW_GRADIENTS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/plan/model/embedding_shards.h"
#include "store/records/round/gradient.h"

#include <stddef.h>
#include <stdint.h>

struct row_gradients {    /* in an arena, except what it borrows */
    size_t count;         /* distinct rows */
    const uint32_t *node; /* [count], ascending: numbers among the nodes of the type */
    /* The following fields are inputs of row_gradients_mean(). */
    const struct gradient *slot; /* [slot_count]; borrowed */
    /* [slot_count]: the rows of the type; count 0 if there are none */
    const struct gradient_rows *rows;
    uint32_t width;
    double seed_count; /* labelled seeds of the round */
    /* The entries of row i are entry[start[i]] .. entry[start[i + 1] - 1], in the order of
     * slots. An entry is slot << 32 | row in the slot. NULL in a round of one slot. */
    const uint64_t *entry;
    const uint64_t *start; /* [count + 1] */
};

/* Finds the rows of `tensor` in the gradients of all slots, which must have its width. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_gradients_find(const struct gradient *slot, int slot_count,
                                              const struct embedding_tensor *tensor,
                                              struct arena *arena, struct row_gradients *out,
                                              struct error *err);
/* Computes the mean gradient of row `i` into out [width]; sum [width] is scratch. */
void row_gradients_mean(const struct row_gradients *gradients, size_t i, double *sum, float *out);

#endif
