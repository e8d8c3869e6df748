/*
 * memory_shares - divides the memory budget of a local run among its processes.
 *
 *   the driver and its Redis      32 MiB
 *   each worker, as a program     24 MiB: code, libraries, the weights of a usual model
 *   the rest                      by the portions in stages/engine/stage_list.h: sample 1,
 *                                 train-step 2, infer 2 of five, each divided by the number of
 *                                 workers of the stage; the other stages hold nothing that grows
 *                                 with the graph, except aggregate with learnable embeddings, which
 *                                 has a portion of 2 more
 *
 * The workers of a stage share features and topology (common/parallel/shared_area.h). Each worker
 * counts its portion of them (--sharers), so together they may be as large as the shares of all
 * workers.
 *
 * ingest and partition run alone and get all of the budget but the first two lines. Without a
 * budget the workers divide four fifths of the memory of the machine or container, and ingest and
 * partition use their own default, which is half of it. Weights do not depend on any of this.
 */
#ifndef PIPELINES_SHARED_MEMORY_SHARES_H
#define PIPELINES_SHARED_MEMORY_SHARES_H

#include "common/base/error.h"
#include "stages/engine/stage_list.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_shares {
    /* budget of ingest and of partition; 0: their default */
    uint64_t once_bytes;
    uint64_t worker_bytes[STAGE_LOOP_COUNT]; /* of each worker of the stage */
    uint64_t run_bytes;                      /* of all programs together */
    uint64_t least_bytes;                    /* smallest budget that works for any graph */
};

/* Divides `budget`, or the default if it is 0, among `workers` of each stage. `embeddings` says
 * that the run has learnable ones. Fails: ERROR_NO_MEMORY when the budget is smaller than the least
 * that works for any graph; the message names it. */
MUST_CHECK enum error_code memory_shares_divide(uint64_t budget, int workers, bool embeddings,
                                                struct memory_shares *out, struct error *err);
/* Does the same for `count[i]` workers of stage_loop[i]; a stage with nothing to do may have 0. */
MUST_CHECK enum error_code memory_shares_divide_each(uint64_t budget,
                                                     const int count[STAGE_LOOP_COUNT],
                                                     bool embeddings, struct memory_shares *out,
                                                     struct error *err);

#endif
