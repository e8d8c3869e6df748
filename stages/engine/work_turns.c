#include "stages/engine/work_turns.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chain_rebuild.h"
#include "stages/plan/chain/chain_repair.h"
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK_MS = 1000,
    STATE_AGE_MS_MAX = 1000,
    REBUILD_LOOK_MS = 10,
    DEAD_LOOKS_MAX = 100,
};

static bool should_stop(const void *context)
{
    const struct work_turns *loop = context;
    return stop_signal_seen() || atomic_load(&loop->shared->first_failed) != NULL;
}

static enum error_code refresh_state(struct work_turns *loop, struct error *err)
{
    loop->state_ms = clock_ms();
    return chain_state_refresh(loop->context->schedule, loop->context->store, loop->context->run_id,
                               &loop->state, err);
}

/* Reads the state of the run again, whatever was known of it: the snapshot that was known to be
 * whole may be the damaged one. */
static enum error_code read_state_anew(struct work_turns *loop, struct error *err)
{
    loop->state_ms = clock_ms();
    return chain_state_read(loop->context->schedule, loop->context->store, loop->context->run_id,
                            &loop->state, err);
}

static enum error_code is_done(struct work_turns *loop, const struct unit *unit, bool *done,
                               struct error *err)
{
    return chain_is_done(loop->context->schedule, loop->context->store, loop->context->run_id,
                         &loop->state, unit, done, err);
}

static enum error_code rebuild(struct work_turns *loop, struct error *err)
{
    return chain_rebuild(loop->context->schedule, loop->context->store, loop->context->run_id,
                         loop->queue, err);
}

/* Fills the queue from storage if it has nothing of this run, or waits for the worker that does. */
static enum error_code recover_queue(struct work_turns *loop, struct error *err)
{
    bool won = false, alive = false;
    enum error_code rc = work_queue_rebuild_begin(loop->queue, &won, &alive, err);
    if (rc != ERROR_NONE || alive)
        return rc;
    if (!won) {
        failure_policy_sleep(&loop->policy, REBUILD_LOOK_MS);
        return ERROR_NONE;
    }
    rc = rebuild(loop, err);
    if (rc == ERROR_NONE)
        rc = work_queue_rebuild_end(loop->queue, err);
    if (rc == ERROR_NONE)
        log_info("queue of run %s filled from storage", loop->context->run_id);
    return rc;
}

static enum error_code is_open(struct work_turns *loop, const char *name, bool *open,
                               struct error *err)
{
    return chain_is_open(loop->context->schedule, loop->context->store, loop->context->run_id,
                         &loop->state, name, open, err);
}

/* Fails if a unit is on the dead list, unless storage says that it is done. */
static enum error_code stop_for_dead(struct work_turns *loop, struct error *err)
{
    char unit[QUEUE_UNIT_SIZE], reason[512];
    for (int i = 0; i < DEAD_LOOKS_MAX; i++) {
        bool found = false, open = false;
        enum error_code rc =
            work_queue_first_dead(loop->queue, &found, unit, reason, sizeof reason, err);
        if (rc != ERROR_NONE || !found)
            return rc;
        rc = is_open(loop, unit, &open, err);
        if (rc == ERROR_NONE && open)
            return error_set(err, ERROR_CORRUPT, "unit %s failed for good: %s", unit, reason);
        if (rc == ERROR_NONE)
            rc = work_queue_forget_dead(loop->queue, unit, err);
        if (rc != ERROR_NONE)
            return rc;
        log_warn("'%s' on the dead list is done, or is no unit of this run: removed", unit);
    }
    return ERROR_NONE;
}

