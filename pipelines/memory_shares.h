/*
 * memory_shares - the memory budget of a local run, divided among its processes.
 *
 *   the driver and its Redis      32 MiB
 *   each worker, as a program     24 MiB: code, libraries, the weights of a usual model
 *   what is left                  by the portions of stages/engine/stage_list.h: sample 1, train-step 2, infer 2 in five, each
 *                                 divided by the workers of the stage; the others keep nothing that grows with the graph,
 *                                 but for aggregate with learnable embeddings, which has 2 beside those
 *
 * What the workers of a stage hold together, the features and the topology (common/parallel/shared_area.h), counts in each
 * of them by its portion (--sharers), so it may be as large as the shares of all of them.
 *
 * ingest and partition run alone and have all of it but for the first two lines. Without a budget the workers divide
 * four fifths of what the machine or container has, and ingest and partition take their own default, half of it.
 * Weights do not depend on any of this.
 */
#ifndef PIPELINES_MEMORY_SHARES_H
#define PIPELINES_MEMORY_SHARES_H

#include "common/base/error.h"
#include "stages/engine/stage_list.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_shares {
    uint64_t once_bytes;                     /* of ingest and partition; 0: their default */
    uint64_t worker_bytes[STAGE_LOOP_COUNT]; /* of one worker */
    uint64_t run_bytes;                      /* of all programs together */
    uint64_t least_bytes;                    /* the least that works for any graph */
};

/* `budget` 0: the default; `workers` of each stage; `embeddings`: the run has learnable ones. Fails: ERROR_NO_MEMORY when the budget is smaller than the
 * least that works for any graph, which is named. */
MUST_CHECK enum error_code memory_shares_divide(uint64_t budget, int workers, bool embeddings,
                                                struct memory_shares *out, struct error *err);
/* The same for `count[i]` workers of stage_loop[i]; a stage of none may have none. */
MUST_CHECK enum error_code memory_shares_divide_each(uint64_t budget,
                                                     const int count[STAGE_LOOP_COUNT],
                                                     bool embeddings, struct memory_shares *out,
                                                     struct error *err);

#endif
