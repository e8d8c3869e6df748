/*
 * failure_policy - what becomes of a unit that was not done, and of its worker.
 *
 *   the failure                              the unit                  the worker
 *   Redis or the store does not answer       stays with its worker     waits, longer each time, and tries again
 *   the data or the settings are bad         goes to the dead list     ends, and so do the others when they see it
 *   this host has trouble (disk, memory)     is handed to the others   ends
 *   a disk or quota is full                  is handed to the others   waits until there is room
 *   it was a second copy of a slow unit      stays with its owner      goes on
 *
 * One policy belongs to one loop of a worker and is of that thread alone. It says in the log what it waits for: at once,
 * after ten seconds, then each minute.
 */
#ifndef STAGES_ENGINE_FAILURE_POLICY_H
#define STAGES_ENGINE_FAILURE_POLICY_H

#include "common/base/error.h"
#include "stages/engine/failure_notice.h"
#include "stages/engine/work_keeper.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct failure_policy { /* set the first five, all borrowed; the rest starts as 0 */
    struct store *store;
    const struct failure_notice *notice;      /* NULL: the others are told by the queue alone */
    bool (*should_stop)(const void *context); /* asked before and during each pause */
    const void *context;
    int64_t give_up_ms; /* after so long without an answer; 0: never */
    int64_t contact_ms; /* when Redis answered last */
    int failures;       /* in a row */
    int64_t failed_ms;  /* when the first of them was */
    int64_t tell_ms;    /* they are told again then */
    int full_pauses;    /* in a row, while a disk is full */
};

/* Redis answered. */
void failure_policy_succeeded(struct failure_policy *policy);
/* Redis was not asked for a while, so its silence is none: what is waited for in all begins now. */
void failure_policy_forgive(struct failure_policy *policy);
/* After a failure: waits and says true when the same call may be made again. Else *rc is the error to
 * end with. */
bool failure_policy_try_again(struct failure_policy *policy, enum error_code *rc,
                              struct error *err);
/* Returns after `ms`, or soon when the worker should stop. */
void failure_policy_sleep(const struct failure_policy *policy, int64_t ms);
/* Sets ERROR_UNAVAILABLE: this worker was asked to stop. */
enum error_code failure_policy_stopped(struct error *err);

/* The unit of `claim` was not done, for `rc` and `err`. Its worker goes on (ERROR_NONE) or ends with the reason.
 * `keeper` (may be NULL) tells others in its heartbeat that the worker waits. */
MUST_CHECK enum error_code failure_policy_unit_failed(struct failure_policy *policy,
                                                      struct work_queue *queue,
                                                      struct work_keeper *keeper,
                                                      const struct work_claim *claim,
                                                      enum error_code rc, struct error *err);
/* A unit was done: if a disk was full, it is no more. */
void failure_policy_has_room(struct failure_policy *policy, struct work_keeper *keeper);
/* The unit is as good as it was: others may have it at once. When Redis does not take it, the lease ends. */
void failure_policy_hand_back(struct work_queue *queue, const struct work_claim *claim);

#endif
