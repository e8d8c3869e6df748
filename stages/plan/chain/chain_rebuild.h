/*
 * chain_rebuild - fills the queue again from the records in storage.
 */
#ifndef STAGES_PLAN_CHAIN_CHAIN_REBUILD_H
#define STAGES_PLAN_CHAIN_CHAIN_REBUILD_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"

/* Fills an empty or doubtful queue with all units that, by the records in storage, are still to be
 * done. It is safe while workers run. */
MUST_CHECK enum error_code chain_rebuild(const struct schedule *schedule, struct store *store,
                                         const char *run_id, struct work_queue *queue,
                                         struct error *err);

#endif
