/*
 * small_run - a stage's context in a fresh store: a small model, a few rounds, and made-up
 * gradients.
 *
 * It is for tests of the stages that only see parameters. Gradients depend on round and slot alone,
 * so that any two runs with the same settings can be compared record by record.
 */
#ifndef TESTS_STAGES_SMALL_RUN_H
#define TESTS_STAGES_SMALL_RUN_H

#include "common/numbers/random.h"
#include "stages/engine/stage.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"
#include "store/records/round/snapshot.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

#define SMALL_RUN_ID "small-00000001"

enum {
    SMALL_FEATURES = 5,
    SMALL_HIDDEN = 4,
    SMALL_CLASSES = 3,
    /* Two SAGE layers: lin_l.weight, lin_l.bias, lin_r.weight of each. */
    SMALL_VALUES = 2 * SMALL_HIDDEN * SMALL_FEATURES + SMALL_HIDDEN +
                   2 * SMALL_CLASSES * SMALL_HIDDEN + SMALL_CLASSES
};

struct small_run {
    struct store *store;
    struct pipeline_settings settings;
    struct partition_book book;
    struct schedule schedule;
    struct stage_context context;
    struct error err;
};

/* Begins a run. `set`: section.key=value, NULL-terminated. */
static inline void small_run_init(struct small_run *run, struct store *store, int64_t train_count,
                                  int64_t valid_count, const char *const *set)
{
    *run = (struct small_run){.store = store};
    pipeline_settings_defaults(&run->settings);
    run->settings.train_step.layer.output_dim = SMALL_HIDDEN;
    for (; set && *set; set++)
        assert_ok(pipeline_settings_override(&run->settings, *set, &run->err), &run->err);
    run->book = (struct partition_book){.part_count = 1,
                                        .feature_dim = SMALL_FEATURES,
                                        .task = TASK_SINGLE_LABEL,
                                        .class_count = SMALL_CLASSES,
                                        .train_count = (uint32_t)train_count,
                                        .valid_count = (uint32_t)valid_count};
    assert_ok(schedule_init(&run->schedule, &run->settings, train_count, valid_count, 1, &run->err),
              &run->err);
    run->context = (struct stage_context){.store = store,
                                          .settings = &run->settings,
                                          .run_id = SMALL_RUN_ID,
                                          .book = &run->book,
                                          .schedule = &run->schedule,
                                          .threads = 1};
}

static inline void small_run_draw(float *out, uint32_t round, uint32_t slot)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_GENERATOR, round, 0, slot);
    for (uint64_t i = 0; i < SMALL_VALUES; i++)
        out[i] = random_unit(random_word(&stream, i, 0)) - 0.5F;
}

/* Returns the gradient of slot `slot` of round `round`; fills `value` [SMALL_VALUES]. */
static inline struct gradient small_run_gradient(const struct small_run *run, int64_t round,
                                                 int32_t slot, float *value)
{
    int64_t first = 0, count = 0;
    small_run_draw(value, (uint32_t)round, (uint32_t)slot);
    schedule_seed_range(&run->schedule, round, slot, &first, &count);
    return (struct gradient){.weights_version = (uint64_t)schedule_base(&run->schedule, round),
                             .value_count = SMALL_VALUES,
                             .value = value,
                             .seed_count = (uint64_t)count,
                             .correct_count = (uint64_t)count / 2,
                             .loss_sum = (double)count / (double)(round + slot + 1)};
}

static inline void small_run_put_gradient(struct small_run *run, int64_t round, int32_t slot)
{
    float value[SMALL_VALUES];
    const struct gradient gradient = small_run_gradient(run, round, slot, value);
    assert_ok(gradient_put(run->store, SMALL_RUN_ID, round, slot, &gradient, NULL, &run->err),
              &run->err);
}

static inline void small_run_put_gradients(struct small_run *run, int64_t round)
{
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++)
        small_run_put_gradient(run, round, slot);
}

/* Sets the progress of the round that made weights `version`. */
static inline void small_run_progress(int64_t version, double progress[PROGRESS_COUNT])
{
    const double seeds = version % 2 ? 18 : 2;
    const double made_up[PROGRESS_COUNT] = {1.0 / (double)(version + 1), seeds / 2, seeds, 0.01,
                                            (double)version / 4,         0};
    memcpy(progress, made_up, sizeof made_up);
}

