/*
 * row_update - the units of aggregate that change the rows of a learnable embedding, and seal them for a snapshot.
 *
 *   update-rows/r/s   gradients of all slots of round r, rows of shard s in version r  ->   update of round r
 *   seal-rows/v/s     rows of shard s in version v                                     ->   seal of version v
 *
 * A worker keeps them from unit to unit in a table (stages/plan/embedding_state.h), which is in
 * memory or on disk as half of --memory allows; the other half is for what one unit reads and writes.
 */
#ifndef STAGES_AGGREGATE_ROW_UPDATE_H
#define STAGES_AGGREGATE_ROW_UPDATE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/optimizer.h"
#include "common/nn/sparse_optimizer.h"
#include "stages/engine/stage.h"
#include "stages/plan/embedding_state.h"
#include "store/records/gradient.h"

struct row_update { /* {0} is closed */
    struct embedding_state state;
    enum sparse_rule rule;
    struct rate_config rate;
    /* The gradients of a round that were read last: most often the next unit is another shard of that round. */
    struct gradient *slot; /* [slot_count], or NULL */
    int32_t slot_count;
    int64_t round;
    struct arena arena; /* of a unit */
};

/* `rate`: that of the run's schedule, its base being aggregate.embedding_rate. */
MUST_CHECK enum error_code row_update_open(const struct stage_context *context,
                                           const struct rate_config *rate, struct row_update *out,
                                           struct error *err);
void row_update_close(struct row_update *update);

/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_INPUT when training diverged; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_update_round(const struct stage_context *context,
                                            struct row_update *update, int64_t round, int shard,
                                            struct error *err);
MUST_CHECK enum error_code row_update_seal(const struct stage_context *context,
                                           struct row_update *update, int64_t version, int shard,
                                           struct error *err);

#endif
