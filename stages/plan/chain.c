#include "stages/plan/chain.h"

#include "common/base/log.h"
#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum error_code unit_list_add(struct unit_list *list, struct unit unit, struct error *err)
{
    const enum error_code rc =
        memory_grow(&list->unit, &list->capacity, (size_t)list->count + 1, "a list of units", err);
    if (rc == ERROR_NONE)
        list->unit[list->count++] = unit;
    return rc;
}

void unit_list_release(struct unit_list *list)
{
    memory_free(list->unit);
    *list = (struct unit_list){0};
}

static enum error_code add(struct unit_list *list, enum unit_kind kind, int64_t round, int32_t slot,
                           struct error *err)
{
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    return unit_list_add(list, unit, err);
}

/* The slots 0 .. count - 1 of one kind and round. */
static enum error_code add_slots(struct unit_list *list, enum unit_kind kind, int64_t round,
                                 int32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = add(list, kind, round, slot, err);
    return rc;
}

/* All parts of one layer, with weights `version`. */
static enum error_code add_layer(struct unit_list *list, const struct schedule *s, int64_t version,
                                 int32_t layer, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t part = 0; part < s->part_count && rc == ERROR_NONE; part++) {
        const struct unit unit = {
            .kind = UNIT_INFER, .round = version, .slot = part, .layer = layer};
        rc = unit_list_add(list, unit, err);
    }
    return rc;
}

/* Do the rounds from `version` on wait for its checkpoint? */
static bool gated(const struct schedule *s, int64_t version)
{
    return s->can_stop_early && schedule_has_snapshot(s, version);
}

/* What makes weights `version` usable for training. */
static enum error_code add_weights_gate(const struct schedule *s, int64_t version,
                                        struct unit_list *out, struct error *err)
{
    if (version == 0)
        return add(out, UNIT_INITIALISE, 0, 0, err);
    if (gated(s, version))
        return add(out, UNIT_CHECKPOINT, version, 0, err);
    return add(out, UNIT_AGGREGATE, version - 1, 0, err);
}

static int32_t first_layer_of_outputs(const struct schedule *s)
{
    return s->layer_count > 1 ? s->layer_count - 1 : s->layer_count;
}

enum error_code chain_prerequisites(const struct schedule *s, const struct unit *unit,
                                    int64_t last_version, struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    switch (unit->kind) {
    case UNIT_SAMPLE:
        if (unit->round > s->run_ahead)
            rc = add(out, UNIT_AGGREGATE, unit->round - s->run_ahead - 1, 0, err);
        return rc;
    case UNIT_TRAIN_STEP:
        if (schedule_samples(s, unit->round))
            rc = add(out, UNIT_SAMPLE, unit->round, unit->slot, err);
        return rc == ERROR_NONE ? add_weights_gate(s, unit->round, out, err) : rc;
    case UNIT_EVALUATE:
        if (schedule_snapshot_before(s, unit->round) > 0)
            rc = add(out, UNIT_EVALUATE, schedule_snapshot_before(s, unit->round), unit->slot, err);
        else
            rc = add(out, UNIT_SAMPLE_EVALUATION, 0, unit->slot, err);
        return rc == ERROR_NONE ? add(out, UNIT_AGGREGATE, unit->round - 1, 0, err) : rc;
    case UNIT_AGGREGATE:
        return add_slots(out, UNIT_TRAIN_STEP, unit->round, schedule_slot_count(s, unit->round),
                         err);
    case UNIT_CHECKPOINT:
        if (schedule_snapshot_before(s, unit->round) > 0)
            rc = add(out, UNIT_CHECKPOINT, schedule_snapshot_before(s, unit->round), 0, err);
        if (rc == ERROR_NONE && s->evaluation_slot_count == 0)
            rc = add(out, UNIT_AGGREGATE, unit->round - 1, 0, err);
        return rc == ERROR_NONE
                   ? add_slots(out, UNIT_EVALUATE, unit->round, s->evaluation_slot_count, err)
                   : rc;
    case UNIT_INFER:
        if (unit->layer == 1)
            return add(out, UNIT_CHECKPOINT, last_version, 0, err);
        return add_layer(out, s, unit->round, unit->layer - 1, err);
    case UNIT_OUTPUTS: /* logits and embeddings are of the last two layers */
        for (int32_t layer = first_layer_of_outputs(s); layer <= s->layer_count && rc == ERROR_NONE;
             layer++)
            rc = add_layer(out, s, unit->round, layer, err);
        return rc;
    case UNIT_UNKNOWN:
    case UNIT_INGEST:
    case UNIT_PARTITION:
    case UNIT_INITIALISE:
    case UNIT_SAMPLE_EVALUATION:
    case UNIT_KIND_COUNT:
        return ERROR_NONE;
    }
    return ERROR_NONE;
}