/* Fails if a stage has failed for good, unless it failed at a unit that was done since. */
static enum error_code stop_for_notice(struct work_turns *loop, struct error *err)
{
    struct failure_told told;
    bool found = false, open = true; /* without a unit: it could not even open what it works with */
    enum error_code rc = failure_notice_read(&loop->shared->notice, &found, &told, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    if (unit_parse(told.unit, &(struct unit){0}, NULL) == ERROR_NONE)
        rc = is_open(loop, told.unit, &open, err);
    return rc == ERROR_NONE && open
               ? error_set(err, told.code, "%s failed for good: %s", told.stage, told.sentence)
               : rc;
}

/* Finds out why there was nothing to do for a while: the run is finished, dead, or stuck. */
static enum error_code look_around(struct work_turns *loop, bool *finished, struct error *err)
{
    enum error_code rc = refresh_state(loop, err);
    *finished = rc == ERROR_NONE && loop->state.finished;
    if (rc != ERROR_NONE || *finished)
        return rc;
    rc = stop_for_notice(loop, err);
    if (rc == ERROR_NONE)
        rc = stop_for_dead(loop, err);
    return rc == ERROR_NONE ? queue_watch_turn(&loop->watch, loop->queue, err) : rc;
}

/* Returns whether a call that may have failed should be made again. Redis may have been stopped
 * because the run is finished, which storage knows: then *rc is ERROR_NONE and loop->state is
 * finished. */
static bool ask_again(struct work_turns *loop, enum error_code *rc, struct error *err)
{
    if (*rc == ERROR_NONE || !failure_policy_try_again(&loop->policy, rc, err))
        return false;
    if (refresh_state(loop, NULL) != ERROR_NONE || !loop->state.finished)
        return true;
    *rc = ERROR_NONE;
    return false;
}

static enum error_code complete(struct work_turns *loop, const struct work_claim *claim,
                                const struct unit *unit, int64_t *done_count, struct error *err)
{
    enum error_code rc = hand_over_name(&loop->next, loop->context, unit, err);
    if (rc != ERROR_NONE)
        return rc;
    do {
        *done_count = 0;
        rc = work_queue_complete(loop->queue, claim, loop->next.entry, loop->next.count, done_count,
                                 err);
    } while (ask_again(loop, &rc, err));
    if (rc == ERROR_NONE && *done_count == 0)
        log_debug("the lease of %s was lost; its present holder completes it", claim->unit);
    return rc;
}

/* Returns whether a snapshot may have covered this unit since storage was last read. */
static bool state_is_old(const struct work_turns *loop, const struct work_claim *claim,
                         const struct unit *unit)
{
    const int64_t next =
        schedule_snapshot_at_or_after(loop->context->schedule, loop->state.snapshot_version + 1);
    const bool moved = unit->round >= next && clock_ms() - loop->state_ms > STATE_AGE_MS_MAX;
    return moved || claim->delivery_count > 1 || claim->is_copy;
}

/* Returns whether only the end of the run decides that there is such a unit. */
static bool is_after_training(const struct unit *unit)
{
    return unit_row_of(unit->kind)->line == LINE_WEIGHTS;
}

/* Reads the unit of a claim, which may name anything: a unit of another stage or run, or one
 * that was never asked for. For a unit of inference it reads the state of the run, since only
 * the end of the run decides which weights inference uses. Fails: ERROR_INVALID if this run has
 * no such unit. */
static enum error_code read_unit(struct work_turns *loop, const struct work_claim *claim,
                                 struct unit *unit, struct error *err)
{
    enum error_code rc = unit_parse(claim->unit, unit, err);
    if (rc == ERROR_NONE)
        rc = unit_check_stage(unit, loop->config->stage->name, err);
    if (rc == ERROR_NONE && is_after_training(unit) && !loop->state.stopped)
        rc = refresh_state(loop, err);
    return rc == ERROR_NONE
               ? chain_check_unit(loop->context->schedule, unit, loop->state.weights_version, err)
               : rc;
}

/* Takes a unit off the queue that is not of this run: nothing waits for it. */
static enum error_code drop(struct work_turns *loop, const struct work_claim *claim,
                            struct error *err)
{
    bool fenced = false;
    log_warn("%s is taken off the queue: %s", claim->unit, err->message);
    return work_queue_give_back(loop->queue, claim, &fenced, err);
}

/* Takes the unit off the queue and lets it wait there for its inputs. */
static enum error_code give_back(struct work_turns *loop, const struct work_claim *claim,
                                 bool *given_back, struct error *err)
{
    bool fenced = false;
    *given_back = true;
    const enum error_code rc = work_queue_give_back(loop->queue, claim, &fenced, err);
    return rc == ERROR_NONE ? rebuild(loop, err) : rc;
}

/* Handles a missing or damaged input. A newer snapshot may have made the unit superfluous while it
 * was done; its inputs were then pruned, and the unit counts as done. So does a unit that misses an
 * input and that another worker has done. If inputs can be made again, the unit goes back to the
 * queue behind them (*given_back). If all inputs are whole now, *whole is set and the failure
 * stays. */
static enum error_code heal(struct work_turns *loop, const struct work_claim *claim,
                            const struct unit *unit, bool *given_back, bool *whole,
                            struct error *err)
{
    const struct error cause = *err;
    bool done = false, missing = false;
    enum error_code rc = read_state_anew(loop, err);
    if (rc == ERROR_NONE && cause.code == ERROR_NOT_FOUND)
        rc = is_done(loop, unit, &done, err);
    else if (rc == ERROR_NONE)
        done = chain_is_covered(loop->context->schedule, &loop->state, unit);
    if (rc == ERROR_NONE && done && cause.code == ERROR_CORRUPT)
        log_warn("%s: %s; the run is past it", claim->unit, cause.message);
    if (rc != ERROR_NONE || done)
        return rc;
    rc = chain_repair_inputs(loop->context->schedule, loop->context->store, loop->context->run_id,
                             &loop->state, unit, &missing, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!missing) {
        *whole = true;
        *err = cause;
        return cause.code;
    }
    log_warn("%s: %s; it waits until its inputs are made", claim->unit, cause.message);
    return give_back(loop, claim, given_back, err);
}

/* Does the unit. Another worker that met the same damage may have repaired it before this one
 * looked. So if all inputs are whole the unit is done once more. A second failure is for good, for
 * example when an output is there and differs. */
static enum error_code work_and_heal(struct work_turns *loop, const struct work_claim *claim,
                                     const struct unit *unit, bool *given_back, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool whole = true;
    for (int attempt = 0; attempt < 2 && whole; attempt++) {
        const double before = clock_seconds();
        whole = false;
        stage_times_enter(loop->context->times, TIME_COMPUTE);
        rc = loop->config->stage->work(loop->context, loop->shared->stage_state, unit, err);
        if (rc == ERROR_NONE)
            straggler_note(&loop->straggler, unit->kind, clock_seconds() - before);
        stage_times_enter(loop->context->times, TIME_HAND_OVER);
        failure_policy_forgive(&loop->policy); /* Redis was not asked meanwhile */
        if ((rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT) && !claim->is_copy)
            rc = heal(loop, claim, unit, given_back, &whole, err);
    }
    return rc;
}

/* Sets the ref to the snapshot by which the unit counts as done. The ref may be lost, or the worker
 * that should set it may have died, and perhaps no other worker comes by. */
static enum error_code set_lost_switch(struct work_turns *loop, struct error *err)
{
    const enum error_code rc = refresh_state(loop, err);
    return rc == ERROR_NONE
               ? chain_state_mend(loop->context->store, loop->context->run_id, &loop->state, err)
               : rc;
}

/* Returns whether storage is asked if the unit is done already. A unit that the queue names for
 * the first time was not done before, except if the queue itself was rolled back. For units of a
 * round that shows when they are done: they find their own output, or miss inputs that were
 * pruned (heal()). In a store that is far away the question would take as long as the rest of a
 * hand-over. */
static bool is_worth_a_look(const struct work_turns *loop, const struct work_claim *claim,
                            const struct unit *unit)
{
    return claim->delivery_count > 1 || claim->is_copy ||
           unit_row_of(unit->kind)->line != LINE_ROUNDS ||
           store_capabilities(loop->context->store) & STORE_IS_LOCAL;
}

static enum error_code do_unit(struct work_turns *loop, const struct work_claim *claim,
                               const struct unit *unit, bool *given_back, struct error *err)
{
    bool done = false;
    enum error_code rc = ERROR_NONE;
    if (state_is_old(loop, claim, unit))
        rc = refresh_state(loop, err);
    if (rc == ERROR_NONE && is_worth_a_look(loop, claim, unit))
        rc = is_done(loop, unit, &done, err);
    else if (rc == ERROR_NONE)
        done = chain_is_covered(loop->context->schedule, &loop->state, unit);
    if (rc == ERROR_NONE && done && !loop->state.is_named)
        rc = set_lost_switch(loop, err);
    if (rc != ERROR_NONE || done)
        return rc;
    if (is_after_training(unit) && !loop->state.stopped) {
        log_warn("%s: the run has not ended yet; it waits for that", claim->unit);
        return give_back(loop, claim, given_back, err);
    }
    return work_and_heal(loop, claim, unit, given_back, err);
}

static enum error_code give_up(struct work_turns *loop, const struct work_claim *claim,
                               enum error_code rc, struct error *err)
{
    return failure_policy_unit_failed(&loop->policy, loop->queue, loop->keeper, claim, rc, err);
}

/* Uses the time in which others work on what was handed over. */
static void rest(struct work_turns *loop, const struct unit *unit, int64_t done_count)
{
    const struct stage *own = loop->config->stage;
    if (own->rest && done_count > 0)
        own->rest(loop->context, loop->shared->stage_state, unit, done_count);
    store_start_writeback(loop->context->store);
    if (own->is_waited_for)
        store_preallocate(loop->context->store);
}

/* Exchanges the claimed unit for a waiting one that the stage prefers, if there is one. */
static enum error_code exchange(struct work_turns *loop, struct work_claim *claim,
                                struct error *err)
{
    const struct stage *own = loop->config->stage;
    char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE];
    struct unit unit = {0};
    if (!own->prefers || claim->is_copy || read_unit(loop, claim, &unit, NULL) != ERROR_NONE)
        return ERROR_NONE;
    const int count = own->prefers(loop->context, loop->shared->stage_state, &unit, wanted);
    return count > 0 ? work_queue_exchange(loop->queue, claim, wanted, count, err) : ERROR_NONE;
}