/* Stores made-up weights and optimizer state of `version`. */
static inline void small_run_put_version(struct small_run *run, int64_t version)
{
    float value[SMALL_VALUES], first[SMALL_VALUES];
    double rounds[64][PROGRESS_COUNT];
    char table[32];
    small_run_draw(value, (uint32_t)version, 1000);
    small_run_draw(first, (uint32_t)version, 1001);
    (void)snprintf(table, sizeof table, "values %d 1\n", SMALL_VALUES);
    struct optimizer_state state = {.version = (uint64_t)version,
                                    .step = (uint64_t)version,
                                    .value_count = SMALL_VALUES,
                                    .first = first};
    struct weights weights = {.version = (uint64_t)version,
                              .value_count = SMALL_VALUES,
                              .value = value,
                              .table = table,
                              .table_size = strlen(table)};
    small_run_progress(version, weights.progress);
    if (schedule_has_snapshot(&run->schedule, version)) {
        const int64_t before = schedule_snapshot_before(&run->schedule, version);
        state.rounds = rounds[0];
        for (int64_t v = (before > 0 ? before : 0) + 1; v <= version; v++)
            small_run_progress(v, rounds[state.round_count++]);
    }
    assert_ok(optimizer_state_put(run->store, SMALL_RUN_ID, &state, &run->err), &run->err);
    assert_ok(weights_put(run->store, SMALL_RUN_ID, &weights, &run->err), &run->err);
}

/* Stores any record under the key of a mini-batch, for tests that only count or remove it. */
static inline void small_run_put_mini_batches(struct small_run *run, int64_t round)
{
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        struct record record = {.kind = RECORD_MINI_BATCH, .version = 1};
        record_add_text(&record, "text", "a mini-batch");
        assert_ok(store_put(run->store, key_mini_batch(SMALL_RUN_ID, round, slot).text,
                            SMALL_RUN_ID, &record, STORE_RECOMPUTABLE, &run->err),
                  &run->err);
    }
}

/* Stores the validation of `version`: in each slot `right` of 10 answers are right, and all are of
 * the first class. */
static inline void small_run_put_evaluations(struct small_run *run, int64_t version, uint64_t right)
{
    const double hits = (double)right, misses = 10 - hits;
    const double tally[9] = {hits, 0, 0, 0, misses, 0, misses, 0, 0};
    for (int32_t slot = 0; slot < run->schedule.evaluation_slot_count; slot++) {
        const struct evaluation e = {.version = (uint64_t)version,
                                     .seed_count = 10,
                                     .correct_count = right,
                                     .loss_sum = (double)(10 - right + (uint64_t)slot),
                                     .tally_size = 9,
                                     .tally = tally};
        assert_ok(evaluation_put(run->store, SMALL_RUN_ID, slot, &e, &run->err), &run->err);
    }
}

static inline enum error_code small_run_work(struct small_run *run, void *state,
                                             enum unit_kind kind, int64_t round)
{
    const struct unit unit = {.kind = kind, .round = round};
    run->err = (struct error){0};
    return stage.work(&run->context, state, &unit, &run->err);
}

static inline struct checksum small_run_content(struct small_run *run, const char *key)
{
    struct record_view view = {0};
    assert_ok(store_get(run->store, key, SMALL_RUN_ID, &view, &run->err), &run->err);
    const struct checksum content = view.content;
    store_release_record(&view);
    return content;
}

/* Checks that the record `key` is the same in both runs. */
static inline void assert_same_record(struct small_run *a, struct small_run *b, const char *key)
{
    const struct checksum one = small_run_content(a, key), other = small_run_content(b, key);
    if (!checksum_equal(&one, &other))
        fail_msg("%s differs", key);
}

/* Stores a snapshot of the weights and the state that are stored as that version. It is the best so
 * far, and has none before it. */
static inline void small_run_put_snapshot(struct small_run *run, int64_t version)
{
    struct weights weights = {0};
    struct optimizer_state state = {0};
    assert_ok(weights_get(run->store, SMALL_RUN_ID, version, &weights, &run->err), &run->err);
    assert_ok(optimizer_state_get(run->store, SMALL_RUN_ID, version, &state, &run->err), &run->err);
    struct snapshot snapshot = {.version = version,
                                .previous_version = -1,
                                .best_version = version,
                                .step = (uint64_t)version,
                                .value_count = weights.value_count,
                                .value = weights.value,
                                .first = state.first,
                                .rounds = state.rounds,
                                .round_count = state.round_count,
                                .table = weights.table,
                                .table_size = weights.table_size};
    memcpy(snapshot.progress, weights.progress, sizeof snapshot.progress);
    assert_ok(snapshot_put(run->store, SMALL_RUN_ID, &snapshot, &run->err), &run->err);
    store_release_record(&weights.view);
    store_release_record(&state.view);
}

#endif