enum error_code chain_reads(const struct schedule *s, const struct unit *unit,
                            struct unit_list *out, struct error *err)
{
    int64_t round = 0;
    int32_t slot = 0;
    if (unit->kind == UNIT_EVALUATE && schedule_snapshot_before(s, unit->round) > 0)
        return add(out, UNIT_SAMPLE_EVALUATION, 0, unit->slot, err);
    if (unit->kind != UNIT_TRAIN_STEP || schedule_samples(s, unit->round))
        return ERROR_NONE;
    schedule_batch_source(s, unit->round, unit->slot, &round, &slot);
    return add(out, UNIT_SAMPLE, round, slot, err);
}

int64_t chain_prerequisite_count(const struct schedule *s, const struct unit *unit)
{
    switch (unit->kind) {
    case UNIT_SAMPLE:
        return unit->round > s->run_ahead;
    case UNIT_TRAIN_STEP:
        return schedule_samples(s, unit->round) ? 2 : 1;
    case UNIT_EVALUATE:
        return 2;
    case UNIT_AGGREGATE:
        return schedule_slot_count(s, unit->round);
    case UNIT_CHECKPOINT:
        return (s->evaluation_slot_count ? s->evaluation_slot_count : 1) +
               (schedule_snapshot_before(s, unit->round) > 0);
    case UNIT_INFER:
        return unit->layer == 1 ? 1 : s->part_count;
    case UNIT_OUTPUTS:
        return (s->layer_count - first_layer_of_outputs(s) + 1) * (int64_t)s->part_count;
    case UNIT_UNKNOWN:
    case UNIT_INGEST:
    case UNIT_PARTITION:
    case UNIT_INITIALISE:
    case UNIT_SAMPLE_EVALUATION:
    case UNIT_KIND_COUNT:
        return 0;
    }
    return 0;
}

static enum error_code add_train_steps(const struct schedule *s, int64_t round,
                                       struct unit_list *out, struct error *err)
{
    if (round >= s->round_count)
        return ERROR_NONE;
    return add_slots(out, UNIT_TRAIN_STEP, round, schedule_slot_count(s, round), err);
}

static enum error_code successors_of_aggregate(const struct schedule *s, int64_t round,
                                               struct unit_list *out, struct error *err)
{
    const int64_t version = round + 1, ahead = round + s->run_ahead + 1;
    enum error_code rc = ERROR_NONE;
    if (!gated(s, version))
        rc = add_train_steps(s, version, out, err);
    if (rc == ERROR_NONE && schedule_has_snapshot(s, version))
        rc = s->evaluation_slot_count
                 ? add_slots(out, UNIT_EVALUATE, version, s->evaluation_slot_count, err)
                 : add(out, UNIT_CHECKPOINT, version, 0, err);
    if (rc == ERROR_NONE && ahead < s->round_count && schedule_samples(s, ahead))
        rc = add_slots(out, UNIT_SAMPLE, ahead, schedule_slot_count(s, ahead), err);
    return rc;
}