static enum error_code handle(struct work_turns *loop, const struct work_claim *claim,
                              struct error *err)
{
    struct unit unit = {0};
    int64_t done_count = 0;
    bool given_back = false;
    enum error_code rc = read_unit(loop, claim, &unit, err);
    if (rc == ERROR_INVALID)
        return claim->is_copy ? ERROR_NONE : drop(loop, claim, err);
    if (rc != ERROR_NONE)
        return give_up(loop, claim, rc, err);
    work_keeper_begin(loop->keeper, claim);
    stage_times_begin_unit(loop->context->times, &unit);
    do
        rc = do_unit(loop, claim, &unit, &given_back, err);
    while (rc != ERROR_NONE && !given_back && !claim->is_copy &&
           failure_policy_try_again(&loop->policy, &rc, err));
    if (rc == ERROR_NONE && !given_back)
        rc = complete(loop, claim, &unit, &done_count, err);
    work_keeper_end(loop->keeper, rc == ERROR_NONE && !given_back);
    stage_times_end_unit(loop->context->times, rc == ERROR_NONE && !given_back);
    if (rc != ERROR_NONE)
        return give_up(loop, claim, rc, err);
    failure_policy_has_room(&loop->policy, loop->keeper);
    rest(loop, &unit, done_count);
    return rc;
}

