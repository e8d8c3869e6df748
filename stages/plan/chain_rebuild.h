/*
 * chain_rebuild - the queue, made again from what storage says is done.
 */
#ifndef STAGES_PLAN_CHAIN_REBUILD_H
#define STAGES_PLAN_CHAIN_REBUILD_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"

/* Fills an empty or doubtful queue with all that storage says is left to do. Safe beside living
 * workers. */
MUST_CHECK enum error_code chain_rebuild(const struct schedule *schedule, struct store *store,
                                         const char *run_id, struct work_queue *queue,
                                         struct error *err);

#endif
