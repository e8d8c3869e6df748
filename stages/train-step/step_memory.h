/*
 * step_memory - how the budget of a train-step program is shared out before any of it is used.
 *
 * What a step needs follows from batch size, fan-outs and widths: an upper bound on the nodes and
 * edges of each hop gives one on every array, and the step itself, run on blocks of those sizes in
 * an arena that only counts (arena.h), says what that comes to. What is left holds feature rows:
 * all of them, or else the aggregated rows of two mini-batches (prepared_batch.h), which the step
 * then need not hold, and the rows used most. When it would be under a quarter of the budget, the
 * feature rows get a quarter all the same, and the bound being one, the step will often fit too; if
 * not, it says what it wanted.
 */
#ifndef STAGES_TRAIN_STEP_STEP_MEMORY_H
#define STAGES_TRAIN_STEP_STEP_MEMORY_H

#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"

#include <stdbool.h>
#include <stdint.h>

struct step_memory {
    uint64_t step_bytes;      /* upper bound of the arena for one unit */
    uint64_t record_bytes;    /* of mini-batches: trained on, read ahead, looked at, evaluated on */
    uint64_t feature_bytes;   /* budget of the feature rows, and of what is prepared from them */
    uint64_t label_bytes;     /* budget of the label rows */
    uint64_t embedding_bytes; /* budget of the learnable rows */
    bool rows_fit;            /* all feature rows do */
};

/* Bytes that are wanted. */
struct step_needs {
    double rows;            /* of all features */
    double labels, records; /* which get at most an eighth of the budget each */
    double step,
        step_given; /* an upper bound for one unit; the second where not all features fit */
};

/* Shares a budget out, of which `embedding_bytes` are gone. */
struct step_memory step_memory_share(const struct step_needs *needs, double memory_bytes,
                                     uint64_t embedding_bytes);
/* A count of what a dry run only adds up: what does not fit is more memory than there is. */
uint32_t step_memory_count(double count);

/* `label_dim`: values of a label row. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT for the seals of the
 * partition; ERROR_INVALID naming a fan-out; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code step_memory_plan(const struct model *model,
                                            const struct stage_context *context,
                                            const struct edge_use *use, uint32_t label_dim,
                                            struct step_memory *out, struct error *err);

#endif