static enum error_code hold(struct work_turns *loop, const struct work_claim *claim,
                            struct error *err)
{
    struct work_shared *shared = loop->shared;
    atomic_fetch_add(&shared->in_hand, 1);
    const enum error_code rc = handle(loop, claim, err);
    atomic_store(&shared->handed_ms, clock_ms());
    atomic_fetch_sub(&shared->in_hand, 1);
    return rc;
}

static enum error_code copy_slow_unit(struct work_turns *loop, struct error *err)
{
    bool found = false;
    struct work_claim copy = {0};
    const enum error_code rc = straggler_find(&loop->straggler, loop->queue,
                                              loop->config->queue.worker, &found, &copy, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    log_info("%s has been with %s for long: making a second copy", copy.unit, copy.owner);
    return hold(loop, &copy, err);
}

/* Handles a turn in which no unit came. */
static enum error_code idle(struct work_turns *loop, bool *finished, struct error *err)
{
    const enum error_code rc = look_around(loop, finished, err);
    return rc == ERROR_NONE && !*finished ? copy_slow_unit(loop, err) : rc;
}

/* Does one turn of the loop. */
static enum error_code turn(struct work_turns *loop, bool *finished, struct error *err)
{
    enum claim_result result = CLAIM_NOTHING;
    struct work_claim claim = {0};
    enum error_code rc = work_queue_claim(loop->queue, BLOCK_MS, &result, &claim, err);
    if (rc != ERROR_NONE)
        return rc;
    failure_policy_succeeded(&loop->policy);
    if (result == CLAIM_LOST)
        return recover_queue(loop, err);
    if (result == CLAIM_NOTHING)
        return idle(loop, finished, err);
    if (result == CLAIM_REFUSED) {
        log_warn("entry %s in the queue of %s names no unit: dropped", claim.id,
                 loop->config->stage->name);
        return ERROR_NONE;
    }
    if (stop_signal_seen()) {
        failure_policy_hand_back(loop->queue, &claim);
        return failure_policy_stopped(err);
    }
    rc = exchange(loop, &claim, err);
    if (rc == ERROR_NONE)
        rc = hold(loop, &claim, err);
    if (rc == ERROR_NONE && strncmp(claim.unit, "outputs/", strlen("outputs/")) == 0)
        rc = look_around(loop, finished, err);
    return rc;
}

/* Connects to Redis. loop->queue stays NULL if the run ends before Redis answers. */
static enum error_code connect(struct work_turns *loop, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    loop->state_ms = clock_ms();
    failure_policy_forgive(&loop->policy);
    do
        rc = work_queue_open(&loop->queue_config, &loop->queue, err);
    while (ask_again(loop, &rc, err));
    if (rc != ERROR_NONE || !loop->queue)
        return rc;
    /* The start of a run refuses such a server. If it became one since, the units that it evicts
     * are queued again. */
    if (work_queue_check_policy(loop->queue, err) == ERROR_INVALID)
        log_warn("%s", err->message);
    return work_keeper_new(&loop->queue_config, &loop->keeper, err);
}

/* Fails if the worker was idle for too long. Its next unit may be hours away, and it holds memory
 * that others could use: whoever started it starts it again. */
static enum error_code check_idle(const struct work_turns *loop, struct error *err)
{
    const int64_t most = loop->config->idle_ms;
    if (most == 0 || atomic_load(&loop->shared->in_hand) > 0 ||
        clock_ms() - atomic_load(&loop->shared->handed_ms) < most)
        return ERROR_NONE;
    return error_set(err, ERROR_UNAVAILABLE, "no unit of %s came for %" PRId64 " s",
                     loop->config->stage->name, most / 1000);
}

static enum error_code run_turns(struct work_turns *loop, struct error *err)
{
    enum error_code rc = connect(loop, err);
    bool finished = !loop->queue;
    stage_times_enter(loop->context->times, TIME_WAIT);
    while (rc == ERROR_NONE && !finished) {
        if (should_stop(loop)) {
            rc = failure_policy_stopped(err);
            break;
        }
        if ((rc = check_idle(loop, err)) != ERROR_NONE)
            break;
        rc = turn(loop, &finished, err);
        if (rc == ERROR_NONE)
            continue;
        if (ask_again(loop, &rc, err))
            rc = ERROR_NONE;
        else
            finished = rc == ERROR_NONE;
    }
    work_keeper_free(loop->keeper);
    if (rc == ERROR_NONE && loop->queue && loop->state.finished)
        queue_watch_retire(loop->queue);
    work_queue_close(loop->queue);
    hand_over_release(&loop->next);
    return rc;
}

enum error_code work_turns_init(struct work_turns *loop, int number,
                                const struct work_loop_config *config, struct work_shared *shared,
                                struct error *err)
{
    *loop = (struct work_turns){.config = config,
                                .shared = shared,
                                .own_context = *config->context,
                                .queue_config = config->queue,
                                .state = shared->at_start,
                                .policy = {.store = config->context->store,
                                           .notice = &shared->notice,
                                           .should_stop = should_stop,
                                           .context = loop,
                                           .give_up_ms = config->idle_exit_ms},
                                .watch = {.schedule = config->context->schedule,
                                          .store = config->context->store,
                                          .run_id = config->context->run_id}};
    const int size = snprintf(loop->worker, sizeof loop->worker, number ? "%s+%d" : "%s",
                              config->queue.worker, number);
    if (size < 0 || (size_t)size >= sizeof loop->worker)
        return error_set(err, ERROR_INVALID, "worker %s: expected a shorter name",
                         config->queue.worker);
    loop->context = &loop->own_context;
    if (number)
        loop->own_context.times = NULL;
    loop->queue_config.stage = config->stage->name;
    loop->queue_config.store_id = shared->store_id;
    loop->queue_config.worker = loop->worker;
    return ERROR_NONE;
}

void *work_turns_run(void *context)
{
    struct work_turns *loop = context, *none = NULL;
    if ((loop->rc = run_turns(loop, &loop->err)) != ERROR_NONE)
        (void)atomic_compare_exchange_strong(&loop->shared->first_failed, &none, loop);
    return NULL;
}