static enum error_code successors_of_checkpoint(const struct schedule *s, int64_t version,
                                                int64_t weights_version, struct unit_list *out,
                                                struct error *err)
{
    if (weights_version >= 0)
        return add_layer(out, s, weights_version, 1, err);
    const int64_t next = schedule_snapshot_at_or_after(s, version + 1);
    enum error_code rc = ERROR_NONE;
    if (next > version)
        rc = add(out, UNIT_CHECKPOINT, next, 0, err);
    if (rc == ERROR_NONE && gated(s, version))
        rc = add_train_steps(s, version, out, err);
    return rc;
}

static enum error_code successors_of_evaluate(const struct schedule *s, const struct unit *unit,
                                              struct unit_list *out, struct error *err)
{
    const int64_t next = schedule_snapshot_at_or_after(s, unit->round + 1);
    const enum error_code rc = add(out, UNIT_CHECKPOINT, unit->round, 0, err);
    return rc == ERROR_NONE && next > unit->round ? add(out, UNIT_EVALUATE, next, unit->slot, err)
                                                  : rc;
}

static enum error_code successors_of_infer(const struct schedule *s, const struct unit *unit,
                                           struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (unit->layer < s->layer_count)
        rc = add_layer(out, s, unit->round, unit->layer + 1, err);
    if (rc == ERROR_NONE && unit->layer >= first_layer_of_outputs(s))
        rc = add(out, UNIT_OUTPUTS, unit->round, 0, err);
    return rc;
}

enum error_code chain_successors(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err)
{
    switch (unit->kind) {
    case UNIT_INITIALISE:
        return add_train_steps(s, 0, out, err);
    case UNIT_SAMPLE:
        return add(out, UNIT_TRAIN_STEP, unit->round, unit->slot, err);
    case UNIT_SAMPLE_EVALUATION:
        return add(out, UNIT_EVALUATE, schedule_snapshot_at_or_after(s, 1), unit->slot, err);
    case UNIT_TRAIN_STEP:
        return add(out, UNIT_AGGREGATE, unit->round, 0, err);
    case UNIT_EVALUATE:
        return successors_of_evaluate(s, unit, out, err);
    case UNIT_AGGREGATE:
        return successors_of_aggregate(s, unit->round, out, err);
    case UNIT_CHECKPOINT:
        return successors_of_checkpoint(s, unit->round, weights_version, out, err);
    case UNIT_INFER:
        return successors_of_infer(s, unit, out, err);
    case UNIT_UNKNOWN:
    case UNIT_INGEST:
    case UNIT_PARTITION:
    case UNIT_OUTPUTS:
    case UNIT_KIND_COUNT:
        return ERROR_NONE;
    }
    return ERROR_NONE;
}

enum error_code chain_roots(const struct schedule *s, struct unit_list *out, struct error *err)
{
    enum error_code rc = add(out, UNIT_INITIALISE, 0, 0, err);
    if (rc == ERROR_NONE)
        rc = add_slots(out, UNIT_SAMPLE_EVALUATION, 0, s->evaluation_slot_count, err);
    for (int64_t round = 0; rc == ERROR_NONE && round <= s->run_ahead && round < s->round_count;
         round++)
        if (schedule_samples(s, round))
            rc = add_slots(out, UNIT_SAMPLE, round, schedule_slot_count(s, round), err);
    return rc;
}

int64_t chain_weights_version(const struct schedule *s, const struct snapshot *snapshot)
{
    if (!snapshot->stop)
        return -1;
    return s->infers_best ? snapshot->best_version : snapshot->version;
}

int64_t chain_last_version(const struct schedule *s, const struct chain_state *state)
{
    return state->stopped ? state->snapshot_version : s->round_count;
}

