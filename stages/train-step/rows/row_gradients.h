/*
 * row_gradients - the gradients of a round for the rows of a learnable tensor, each the mean over the slots.
 *
 * Which rows a slot read is in its gradient record. Weighted by the labelled seeds of its slot, over those of the whole
 * round, the sum of a row's gradients is that of the mean loss over the seeds of the round, as gradient_mean.h has it of
 * the dense parameters; a slot that did not read the row adds nothing. Sums are in double, slot after slot.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ROW_GRADIENTS_H
#define STAGES_TRAIN_STEP_ROWS_ROW_GRADIENTS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/plan/model/embedding_shards.h"
#include "store/records/round/gradient.h"

#include <stddef.h>
#include <stdint.h>

struct row_gradients {    /* in an arena, but for what it borrows */
    size_t count;         /* distinct rows */
    const uint32_t *node; /* [count], ascending: numbers among the nodes of the type */
    /* For row_gradients_mean(): */
    const struct gradient *slot;      /* [slot_count]; borrowed */
    const struct gradient_rows *rows; /* [slot_count]: those of the type; count 0: none */
    uint32_t width;
    double seed_count; /* of the round */
    /* Of row i: entry[start[i]] .. entry[start[i + 1] - 1], by slot: slot << 32 | its row. NULL of a round of one slot. */
    const uint64_t *entry;
    const uint64_t *start; /* [count + 1] */
};

/* Of `tensor`, of whose width the rows of all slots are. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_gradients_find(const struct gradient *slot, int slot_count,
                                              const struct embedding_tensor *tensor,
                                              struct arena *arena, struct row_gradients *out,
                                              struct error *err);
/* Of row `i`; sum [width] is scratch, out [width]. */
void row_gradients_mean(const struct row_gradients *gradients, size_t i, double *sum, float *out);

#endif
