#include "stages/plan/chain/chain_rebuild.h"

#include "common/base/memory.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chain_soundness.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/layer_pipeline.h"

#include <string.h>

/* The state of one rebuild. */
struct rebuild {
    const struct schedule *schedule;
    struct store *store;
    const char *run_id;
    struct work_queue *queue;
    struct chain_state state;
    bool found_any; /* a unit of the present round is done */
    struct chain_soundness soundness;
    struct unit_list prerequisites;
    char (*done_name)[QUEUE_UNIT_SIZE];
    size_t done_capacity;
};

static enum error_code collect_done(struct rebuild *r, int64_t *done_count, struct error *err)
{
    enum error_code rc = memory_grow(&r->done_name, &r->done_capacity,
                                     (size_t)r->prerequisites.count, "a list of units", err);
    *done_count = 0;
    for (int64_t i = 0; i < r->prerequisites.count && rc == ERROR_NONE; i++) {
        bool done = false;
        rc = chain_is_done(r->schedule, r->store, r->run_id, &r->state, &r->prerequisites.unit[i],
                           &done, err);
        if (rc == ERROR_NONE && done)
            unit_name(&r->prerequisites.unit[i], r->done_name[(*done_count)++]);
    }
    return rc;
}

/* Handles lost records that the unit reads and does not wait for, because they were made long
 * before. No unit that makes them again would tell this one. So the unit is queued with more
 * prerequisites than it will be told of, and waits until the next rebuild. */
static enum error_code add_lost_reads(struct rebuild *r, const struct unit *unit, struct error *err)
{
    const int64_t first = r->prerequisites.count;
    int64_t lost = first;
    enum error_code rc = chain_reads(r->schedule, unit, &r->prerequisites, err);
    if (rc == ERROR_NONE)
        rc = chosen_base_reads(r->schedule, r->store, r->run_id, unit, &r->prerequisites, err);
    for (int64_t i = first; i < r->prerequisites.count && rc == ERROR_NONE; i++) {
        bool done = false;
        rc = chain_is_done(r->schedule, r->store, r->run_id, &r->state, &r->prerequisites.unit[i],
                           &done, err);
        lost += !done;
    }
    r->prerequisites.count = lost;
    return rc;
}

/* Queues the unit unless it is done. Sets *is_done. */
static enum error_code restore(struct rebuild *r, struct unit unit, bool *is_done,
                               struct error *err)
{
    enum error_code rc =
        chain_is_done(r->schedule, r->store, r->run_id, &r->state, &unit, is_done, err);
    r->found_any = r->found_any || *is_done;
    if (rc == ERROR_NONE && *is_done)
        rc = chain_drop_unsound(&r->soundness, &unit, is_done, err);
    if (rc != ERROR_NONE || *is_done)
        return rc;
    r->prerequisites.count = 0;
    rc = chain_prerequisites(r->schedule, &unit, chain_last_version(r->schedule, &r->state),
                             &r->prerequisites, err);
    int64_t done_count = 0;
    if (rc == ERROR_NONE)
        rc = collect_done(r, &done_count, err);
    if (rc == ERROR_NONE)
        rc = add_lost_reads(r, &unit, err);
    if (rc != ERROR_NONE || (done_count == 0 && r->prerequisites.count > 0))
        return rc; /* the first of its prerequisites that finishes will queue it */
    struct work_successor entry = {.prerequisite_count = (int32_t)r->prerequisites.count};
    unit_name(&unit, entry.unit);
    memcpy(entry.stage, unit_stage(unit.kind), strlen(unit_stage(unit.kind)) + 1);
    return work_queue_restore(r->queue, &entry, (const char(*)[QUEUE_UNIT_SIZE])r->done_name,
                              done_count, err);
}

static enum error_code restore_all(struct rebuild *r, const struct unit_list *units,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool done = false;
    for (int64_t i = 0; i < units->count && rc == ERROR_NONE; i++)
        rc = restore(r, units->unit[i], &done, err);
    return rc;
}