/* Is the artifact of a unit of infer there, and its seal? */
static enum error_code is_sealed(const struct schedule *s, struct store *store, const char *run_id,
                                 const struct unit *unit, bool *sealed, struct error *err)
{
    const struct key artifact =
        unit->kind == UNIT_INFER ? key_infer(run_id, unit->round, unit->layer, unit->slot, "shard")
                                 : key_outputs(run_id, unit->round, s->outputs_tag);
    const enum error_code rc =
        store_has(store, chain_output_key(s, run_id, unit).text, sealed, err);
    return rc == ERROR_NONE && *sealed ? store_has(store, artifact.text, sealed, err) : rc;
}

enum error_code chain_state_refresh(const struct schedule *s, struct store *store,
                                    const char *run_id, struct chain_state *state,
                                    struct error *err)
{
    int64_t version = -1;
    bool is_named = false;
    struct snapshot snapshot = {0};
    enum error_code rc = snapshot_current_version(store, run_id, &version, &is_named, err);
    if (rc == ERROR_NONE && version != state->snapshot_version) {
        rc = snapshot_get_current(store, run_id, &snapshot, err);
        if (rc == ERROR_NONE)
            *state = (struct chain_state){.snapshot_version = snapshot.version,
                                          .stopped = snapshot.stop,
                                          .weights_version = chain_weights_version(s, &snapshot)};
        is_named = is_named && snapshot.version == version;
        store_release_record(&snapshot.view);
    }
    if (rc == ERROR_NOT_FOUND)
        *state = (struct chain_state){.snapshot_version = -1, .weights_version = -1};
    state->is_named = is_named;
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc != ERROR_NONE || !state->stopped)
        return rc;
    const struct unit outputs = {.kind = UNIT_OUTPUTS, .round = state->weights_version};
    return is_sealed(s, store, run_id, &outputs, &state->finished, err);
}

enum error_code chain_state_read(const struct schedule *s, struct store *store, const char *run_id,
                                 struct chain_state *out, struct error *err)
{
    *out = (struct chain_state){.snapshot_version = -1, .weights_version = -1};
    return chain_state_refresh(s, store, run_id, out, err);
}

enum error_code chain_state_mend(struct store *store, const char *run_id,
                                 const struct chain_state *state, struct error *err)
{
    struct error cause = {0};
    struct snapshot_position position = {0};
    if (state->is_named)
        return ERROR_NONE;
    const int64_t version = state->snapshot_version > 0 ? state->snapshot_version : 0;
    const enum error_code rc = snapshot_position_get(store, run_id, &position, &cause);
    const bool is_lost = rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT;
    if (rc == ERROR_NONE ? position.version == version : rc == ERROR_NOT_FOUND && version == 0)
        return ERROR_NONE;
    if (rc != ERROR_NONE && !is_lost) {
        *err = cause;
        return rc;
    }
    if (is_lost)
        log_warn("%s; run %s goes on from snapshot %" PRId64 ", the newest whole one",
                 cause.message, run_id, version);
    else
        log_warn("snapshot %" PRId64 " of run %s is lost; it goes on from snapshot %" PRId64,
                 position.version, run_id, version);
    if (is_lost || position.kept_from > version)
        position.kept_from = version;
    position.version = version;
    return snapshot_position_set(store, run_id, position, err);
}

struct key chain_output_key(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    switch (unit->kind) {
    case UNIT_SAMPLE:
        return key_mini_batch(run_id, unit->round, unit->slot);
    case UNIT_SAMPLE_EVALUATION:
        return key_evaluation_mini_batch(run_id, unit->slot);
    case UNIT_TRAIN_STEP:
        return key_gradient(run_id, unit->round, unit->slot);
    case UNIT_EVALUATE:
        return key_evaluation(run_id, unit->round, unit->slot);
    case UNIT_AGGREGATE:
        return key_weights(run_id, unit->round + 1);
    case UNIT_CHECKPOINT:
        return key_snapshot(run_id, unit->round);
    case UNIT_INFER:
        return key_infer(run_id, unit->round, unit->layer, unit->slot, "shard_seal");
    case UNIT_OUTPUTS:
        return key_outputs_seal(run_id, unit->round, s->outputs_tag);
    case UNIT_INITIALISE:
    case UNIT_UNKNOWN:
    case UNIT_INGEST:
    case UNIT_PARTITION:
    case UNIT_KIND_COUNT:
        break;
    }
    return key_weights(run_id, 0);
}

