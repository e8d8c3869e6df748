/*
 * work_turns - the turns of one loop of a worker: claim a unit, do it, publish, hand over, until
 * the run is finished.
 *
 * Only work_loop.c uses it, with as many of these side by side as the stage does units at once.
 */
#ifndef STAGES_ENGINE_WORK_TURNS_H
#define STAGES_ENGINE_WORK_TURNS_H

#include "stages/engine/failure_policy.h"
#include "stages/engine/hand_over.h"
#include "stages/engine/queue_watch.h"
#include "stages/engine/straggler.h"
#include "stages/engine/work_keeper.h"
#include "stages/engine/work_loop.h"
#include "stages/plan/chain/chain_state.h"

#include <pthread.h>
#include <stdatomic.h>

/* The state that the loops of a worker share. */
struct work_shared {
    void *stage_state;
    char store_id[STORE_IDENTITY_SIZE];
    struct chain_state at_start;
    struct failure_notice notice; /* {0}: no notice is left or looked for */
    _Atomic int in_hand;          /* units being done, by all loops */
    /* The time when the last unit ended, or when the loops began. */
    _Atomic int64_t handed_ms;
    /* The loop that failed first; the others finish their unit and stop. */
    _Atomic(struct work_turns *) first_failed;
};

/* One loop, which does one unit at a time, on a thread of its own. */
struct work_turns {
    const struct work_loop_config *config;
    struct work_shared *shared;
    struct stage_context own_context;
    const struct stage_context *context;
    char worker[WORKER_NAME_SIZE];
    pthread_t thread;
    bool started;
    enum error_code rc;
    struct error err;
    struct work_queue_config queue_config;
    struct work_queue *queue;
    struct work_keeper *keeper;
    struct chain_state state; /* the state of the run by storage, at state_ms */
    int64_t state_ms;
    struct hand_over next;
    struct failure_policy policy;
    struct queue_watch watch;
    struct straggler straggler;
};

/* Initialises a loop. To the queue each loop is a worker of its own, "<worker>+<number>" except for
 * the first: claims, leases and heartbeats are for one unit at a time. Times are kept for the first
 * loop alone. `config` and `shared` must outlive it. Fails: ERROR_INVALID for too long a name. */
MUST_CHECK enum error_code work_turns_init(struct work_turns *loop, int number,
                                           const struct work_loop_config *config,
                                           struct work_shared *shared, struct error *err);
/* Runs a loop; for pthread_create(). `context` is an initialised struct work_turns. Sets its rc and
 * err, and sets shared->first_failed if it is the first that failed. Returns NULL. */
void *work_turns_run(void *context);

#endif