/* Adds the validation of weights `version`, and their snapshot. */
static enum error_code add_validation(const struct schedule *s, int64_t version,
                                      struct unit_list *out, struct error *err)
{
    if (!schedule_has_snapshot(s, version))
        return ERROR_NONE;
    enum error_code rc =
        unit_list_add_slots(out, UNIT_EVALUATE, version, s->evaluation_slot_count, err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(out, UNIT_SEAL_ROWS, version, s->embedding_shards, err);
    return rc == ERROR_NONE ? unit_list_add_slots(out, UNIT_CHECKPOINT, version, 1, err) : rc;
}

/* Adds the steps of a round, slot by slot: in a pipeline of layers a slot may wait until an earlier
 * one has ended. */
static enum error_code add_steps(const struct schedule *s, int64_t round, struct unit_list *out,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < schedule_slot_count(s, round) && rc == ERROR_NONE; slot++) {
        struct unit unit = {.kind = UNIT_STEP_LAYER, .round = round, .slot = slot, .layer = 1};
        for (; unit.layer <= layer_pipeline_passes(s) && rc == ERROR_NONE; unit.layer++)
            rc = unit_list_add(out, unit, err);
        const struct unit step = {.kind = UNIT_TRAIN_STEP, .round = round, .slot = slot};
        if (rc == ERROR_NONE)
            rc = unit_list_add(out, step, err);
    }
    return rc;
}

/* Sets `out` to all units of one round: up to its aggregate, and the validation of the weights that
 * it makes. A unit comes after its prerequisites, so that one that finishes during the rebuild is
 * either queued again, or is seen as done by the units that wait for it. */