/* Does the newest snapshot cover the unit, so that its record may be pruned by now? */
static bool covered(const struct schedule *s, const struct chain_state *state,
                    const struct unit *unit)
{
    const int64_t version = state->snapshot_version;
    switch (unit->kind) {
    case UNIT_SAMPLE: /* with reuse_epochs it may serve the rounds to come */
        return state->stopped || (version > 0 && unit->round < schedule_oldest_needed(s, version));
    case UNIT_TRAIN_STEP:
    case UNIT_AGGREGATE:
        return state->stopped || unit->round < version;
    case UNIT_EVALUATE:
    case UNIT_CHECKPOINT:
        return state->stopped || unit->round <= version;
    case UNIT_INITIALISE:
        return version >= 0;
    case UNIT_SAMPLE_EVALUATION:
        return state->stopped;
    case UNIT_INFER:
        return state->finished && unit->round == state->weights_version;
    case UNIT_OUTPUTS:
    case UNIT_UNKNOWN:
    case UNIT_INGEST:
    case UNIT_PARTITION:
    case UNIT_KIND_COUNT:
        return false;
    }
    return false;
}

enum error_code chain_is_done(const struct schedule *s, struct store *store, const char *run_id,
                              const struct chain_state *state, const struct unit *unit, bool *done,
                              struct error *err)
{
    *done = covered(s, state, unit);
    /* the commit of a checkpoint is the switch: its worker may have been killed before it */
    if (*done || unit->kind == UNIT_CHECKPOINT)
        return ERROR_NONE;
    if (unit->kind == UNIT_INFER || unit->kind == UNIT_OUTPUTS)
        return is_sealed(s, store, run_id, unit, done, err);
    return store_has(store, chain_output_key(s, run_id, unit).text, done, err);
}

