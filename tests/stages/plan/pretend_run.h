/*
 * pretend_run - a run without work: a few lines each replace the store and the queue, and a worker
 * does any queued unit, dies, and loses records, so that thousands of runs can be played in random
 * order. It defines the functions that chain.c calls.
 *
 * Include it in one file of a test program.
 */
#ifndef TESTS_STAGES_PLAN_PRETEND_RUN_H
#define TESTS_STAGES_PLAN_PRETEND_RUN_H

#include "common/base/memory.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chain_rebuild.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "store/records/round/gradient.h"
#include "store/records/round/gradient_encoding.h"
#include "store/records/round/round_base.h"
#include "store/records/round/snapshot.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

static uint64_t draw(uint64_t bound)
{
    random_state += 0x9E3779B97F4A7C15ULL; /* splitmix64 */
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) % bound;
}

/* --- replacements of storage and Redis --- */

struct name_set {
    char (*name)[KEY_SIZE];
    size_t count, capacity;
};

static size_t set_find(const struct name_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->name[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static bool set_has(const struct name_set *set, const char *name)
{
    return set_find(set, name) != SIZE_MAX;
}

/* Adds a name. Returns false if it was there. */
static bool set_add(struct name_set *set, const char *name)
{
    if (set_has(set, name))
        return false;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 64;
        set->name = memory_resize(set->name, set->capacity, sizeof *set->name);
        must(set->name != NULL);
    }
    (void)snprintf(set->name[set->count++], KEY_SIZE, "%s", name);
    return true;
}

static void set_remove_at(struct name_set *set, size_t i)
{
    memmove(set->name[i], set->name[--set->count], KEY_SIZE);
}

enum { ROUNDS_MAX = 256 };

struct pretend_run {
    struct schedule schedule;
    int64_t stop_at;      /* the version whose snapshot ends the run */
    int64_t best_version; /* the best version, in that snapshot */
    struct name_set stored;
    int64_t snapshot_version;
    struct name_set queued;
    struct name_set waiting;  /* "<unit> <prerequisite that is done>" */
    bool alive;               /* the queue is alive: completing works */
    bool disturbed;           /* units run during a rebuild */
    bool loses;               /* loses weights, with the queue */
    bool breaks, keeps;       /* `breaks`: loses any records, with the queue; `keeps`: prunes
                               * nothing */
    int64_t base[ROUNDS_MAX]; /* the versions that rounds chose */
    int works;
};

static struct pretend_run run;

enum error_code store_has(struct store *store, const char *key, bool *found, struct error *err)
{
    (void)store, (void)err;
    *found = set_has(&run.stored, key);
    return ERROR_NONE;
}

enum error_code store_remove(struct store *store, const char *key, struct error *err)
{
    const size_t at = set_find(&run.stored, key);
    (void)store, (void)err;
    if (at != SIZE_MAX)
        set_remove_at(&run.stored, at);
    return ERROR_NONE;
}

enum error_code snapshot_current_version(struct store *store, const char *run_id, int64_t *version,
                                         bool *is_named, struct error *err)
{
    (void)store, (void)run_id, (void)err;
    *is_named = true;
    *version = run.snapshot_version;
    return run.snapshot_version < 0 ? ERROR_NOT_FOUND : ERROR_NONE;
}

enum error_code snapshot_get_current(struct store *store, const char *run_id, struct snapshot *out,
                                     struct error *err)
{
    (void)store, (void)run_id, (void)err;
    *out = (struct snapshot){.version = run.snapshot_version,
                             .best_version = run.best_version,
                             .stop = run.snapshot_version == run.stop_at};
    return run.snapshot_version < 0 ? ERROR_NOT_FOUND : ERROR_NONE;
}

enum error_code snapshot_get(struct store *store, const char *run_id, int64_t version,
                             struct snapshot *out, struct error *err)
{
    assert_int_equal(version, run.snapshot_version);
    return snapshot_get_current(store, run_id, out, err);
}

enum error_code snapshot_position_get(struct store *store, const char *run_id,
                                      struct snapshot_position *out, struct error *err)
{
    (void)store, (void)run_id, (void)err;
    *out = (struct snapshot_position){.version = run.snapshot_version};
    return run.snapshot_version < 0 ? ERROR_NOT_FOUND : ERROR_NONE;
}

enum error_code snapshot_position_set(struct store *store, const char *run_id,
                                      struct snapshot_position position, struct error *err)
{
    (void)store, (void)run_id, (void)position, (void)err;
    fail_msg("the switch was not lost");
    return ERROR_NONE;
}

void store_release_record(struct record_view *view)
{
    (void)view;
}

enum error_code store_list(struct store *store, const char *prefix, store_visitor visit,
                           void *context, struct error *err)
{
    const size_t size = strlen(prefix);
    (void)store;
    for (size_t i = 0; i < run.stored.count; i++)
        if (strncmp(run.stored.name[i], prefix, size) == 0 && run.stored.name[i][size] == '/')
            assert_ok(visit(context, run.stored.name[i], false, err), err);
    return ERROR_NONE;
}

/* Choices are never lost here, so gradients are never asked. */
enum error_code gradient_get(struct store *store, const char *run_id, int64_t round, int slot,
                             struct gradient *out, struct error *err)
{
    (void)store, (void)run_id, (void)slot, (void)out, (void)err;
    fail_msg("the choice of round %" PRId64 " is lost", round);
    return ERROR_NOT_FOUND;
}

void gradient_release(struct gradient *gradient)
{
    (void)gradient;
}

enum error_code round_base_put(struct store *store, const char *run_id, int64_t round,
                               int64_t version, struct error *err)
{
    (void)store, (void)err;
    must(round < ROUNDS_MAX);
    run.base[round] = version;
    (void)set_add(&run.stored, key_round_base(run_id, round).text);
    return ERROR_NONE;
}

enum error_code round_base_get(struct store *store, const char *run_id, int64_t round,
                               int64_t oldest, int64_t *version, struct error *err)
{
    (void)store, (void)err;
    if (!set_has(&run.stored, key_round_base(run_id, round).text))
        return ERROR_NOT_FOUND;
    *version = run.base[round];
    assert_true(*version >= oldest && *version <= round);
    return ERROR_NONE;
}

/* Advances a unit, like store/queue/scripts/shared/advance.lua. */
static void advance(const char *unit, int64_t needed, const char *finished)
{
    char entry[KEY_SIZE], prefix[KEY_SIZE];
    (void)snprintf(prefix, sizeof prefix, "%s ", unit);
    (void)snprintf(entry, sizeof entry, "%s %s", unit, finished);
    (void)set_add(&run.waiting, entry);
    int64_t done = 0;
    for (size_t i = 0; i < run.waiting.count; i++)
        done += strncmp(run.waiting.name[i], prefix, strlen(prefix)) == 0;
    if (done < needed)
        return;
    (void)set_add(&run.queued, unit);
    for (size_t i = run.waiting.count; i-- > 0;)
        if (strncmp(run.waiting.name[i], prefix, strlen(prefix)) == 0)
            set_remove_at(&run.waiting, i);
}

static void work_on_one(void);

enum error_code work_queue_restore(struct work_queue *queue, const struct work_successor *unit,
                                   const char (*done)[QUEUE_UNIT_SIZE], int64_t done_count,
                                   struct error *err)
{
    (void)queue, (void)err;
    if (run.disturbed && draw(3) == 0)
        work_on_one();
    if (set_has(&run.queued, unit->unit))
        return ERROR_NONE;
    if (unit->prerequisite_count == 0)
        (void)set_add(&run.queued, unit->unit);
    for (int64_t i = 0; i < done_count; i++)
        advance(unit->unit, unit->prerequisite_count, done[i]);
    return ERROR_NONE;
}

/* --- a worker --- */

static struct chain_state state_now(void)
{
    struct chain_state state;
    struct error err = {0};
    assert_ok(chain_state_read(&run.schedule, NULL, "r", &state, &err), &err);
    return state;
}

static bool done_now(const struct unit *unit)
{
    const struct chain_state state = state_now();
    struct error err = {0};
    bool done = false;
    assert_ok(chain_is_done(&run.schedule, NULL, "r", &state, unit, &done, &err), &err);
    return done;
}

static void prune_passes(int64_t round, int32_t slot)
{
    struct unit pass = {.kind = UNIT_STEP_LAYER, .round = round, .slot = slot, .layer = 1};
    for (; pass.layer <= layer_pipeline_passes(&run.schedule); pass.layer++) {
        const struct key key = chain_output_key(&run.schedule, "r", &pass);
        if (set_has(&run.stored, key.text))
            set_remove_at(&run.stored, set_find(&run.stored, key.text));
    }
}

/* Prunes what the checkpoint stage prunes: the records of rounds before the snapshot. */
static void prune(int64_t version)
{
    for (int64_t round = 0; round < version; round++)
        for (int32_t sum = 0; sum < gradient_sum_count(&run.schedule, round); sum++) {
            const struct key key = key_gradient_sum("r", round, sum);
            if (set_has(&run.stored, key.text))
                set_remove_at(&run.stored, set_find(&run.stored, key.text));
        }
    for (int64_t round = 0; round < version; round++)
        for (int32_t slot = 0; slot < schedule_slot_count(&run.schedule, round); slot++) {
            const struct key gone[] = {key_gradient("r", round, slot),
                                       key_mini_batch("r", round, slot), key_weights("r", round),
                                       key_evaluation("r", round, slot)};
            prune_passes(round, slot);
            const bool is_needed = round >= schedule_oldest_needed(&run.schedule, version);
            for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
                if ((i != 1 || !is_needed) && set_has(&run.stored, gone[i].text))
                    set_remove_at(&run.stored, set_find(&run.stored, gone[i].text));
        }
}

/* Checks that the weights that a step chooses, or has chosen, are there. A snapshot that covers
 * them holds them. */
static void take_base(const struct unit *unit, int64_t snapshot)
{
    struct error err = {0};
    int64_t base = -1;
    if (!run.schedule.chooses_base || unit->kind != UNIT_TRAIN_STEP)
        return;
    assert_ok(chosen_base_take(&run.schedule, NULL, "r", unit->round, &base, &err), &err);
    if (base > snapshot && !set_has(&run.stored, key_weights("r", base).text))
        fail_msg("train-step/%" PRId64 " runs before weights %" PRId64, unit->round, base);
}

/* Loses some of the newest weights, and the whole queue. */
static void lose_weights(void)
{
    struct error err = {0};
    int64_t newest = -1;
    assert_ok(chosen_base_newest_made(NULL, "r", 0, &newest, &err), &err);
    const int64_t version = newest - (int64_t)draw(3);
    const struct key key = key_weights("r", version);
    if (version > 0 && version > run.snapshot_version && set_has(&run.stored, key.text))
        set_remove_at(&run.stored, set_find(&run.stored, key.text));
}

/* Loses some records that no snapshot covers yet, as a crash of the host may, and the whole
 * queue. */
static void lose_any(void)
{
    const int64_t from = run.snapshot_version > 0 ? run.snapshot_version : 0;
    for (size_t i = run.stored.count; i-- > 0;) {
        struct unit unit;
        if (!unit_of_key(&run.schedule, "r", run.stored.name[i], &unit))
            continue;
        const bool is_of_round = unit_row_of(unit.kind)->line == LINE_ROUNDS && unit.round >= from;
        const bool is_seal = unit.kind == UNIT_SEAL_ROWS && unit.round > from;
        const struct key choice = key_round_base("r", unit.round); /* it cannot be made again */
        if (strcmp(run.stored.name[i], choice.text) == 0)
            continue;
        if ((is_of_round && draw(20) == 0) || (is_seal && draw(2) == 0))
            set_remove_at(&run.stored, i);
    }
}

static bool has_slots(enum unit_kind kind, int64_t number)
{
    bool found = true;
    for (int32_t slot = unit_count_at(&run.schedule, kind, number) - 1; slot >= 0 && found;
         slot--) {
        const struct unit unit = unit_at(&run.schedule, kind, number, slot);
        found = set_has(&run.stored, chain_output_key(&run.schedule, "r", &unit).text);
    }
    return found;
}

/* Checks that the inputs of the rows of weights `version` are there: the newest sealed rows, and
 * the gradients since (embedding_state.h). */
static void expect_rows(int64_t version, bool is_sealed)
{
    const struct schedule *s = &run.schedule;
    int64_t sealed = is_sealed && schedule_has_snapshot(s, version)
                         ? version
                         : schedule_snapshot_before(s, version);
    while (sealed > 0 && !has_slots(UNIT_SEAL_ROWS, sealed))
        sealed = schedule_snapshot_before(s, sealed);
    for (int64_t round = sealed > 0 ? sealed : 0; round < version; round++)
        if (!has_slots(UNIT_TRAIN_STEP, round))
            fail_msg("rows of weights %" PRId64 " are made without the gradients of round %" PRId64,
                     version, round);
}

/* Does a unit. Checks the rule that keeps a run right: the worker finds every record that the unit
 * waits for. */
static void work(const struct unit *unit)
{
    struct unit_list inputs = {0};
    struct error err = {0};
    const struct chain_state state = state_now();
    assert_ok(chain_check_unit(&run.schedule, unit, state.weights_version, &err), &err);
    assert_ok(chain_prerequisites(&run.schedule, unit, chain_last_version(&run.schedule, &state),
                                  &inputs, &err),
              &err);
    for (int64_t i = 0; i < inputs.count; i++)
        if (!done_now(&inputs.unit[i])) {
            char name[UNIT_NAME_SIZE], input[UNIT_NAME_SIZE];
            unit_name(unit, name);
            unit_name(&inputs.unit[i], input);
            fail_msg("%s runs before %s", name, input);
        }
    unit_list_release(&inputs);
    take_base(unit, state.snapshot_version);
    if (run.schedule.embedding_shards > 0 && run.keeps &&
        (unit->kind == UNIT_TRAIN_STEP || unit->kind == UNIT_SEAL_ROWS))
        expect_rows(unit->round, unit->kind == UNIT_TRAIN_STEP);
    if (unit->kind == UNIT_INFER)
        (void)set_add(&run.stored,
                      key_infer("r", unit->round, unit->layer, unit->slot, "shard").text);
    if (unit->kind == UNIT_OUTPUTS)
        (void)set_add(&run.stored, key_outputs("r", unit->round, "").text);
    (void)set_add(&run.stored, chain_output_key(&run.schedule, "r", unit).text);
    const struct unit_row *row = unit_row_of(unit->kind);
    const struct key companion =
        row->companion ? row->companion(&run.schedule, "r", unit) : (struct key){""};
    if (companion.text[0])
        (void)set_add(&run.stored, companion.text);
    const int pieces = row->piece_count ? row->piece_count(&run.schedule) : 0;
    for (int i = 0; i < pieces; i++)
        (void)set_add(&run.stored, row->piece("r", unit, i).text);
    run.works++;
    if (unit->kind == UNIT_CHECKPOINT && unit->round > run.snapshot_version) {
        run.snapshot_version = unit->round;
        if (!run.keeps && draw(2))
            prune(unit->round);
    }
}

/* Returns whether the weights that were chosen are missing: the worker then gives the unit back,
 * and it waits for more. */
static bool misses_base(const struct unit *unit)
{
    struct error err = {0};
    int64_t base = -1;
    if (!run.breaks || !run.schedule.chooses_base || unit->kind != UNIT_TRAIN_STEP ||
        chosen_base_get(&run.schedule, NULL, "r", unit->round, &base, &err) != ERROR_NONE)
        return false;
    return base > state_now().snapshot_version &&
           !set_has(&run.stored, key_weights("r", base).text);
}

static int64_t weights_version(void)
{
    return run.schedule.infers_best ? run.best_version : run.stop_at;
}

static void hand_over(const struct unit *unit)
{
    struct unit_list next = {0};
    struct error err = {0};
    char name[UNIT_NAME_SIZE], next_name[UNIT_NAME_SIZE];
    unit_name(unit, name);
    const bool ends = unit->kind == UNIT_CHECKPOINT && unit->round == run.stop_at;
    assert_ok(chain_successors(&run.schedule, unit, ends ? weights_version() : -1, &next, &err),
              &err);
    for (int64_t i = 0; i < next.count; i++) {
        unit_name(&next.unit[i], next_name);
        advance(next_name, chain_prerequisite_count(&run.schedule, &next.unit[i]), name);
    }
    unit_list_release(&next);
    const size_t at = set_find(&run.queued, name);
    if (at != SIZE_MAX)
        set_remove_at(&run.queued, at);
}

/* Does any queued unit. Sometimes the worker dies before it hands over, and the unit comes
 * again. */
static void work_on_one(void)
{
    struct unit unit = {0};
    struct error err = {0};
    if (run.queued.count == 0)
        return;
    assert_ok(unit_parse(run.queued.name[draw(run.queued.count)], &unit, &err), &err);
    if (misses_base(&unit)) {
        char name[UNIT_NAME_SIZE];
        unit_name(&unit, name);
        set_remove_at(&run.queued, set_find(&run.queued, name));
        return;
    }
    if (!done_now(&unit))
        work(&unit);
    if (run.alive && draw(8) != 0)
        hand_over(&unit);
}

static void rebuild(bool wiped)
{
    struct error err = {0};
    if (wiped) {
        if (run.loses)
            lose_weights();
        for (int i = 0; run.breaks && run.snapshot_version > 0 && i < 2; i++)
            if (draw(4) == 0) /* the run is set back, and later snapshots stay */
                run.snapshot_version =
                    schedule_snapshot_before(&run.schedule, run.snapshot_version);
        if (run.breaks)
            lose_any();
        run.queued.count = run.waiting.count = 0;
        run.alive = false;
    }
    assert_ok(chain_rebuild(&run.schedule, NULL, "r", NULL, &err), &err);
    run.alive = true;
}

/* Plays a run to its end. `rebuild_every`: rebuilds in one of so many steps; 0: never. */
static void play(int rebuild_every, bool disturbed)
{
    run.stored.count = 0;
    run.snapshot_version = -1;
    run.works = 0;
    run.disturbed = false;
    rebuild(true);
    run.disturbed = disturbed;
    for (long steps = 0; run.queued.count > 0; steps++) {
        assert_true(steps < 100000);
        run.loses = run.schedule.chooses_base && rebuild_every && steps < 1000;
        if (rebuild_every && draw((uint64_t)rebuild_every) == 0)
            rebuild(draw(2) == 0);
        work_on_one();
        if (run.queued.count == 0 && (run.schedule.chooses_base || run.breaks) &&
            !state_now().finished)
            rebuild(
                false); /* repairs, like queue_watch, a step that waits for chosen weights that are
                         * lost */
    }
    run.loses = false;
    assert_true(state_now().finished);
    assert_int_equal(run.snapshot_version, run.stop_at);
    assert_true(set_has(&run.stored, key_outputs("r", weights_version(), "").text));
}

#endif
