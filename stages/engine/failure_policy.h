/*
 * failure_policy - decides what happens to a unit that failed, and to its worker.
 *
 *   the failure                            the unit                 the worker
 *   Redis or the store does not answer     stays with its worker    waits longer each time, retries
 *   the data or the settings are bad       goes to the dead list    ends, and so do the others when
 *                                                                   they see it
 *   this host has trouble (disk, memory)   is given to the others   ends
 *   a disk or quota is full                is given to the others   waits until there is room
 *   it was a copy of a slow unit           stays with its owner     goes on
 *
 * A policy belongs to one loop of a worker and is used by that thread alone. It logs what it waits
 * for: at once, after ten seconds, then each minute.
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

struct failure_policy { /* the caller sets the first five, all borrowed; the rest starts as 0 */
    struct store *store;
    /* NULL: only the queue tells the others. */
    const struct failure_notice *notice;
    bool (*should_stop)(const void *context); /* called before and during each pause */
    const void *context;
    /* Fail after so long without an answer; 0: never. */
    int64_t give_up_ms;
    int64_t contact_ms; /* when Redis answered last */
    int failures;       /* number of failures in a row */
    int64_t failed_ms;  /* time of the first of them */
    int64_t tell_ms;    /* time of the next log line */
    int full_pauses;    /* pauses in a row because a disk is full */
};

/* Records that Redis has answered. */
void failure_policy_succeeded(struct failure_policy *policy);
/* Starts the wait for Redis again. Called after a time in which Redis was not asked, so that its
 * silence does not count. */
void failure_policy_forgive(struct failure_policy *policy);
/* Handles a failed call. If the call may be made again, it waits and returns true. Otherwise it
 * returns false, and *rc is the error to end with. */
bool failure_policy_try_again(struct failure_policy *policy, enum error_code *rc,
                              struct error *err);
/* Returns after `ms`, or soon if the worker should stop. */
void failure_policy_sleep(const struct failure_policy *policy, int64_t ms);
/* Sets and returns ERROR_UNAVAILABLE: this worker was asked to stop. */
enum error_code failure_policy_stopped(struct error *err);

/* Handles a unit that failed with `rc` and `err`. Returns ERROR_NONE if its worker goes on, or else
 * the reason to end. `keeper` (may be NULL) shows in its heartbeat that the worker waits. */
MUST_CHECK enum error_code failure_policy_unit_failed(struct failure_policy *policy,
                                                      struct work_queue *queue,
                                                      struct work_keeper *keeper,
                                                      const struct work_claim *claim,
                                                      enum error_code rc, struct error *err);
/* Records that a unit was done, so a disk that was full has room again. */
void failure_policy_has_room(struct failure_policy *policy, struct work_keeper *keeper);
/* Gives an unchanged unit back, so that others may take it at once. If Redis does not accept that,
 * they may take it when the lease ends. */
void failure_policy_hand_back(struct work_queue *queue, const struct work_claim *claim);

#endif