/* What a rebuild carries along. */
struct rebuild {
    const struct schedule *schedule;
    struct store *store;
    const char *run_id;
    struct work_queue *queue;
    struct chain_state state;
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

/* What the unit reads and does not wait for, because it was there long before, is lost: nobody tells the unit
 * when it is made again. So it waits for more than it will be told, until the next rebuild. */
static enum error_code add_lost_reads(struct rebuild *r, const struct unit *unit, struct error *err)
{
    const int64_t first = r->prerequisites.count;
    int64_t lost = first;
    enum error_code rc = chain_reads(r->schedule, unit, &r->prerequisites, err);
    for (int64_t i = first; i < r->prerequisites.count && rc == ERROR_NONE; i++) {
        bool done = false;
        rc = chain_is_done(r->schedule, r->store, r->run_id, &r->state, &r->prerequisites.unit[i],
                           &done, err);
        lost += !done;
    }
    r->prerequisites.count = lost;
    return rc;
}

/* Queues the unit unless it is done; *is_done says which. */
static enum error_code restore(struct rebuild *r, struct unit unit, bool *is_done,
                               struct error *err)
{
    enum error_code rc =
        chain_is_done(r->schedule, r->store, r->run_id, &r->state, &unit, is_done, err);
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
        return rc; /* its first finished prerequisite will name it */
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

/* The validation of weights `version`, and their snapshot. */
static enum error_code add_validation(const struct schedule *s, int64_t version,
                                      struct unit_list *out, struct error *err)
{
    if (!schedule_has_snapshot(s, version))
        return ERROR_NONE;
    const enum error_code rc =
        add_slots(out, UNIT_EVALUATE, version, s->evaluation_slot_count, err);
    return rc == ERROR_NONE ? add(out, UNIT_CHECKPOINT, version, 0, err) : rc;
}

/* All units of one round: up to its aggregate, and the validation of the weights it makes. In an order
 * in which a unit comes after its prerequisites: one that finishes while the queue is rebuilt is then
 * either queued again, or seen as done by those that wait for it. */
static enum error_code units_of_round(const struct schedule *s, int64_t round,
                                      struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    out->count = 0;
    if (schedule_samples(s, round))
        rc = add_slots(out, UNIT_SAMPLE, round, schedule_slot_count(s, round), err);
    if (rc == ERROR_NONE)
        rc = add_train_steps(s, round, out, err);
    if (rc == ERROR_NONE)
        rc = add(out, UNIT_AGGREGATE, round, 0, err);
    return rc == ERROR_NONE ? add_validation(s, round + 1, out, err) : rc;
}

/* Rounds from the newest snapshot on, as far as anything can have a finished prerequisite: samples are at
 * most run_ahead rounds ahead of the first round that is not aggregated; the validation after that round
 * may wait for the one before alone. */
static enum error_code rebuild_rounds(struct rebuild *r, struct unit_list *units, struct error *err)
{
    const struct schedule *s = r->schedule;
    int64_t round = r->state.snapshot_version > 0 ? r->state.snapshot_version : 0;
    int64_t first_open = -1;
    enum error_code rc = ERROR_NONE;
    for (; rc == ERROR_NONE && round < s->round_count; round++) {
        bool aggregated = false;
        const struct unit aggregate = {.kind = UNIT_AGGREGATE, .round = round};
        rc = units_of_round(s, round, units, err);
        if (rc == ERROR_NONE)
            rc = restore_all(r, units, err);
        if (rc == ERROR_NONE && first_open < 0)
            rc = chain_is_done(r->schedule, r->store, r->run_id, &r->state, &aggregate, &aggregated,
                               err);
        if (first_open < 0 && !aggregated)
            first_open = round;
        if (first_open >= 0 && round >= first_open + s->run_ahead)
            break;
    }
    const int64_t next = schedule_snapshot_at_or_after(s, first_open + 1);
    if (rc != ERROR_NONE || round >= s->round_count || next <= round + 1)
        return rc;
    units->count = 0;
    rc = add_validation(s, next, units, err);
    return rc == ERROR_NONE ? restore_all(r, units, err) : rc;
}

/* With reuse_epochs: the mini-batches of older rounds that serve those to come. */
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
            rc = add_slots(units, UNIT_SAMPLE, round, schedule_slot_count(s, round), err);
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
    for (int32_t layer = 1; rc == ERROR_NONE && layer <= r->schedule->layer_count; layer++) {
        units->count = 0;
        rc = add_layer(units, r->schedule, r->state.weights_version, layer, err);
        if (rc == ERROR_NONE)
            rc = restore_all(r, units, err);
    }
    const struct unit outputs = {.kind = UNIT_OUTPUTS, .round = r->state.weights_version};
    bool done = false;
    return rc == ERROR_NONE ? restore(r, outputs, &done, err) : rc;
}

enum error_code chain_rebuild(const struct schedule *schedule, struct store *store,
                              const char *run_id, struct work_queue *queue, struct error *err)
{
    struct rebuild r = {.schedule = schedule, .store = store, .run_id = run_id, .queue = queue};
    struct unit_list units = {0};
    enum error_code rc = chain_state_read(schedule, store, run_id, &r.state, err);
    if (rc == ERROR_NONE)
        rc = chain_state_mend(store, run_id, &r.state, err);
    if (rc == ERROR_NONE && !r.state.finished)
        rc = r.state.stopped ? rebuild_inference(&r, &units, err)
                             : rebuild_training(&r, &units, err);
    unit_list_release(&units);
    unit_list_release(&r.prerequisites);
    memory_free(r.done_name);
    return rc;
}
