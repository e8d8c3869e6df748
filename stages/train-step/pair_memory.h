/*
 * pair_memory - the memory that the pairs of a step take, found by running their code in an arena
 * that counts (step_memory.h).
 */
#ifndef STAGES_TRAIN_STEP_PAIR_MEMORY_H
#define STAGES_TRAIN_STEP_PAIR_MEMORY_H

#include "common/nn/model.h"
#include "store/records/batch/seed_pairs.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the largest pairs that a mini-batch of `positives` positives has; {0} in a task of
 * nodes. */
struct seed_pairs pair_memory_pairs(const struct model *model, int64_t positives,
                                    int64_t negatives);
/* Counts the memory of scores and loss and, if `trains`, of the backward pass. `logits` and
 * `value` are not read. Fails: as the arena. */
MUST_CHECK enum error_code pair_memory_count(const struct model *model,
                                             const struct seed_pairs *pairs, uint32_t seed_count,
                                             float *logits, float *value,
                                             const struct model_workspace *workspace, bool trains,
                                             struct error *err);
/* Returns the bytes of the ends of the pairs in a record that was read. */
double pair_memory_bytes(const struct seed_pairs *pairs);

#endif
