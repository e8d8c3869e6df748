#include "stages/sample/sample_room.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "stages/plan/chain/chain_state.h"
#include "store/objects/keys.h"

#include <inttypes.h>

enum {
    LOOK_MS = 100,
    MISSED_MS = 2000, /* another worker may still be making it for so long */
};

static const double full_share = 0.75;

/* The progress of training as one waiting unit has seen it. */
struct looking {
    const struct stage_context *context;
    const struct unit *unit;
    int64_t round;     /* last round known to be reached, below the unit's; -1: unknown */
    int64_t missed_ms; /* time since which a mini-batch of `missed_round` is missing; 0: none */
    int64_t missed_round;
};

/* Sets *has to whether training has reached a round: its starting weights are in the store. */
static enum error_code has_come_to(const struct looking *l, int64_t round, bool *has,
                                   struct error *err)
{
    const int64_t version = schedule_base(l->context->schedule, round);
    return store_has(l->context->store, key_weights(l->context->run_id, version).text, has, err);
}

/* Finds the first round that may be open. The rounds before the newest snapshot are done and their
 * weights are removed, so the search must not begin there. */
static enum error_code begin_look(struct looking *l, bool *has, struct error *err)
{
    const struct stage_context *c = l->context;
    const int64_t first = l->unit->round - c->schedule->run_ahead;
    struct chain_state state;
    const enum error_code rc = chain_state_read(c->schedule, c->store, c->run_id, &state, err);
    if (rc != ERROR_NONE)
        return rc;
    l->round = state.snapshot_version > 0 ? state.snapshot_version : 0;
    l->round = first > l->round ? first : l->round;
    return has_come_to(l, l->round, has, err);
}

/* Sets *may to whether training has reached the unit's round, or nobody can tell where training
 * is. */
static enum error_code follow_training(struct looking *l, bool *may, struct error *err)
{
    bool has = true;
    enum error_code rc = l->round < 0 ? begin_look(l, &has, err) : ERROR_NONE;
    *may = !has;
    while (rc == ERROR_NONE && has && l->round < l->unit->round) {
        rc = has_come_to(l, l->round + 1, &has, err);
        l->round += has;
    }
    *may = *may || l->round >= l->unit->round;
    return rc;
}

/* Sets *missed to whether a mini-batch of training's round has been missing for longer than
 * MISSED_MS. */
static enum error_code look_for_missed(struct looking *l, bool *missed, struct error *err)
{
    const struct schedule *s = l->context->schedule;
    bool whole = true;
    enum error_code rc = ERROR_NONE;
    for (int32_t k = 0; rc == ERROR_NONE && whole && k < schedule_slot_count(s, l->round); k++) {
        int64_t made = 0;
        int32_t made_as = 0;
        schedule_batch_source(s, l->round, k, &made, &made_as);
        rc = store_has(l->context->store, key_mini_batch(l->context->run_id, made, made_as).text,
                       &whole, err);
    }
    const int64_t now = clock_ms();
    if (whole)
        l->missed_ms = 0;
    else if (l->missed_ms == 0 || l->missed_round != l->round)
        l->missed_ms = now;
    l->missed_round = l->round;
    *missed = l->missed_ms && now - l->missed_ms > MISSED_MS;
    if (!whole)
        l->round = -1; /* a new snapshot may have removed the round's batches: search again */
    return rc;
}

static enum error_code look(struct looking *l, double *share, bool *may, struct error *err)
{
    bool missed = false;
    enum error_code rc = store_memory_share(l->context->store, share, err);
    *may = *share < full_share;
    if (rc == ERROR_NONE && !*may)
        rc = follow_training(l, may, err);
    if (rc == ERROR_NONE && !*may)
        rc = look_for_missed(l, &missed, err);
    if (rc == ERROR_NONE && missed)
        rc = error_set(err, ERROR_NO_SPACE,
                       "the store's memory is %.0f %% full, and round %" PRId64
                       " misses a mini-batch: it comes before round %" PRId64,
                       100 * *share, l->missed_round, l->unit->round);
    return rc;
}

enum error_code sample_room_wait(const struct stage_context *context, struct sample_room *room,
                                 const struct unit *unit, struct error *err)
{
    struct looking l = {.context = context, .unit = unit, .round = -1};
    bool may = unit->kind != UNIT_SAMPLE || context->is_replay;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && !may) {
        double share = 0;
        rc = look(&l, &share, &may, err);
        if (rc != ERROR_NONE || may)
            break;
        if (!atomic_exchange(&room->is_told, true))
            log_info("the store's memory is %.0f %% full: round %" PRId64
                     " is sampled when there is room, or training has come to it",
                     100 * share, unit->round);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        clock_sleep_ms(LOOK_MS);
    }
    return rc;
}