static enum error_code units_of_round(const struct schedule *s, int64_t round,
                                      struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    out->count = 0;
    if (schedule_samples(s, round))
        rc = unit_list_add_slots(out, UNIT_SAMPLE, round, schedule_slot_count(s, round), err);
    if (rc == ERROR_NONE)
        rc = add_steps(s, round, out, err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(out, UNIT_SUM_GRADIENTS, round, gradient_sum_count(s, round), err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(out, UNIT_AGGREGATE, round, 1, err);
    return rc == ERROR_NONE ? add_validation(s, round + 1, out, err) : rc;
}

/* Returns how many rounds after the first round that is not aggregated may have a unit with a
 * finished prerequisite other than a validation. Samples are at most run_ahead rounds ahead. A step
 * that needs a residual has it from the previous round that has its slot, which may be two rounds
 * before: the last round of an epoch has fewer slots. With staleness a step that uses a mini-batch
 * again may wait for one that many rounds earlier. */
static int64_t rounds_ahead(const struct schedule *s)
{
    return (s->keeps_residuals && s->run_ahead < 2 ? 2 : s->run_ahead) + s->staleness;
}

/* Queues the rounds from the newest snapshot on, as far as a unit may have a finished prerequisite,
 * and as far as there are records that may be unsound. The validation after the last of them may
 * wait for the validation before it alone, so it is queued, too. */
static enum error_code rebuild_rounds(struct rebuild *r, struct unit_list *units, struct error *err)
{
    const struct schedule *s = r->schedule;
    int64_t round = r->state.snapshot_version > 0 ? r->state.snapshot_version : 0;
    int64_t first_open = -1;
    enum error_code rc = ERROR_NONE;
    r->soundness.is_broken = false;
    for (; rc == ERROR_NONE && round < s->round_count; round++) {
        bool aggregated = false;
        const struct unit aggregate = {.kind = UNIT_AGGREGATE, .round = round};
        r->found_any = false;
        rc = units_of_round(s, round, units, err);
        if (rc == ERROR_NONE)
            rc = restore_all(r, units, err);
        if (rc == ERROR_NONE && first_open < 0)
            rc = chain_is_done(r->schedule, r->store, r->run_id, &r->state, &aggregate, &aggregated,
                               err);
        if (first_open < 0 && !aggregated)
            first_open = round;
        if (first_open >= 0 && round >= first_open + rounds_ahead(s) && !r->found_any)
            break;
    }
    const int64_t next = schedule_snapshot_at_or_after(s, first_open + 1);
    if (rc != ERROR_NONE || round >= s->round_count || next <= round + 1)
        return rc;
    units->count = 0;
    rc = add_validation(s, next, units, err);
    return rc == ERROR_NONE ? restore_all(r, units, err) : rc;
}

/* With reuse_epochs: queues the mini-batches of older rounds that later rounds use. */
static enum error_code rebuild_pass(struct rebuild *r, struct unit_list *units, struct error *err)
{
    const struct schedule *s = r->schedule;
    const int64_t version = r->state.snapshot_version;
    enum error_code rc = ERROR_NONE;
    if (version <= 0)
        return ERROR_NONE;
    for (int64_t round = schedule_oldest_needed(s, version); rc == ERROR_NONE && round < version;
         round++) {
        units->count = 0;
        if (schedule_samples(s, round))
            rc = unit_list_add_slots(units, UNIT_SAMPLE, round, schedule_slot_count(s, round), err);
        if (rc == ERROR_NONE)
            rc = restore_all(r, units, err);
    }
    return rc;
}

static enum error_code rebuild_training(struct rebuild *r, struct unit_list *units,
                                        struct error *err)
{
    enum error_code rc = chain_roots(r->schedule, units, err);
    if (rc == ERROR_NONE)
        rc = restore_all(r, units, err);
    if (rc == ERROR_NONE)
        rc = rebuild_pass(r, units, err);
    return rc == ERROR_NONE ? rebuild_rounds(r, units, err) : rc;
}

static enum error_code rebuild_inference(struct rebuild *r, struct unit_list *units,
                                         struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t layer = schedule_first_layer(r->schedule);
         rc == ERROR_NONE && layer <= r->schedule->layer_count; layer++) {
        units->count = 0;
        rc = unit_list_add_layer(units, r->schedule, r->state.weights_version, layer, err);
        if (rc == ERROR_NONE)
            rc = restore_all(r, units, err);
    }
    const struct unit outputs = {.kind = UNIT_OUTPUTS, .round = r->state.weights_version};
    bool done = false;
    return rc == ERROR_NONE ? restore(r, outputs, &done, err) : rc;
}

/* Repeats the rebuild until the run makes no new snapshot during it: records that were pruned after
 * a new snapshot look as if they were not done. The run advances with each repetition, so the loop
 * ends. */
static enum error_code rebuild_until_still(struct rebuild *r, struct unit_list *units,
                                           struct error *err)
{
    struct chain_state now = r->state;
    enum error_code rc = ERROR_NONE;
    do {
        r->state = now;
        rc = now.stopped ? rebuild_inference(r, units, err) : rebuild_training(r, units, err);
        if (rc == ERROR_NONE)
            rc = chain_state_read(r->schedule, r->store, r->run_id, &now, err);
    } while (rc == ERROR_NONE && !now.finished &&
             now.snapshot_version != r->state.snapshot_version);
    return rc;
}

enum error_code chain_rebuild(const struct schedule *schedule, struct store *store,
                              const char *run_id, struct work_queue *queue, struct error *err)
{
    struct rebuild r = {.schedule = schedule,
                        .store = store,
                        .run_id = run_id,
                        .queue = queue,
                        .soundness = {.schedule = schedule, .store = store, .run_id = run_id}};
    struct unit_list units = {0};
    r.soundness.state = &r.state;
    enum error_code rc = chain_state_read(schedule, store, run_id, &r.state, err);
    if (rc == ERROR_NONE)
        rc = chain_state_mend(store, run_id, &r.state, err);
    if (rc == ERROR_NONE && !r.state.finished)
        rc = rebuild_until_still(&r, &units, err);
    unit_list_release(&units);
    unit_list_release(&r.prerequisites);
    unit_list_release(&r.soundness.before);
    memory_free(r.done_name);
    return rc;
}
