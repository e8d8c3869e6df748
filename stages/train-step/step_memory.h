/*
 * step_memory - divides the memory budget of a train-step program before any of it is used.
 *
 * The needs of a step follow from batch size, fan-outs and widths. Upper bounds on the nodes and
 * edges of each hop (batch_bounds.h) bound every array. The code of the step itself runs on blocks
 * of these sizes in an arena that only counts (arena.h), and so finds the bytes it needs. The rest
 * of the budget holds feature rows: all of them, or else the aggregated rows of two mini-batches
 * (prepared_batch.h), which the step then does not hold, and the rows that are used most.
 *
 * Feature rows get at least a quarter of the budget. The step then often still fits, because its
 * need is an upper bound. If it does not fit, it fails and reports the bytes it wanted.
 */
#ifndef STAGES_TRAIN_STEP_STEP_MEMORY_H
#define STAGES_TRAIN_STEP_STEP_MEMORY_H

#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"

#include <stdbool.h>
#include <stdint.h>

struct step_memory {
    uint64_t step_bytes; /* upper bound of the arena for one unit */
    /* mini-batches in training, read ahead, counted for the cache and evaluated */
    uint64_t record_bytes;
    uint64_t feature_bytes;   /* budget of the feature rows and of the rows prepared from them */
    uint64_t label_bytes;     /* budget of the label rows */
    uint64_t embedding_bytes; /* budget of the learnable rows */
    bool rows_fit;            /* whether all feature rows fit */
};

/* Bytes that the parts of a step need. */
struct step_needs {
    double rows;            /* all feature rows */
    double labels, records; /* each gets at most an eighth of the budget */
    /* upper bounds for one unit; step_given applies if not all features fit */
    double step, step_given;
};

/* Divides a budget from which `embedding_bytes` are already taken. */
struct step_memory step_memory_share(const struct step_needs *needs, double memory_bytes,
                                     uint64_t embedding_bytes);
/* Converts a count for a dry run. A count that does not fit is larger than any memory, so it
 * becomes the largest count. */
uint32_t step_memory_count(double count);

/* Plans the budget of a program. `label_dim`: values of a label row. Fails: ERROR_NOT_FOUND,
 * ERROR_CORRUPT for the seals of the partition; ERROR_INVALID naming a fan-out; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code step_memory_plan(const struct model *model,
                                            const struct stage_context *context,
                                            const struct edge_use *use, uint32_t label_dim,
                                            struct step_memory *out, struct error *err);

#endif
