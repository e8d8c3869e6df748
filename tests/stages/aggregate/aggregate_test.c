#include "common/base/memory.h"
#include "common/nn/optimizer.h"
#include "store/backends/memory/memory_backend.h"
#include "store/records/round/gradient.h"

#include "tests/stages/small_run.h"
#include "tests/support/record_tamper.h"
#include "tests/support/store_watch.h"

#include <math.h>
#include <stdio.h>

/* 20 training nodes, batches of 6 (the last of 2), 3 slots a round: rounds of 3 and 1 slots. */
static const char *const adam[] = {"epochs=5",
                                   "sample.batch_size=6",
                                   "sample.batches_per_round=3",
                                   "aggregate.schedule=cosine",
                                   "aggregate.weight_decay=0.01",
                                   "aggregate.clip_norm=0.5",
                                   NULL};
static const char *const sgd[] = {"epochs=5",
                                  "sample.batch_size=6",
                                  "sample.batches_per_round=3",
                                  "aggregate.optimizer=sgd",
                                  "aggregate.learning_rate=0.5",
                                  "aggregate.schedule=step",
                                  "aggregate.step_epochs=1",
                                  "aggregate.step_factor=0.5",
                                  NULL};

static void begin(struct small_run *run, struct temp_store *temp, const char *const *set)
{
    small_run_init(run, temp->store, 20, 4, set);
    assert_int_equal(run->schedule.rounds_per_epoch, 2);
}

static void *open_stage(struct small_run *run)
{
    void *state = NULL;
    assert_ok(stage.open(&run->context, &state, &run->err), &run->err);
    return state;
}

static void initialise(struct small_run *run)
{
    void *state = open_stage(run);
    assert_ok(small_run_work(run, state, UNIT_INITIALISE, 0), &run->err);
    stage.close(state);
}

static struct weights read_weights(struct small_run *run, int64_t version)
{
    struct weights weights = {0};
    assert_ok(weights_get(run->store, SMALL_RUN_ID, version, &weights, &run->err), &run->err);
    return weights;
}

static void weights_begin_as_the_seed_has_them_and_state_at_zero(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    struct weights weights = read_weights(&run, 0);
    struct optimizer_state first = {0};
    assert_ok(optimizer_state_get(run.store, SMALL_RUN_ID, 0, &first, &run.err), &run.err);
    assert_int_equal(weights.value_count, SMALL_VALUES);
    assert_int_equal(first.step, 0);
    assert_non_null(first.second);
    double size = 0, zeros = 0;
    for (size_t i = 0; i < SMALL_VALUES; i++) {
        size += fabs((double)weights.value[i]);
        zeros += fabs((double)first.first[i]) + fabs((double)first.second[i]);
    }
    assert_true(size > 0 && zeros == 0);
    assert_non_null(strstr(weights.table, "convs.0.lin_l.weight 4 5\n"));
    for (int i = 0; i < PROGRESS_COUNT; i++)
        assert_true(weights.progress[i] == 0);
    store_release_record(&weights.view);
    store_release_record(&first.view);
}

/* Checks that the step is w - lr * (sum of seeds x gradient) / seeds, in plain double. */
static void check_sgd_round(struct small_run *run, int64_t round, double rate)
{
    struct weights before = read_weights(run, round), after = read_weights(run, round + 1);
    double mean[SMALL_VALUES] = {0}, loss = 0, seeds = 0, square = 0, right = 0;
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        float value[SMALL_VALUES];
        const struct gradient g = small_run_gradient(run, round, slot, value);
        for (size_t i = 0; i < SMALL_VALUES; i++)
            mean[i] += (double)g.seed_count * (double)value[i];
        loss += g.loss_sum;
        seeds += (double)g.seed_count;
        right += (double)g.correct_count;
    }
    for (size_t i = 0; i < SMALL_VALUES; i++) {
        const double expected = (double)before.value[i] - rate * mean[i] / seeds;
        square += mean[i] / seeds * (mean[i] / seeds);
        assert_true(fabs((double)after.value[i] - expected) < 1e-6);
    }
    assert_true(fabs(after.progress[PROGRESS_LOSS] - loss / seeds) < 1e-12);
    assert_true(after.progress[PROGRESS_SEEDS] == seeds);
    assert_true(after.progress[PROGRESS_CORRECT] == right);
    assert_true(after.progress[PROGRESS_LEARNING_RATE] == rate);
    assert_true(fabs(after.progress[PROGRESS_GRADIENT_NORM] - sqrt(square)) < 1e-6);
    store_release_record(&before.view);
    store_release_record(&after.view);
}

static void a_round_steps_along_the_mean_at_the_rate_of_its_epoch(void **state)
{
    struct small_run run;
    begin(&run, *state, sgd);
    initialise(&run);
    void *stage_state = open_stage(&run);
    for (int64_t round = 0; round < 4; round++) {
        small_run_put_gradients(&run, round);
        assert_ok(small_run_work(&run, stage_state, UNIT_AGGREGATE, round), &run.err);
        check_sgd_round(&run, round, round < 2 ? 0.5 : 0.25);
    }
    stage.close(stage_state);
}

static void assert_same_versions(struct small_run *a, struct small_run *b, int64_t last)
{
    for (int64_t version = 0; version <= last; version++) {
        assert_same_record(a, b, key_weights(SMALL_RUN_ID, version).text);
        assert_same_record(a, b, key_optimizer_state(SMALL_RUN_ID, version).text);
    }
}

/* Does rounds [from, to) with one worker. `fresh`: it is started anew for each round. */
static void do_rounds(struct small_run *run, int64_t from, int64_t to, bool fresh)
{
    void *state = open_stage(run);
    for (int64_t round = from; round < to; round++) {
        assert_ok(small_run_work(run, state, UNIT_AGGREGATE, round), &run->err);
        if (!fresh)
            continue;
        stage.close(state);
        state = open_stage(run);
    }
    stage.close(state);
}

static void resumed_runs_and_any_order_of_slots_give_the_same_bits(void **state)
{
    struct temp_store *temp = *state;
    struct small_run straight, resumed, fresh;
    struct store *other[2] = {NULL, NULL};
    begin(&straight, temp, adam);
    for (int i = 0; i < 2; i++) {
        char path[FILE_PATH_SIZE];
        assert_ok(file_path(path, &temp->err, "%s/other-%d", temp->dir.path, i), &temp->err);
        assert_ok(store_open(path, 0, &other[i], &temp->err), &temp->err);
    }
    begin(&resumed, temp, adam);
    begin(&fresh, temp, adam);
    resumed.store = resumed.context.store = other[0];
    fresh.store = fresh.context.store = other[1];
    initialise(&straight);
    initialise(&resumed);
    initialise(&fresh);
    for (int64_t round = 0; round < 10; round++) {
        small_run_put_gradients(&straight, round);
        small_run_put_gradients(&resumed, round);
        for (int32_t slot = schedule_slot_count(&fresh.schedule, round) - 1; slot >= 0; slot--)
            small_run_put_gradient(&fresh, round, slot);
    }
    do_rounds(&straight, 0, 10, false);
    do_rounds(&resumed, 0, 5, false);
    do_rounds(&resumed, 5, 10, false);
    do_rounds(&fresh, 0, 10, true);
    assert_same_versions(&straight, &resumed, 10);
    assert_same_versions(&straight, &fresh, 10);
    store_close(other[0]);
    store_close(other[1]);
}

static void a_warm_worker_does_not_read_its_own_output(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    void *warm = open_stage(&run), *cold = open_stage(&run);
    for (int64_t round = 0; round < 2; round++)
        small_run_put_gradients(&run, round);
    assert_ok(small_run_work(&run, warm, UNIT_AGGREGATE, 0), &run.err);
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 1).text, &run.err), &run.err);
    assert_ok(small_run_work(&run, warm, UNIT_AGGREGATE, 1), &run.err);
    assert_fails(small_run_work(&run, cold, UNIT_AGGREGATE, 1), ERROR_NOT_FOUND,
                 key_weights(SMALL_RUN_ID, 1).text, &run.err);
    stage.close(warm);
    stage.close(cold);
}

static void a_worker_reads_the_rounds_that_another_did(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    void *one = open_stage(&run), *two = open_stage(&run);
    for (int64_t round = 0; round < 4; round++) {
        small_run_put_gradients(&run, round);
        assert_ok(small_run_work(&run, round == 1 ? two : one, UNIT_AGGREGATE, round), &run.err);
    }
    /* Each unit is done by both workers; the store would refuse a different result. */
    for (int64_t round = 0; round < 4; round++)
        assert_ok(small_run_work(&run, two, UNIT_AGGREGATE, round), &run.err);
    stage.close(one);
    stage.close(two);
}

static struct optimizer_state read_state(struct small_run *run, int64_t version)
{
    struct optimizer_state found = {0};
    assert_ok(optimizer_state_get(run->store, SMALL_RUN_ID, version, &found, &run->err), &run->err);
    return found;
}

/* The result does not depend on the worker that did a round. */
static void where_a_snapshot_is_made_the_state_tells_of_all_rounds_since_the_last(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    run.schedule.every_rounds = 4;
    initialise(&run);
    void *one = open_stage(&run), *two = open_stage(&run);
    for (int64_t round = 0; round < 8; round++) {
        small_run_put_gradients(&run, round);
        assert_ok(small_run_work(&run, round % 3 == 1 ? two : one, UNIT_AGGREGATE, round),
                  &run.err);
    }
    for (int64_t version = 1; version <= 8; version++) {
        struct optimizer_state found = read_state(&run, version);
        assert_int_equal(found.round_count, version % 4 == 0 ? 4 : 0);
        for (int64_t i = 0; i < (int64_t)found.round_count; i++) {
            struct weights weights = read_weights(&run, version - 3 + i);
            assert_memory_equal(found.rounds + i * PROGRESS_COUNT, weights.progress,
                                sizeof weights.progress);
            store_release_record(&weights.view);
        }
        store_release_record(&found.view);
    }
    void *cold = open_stage(&run); /* the store would refuse other content */
    assert_ok(small_run_work(&run, cold, UNIT_AGGREGATE, 7), &run.err);
    stage.close(cold);
    stage.close(one);
    stage.close(two);
}

static void a_unit_killed_between_state_and_weights_is_done_again_alike(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    small_run_put_gradients(&run, 0);
    do_rounds(&run, 0, 1, true);
    const struct key weights = key_weights(SMALL_RUN_ID, 1);
    const struct checksum before = small_run_content(&run, weights.text);
    assert_ok(store_remove(run.store, weights.text, &run.err), &run.err);
    do_rounds(&run, 0, 1, true);
    const struct checksum after = small_run_content(&run, weights.text);
    assert_true(checksum_equal(&before, &after));
    initialise(&run); /* also at the start */
}

static void a_replay_matches_and_remembers_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct store *replay = NULL;
    begin(&run, temp, adam);
    initialise(&run);
    for (int64_t round = 0; round < 3; round++)
        small_run_put_gradients(&run, round);
    do_rounds(&run, 0, 3, false);
    assert_ok(store_open(temp->dir.path, STORE_REPLAY, &replay, &run.err), &run.err);
    run.context.store = replay;
    run.context.is_replay = true;
    do_rounds(&run, 0, 3, false);
    const struct store_replay report = store_replay_report(replay);
    assert_int_equal(report.matched, 6);
    assert_int_equal(report.differed + report.absent, 0);
    store_close(replay);
}

/* If the replay kept its result in memory, the later round would start from it, and not from the
 * stored version that the run went on with. */
static void a_replay_computes_each_round_from_what_is_stored(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct store *replay = NULL;
    float other[SMALL_VALUES];
    const struct tamper change = {"value", ELEMENT_F32, other, SMALL_VALUES};
    small_run_draw(other, 77, 77);
    begin(&run, temp, adam);
    initialise(&run);
    for (int64_t round = 0; round < 3; round++)
        small_run_put_gradients(&run, round);
    do_rounds(&run, 0, 3, false);
    record_tamper(run.store, key_weights(SMALL_RUN_ID, 2).text, SMALL_RUN_ID, &change);
    assert_ok(store_open(temp->dir.path, STORE_REPLAY, &replay, &run.err), &run.err);
    run.context.store = replay;
    run.context.is_replay = true;
    do_rounds(&run, 1, 3, false);
    const struct store_replay report = store_replay_report(replay);
    assert_int_equal(report.matched, 1); /* the state of version 2 */
    assert_int_equal(report.differed, 3);
    assert_string_equal(report.first_difference, key_weights(SMALL_RUN_ID, 2).text);
    store_close(replay);
}

static void a_round_that_failed_leaves_nothing_in_memory(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    float value[SMALL_VALUES];
    const struct key slot = key_gradient(SMALL_RUN_ID, 1, 0);
    begin(&run, temp, adam);
    run.settings.aggregate.clip_norm = 0;
    initialise(&run);
    small_run_put_gradients(&run, 0);
    struct gradient bad = small_run_gradient(&run, 1, 0, value);
    value[0] = 1e30F; /* its square overflows a float, which shows only after the step */
    void *warm = open_stage(&run);
    assert_ok(small_run_work(&run, warm, UNIT_AGGREGATE, 0), &run.err);
    assert_ok(gradient_put(run.store, SMALL_RUN_ID, 1, 0, &bad, NULL, &run.err), &run.err);
    assert_fails(small_run_work(&run, warm, UNIT_AGGREGATE, 1), ERROR_INPUT,
                 "round 1: the second moment of convs.0.", &run.err);
    assert_ok(store_remove(run.store, slot.text, &run.err), &run.err);
    small_run_put_gradients(&run, 1);
    assert_ok(small_run_work(&run, warm, UNIT_AGGREGATE, 1), &run.err);
    do_rounds(&run, 1, 2, true); /* the store would refuse another result */
    stage.close(warm);
}

static void a_missing_gradient_is_named(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    void *stage_state = open_stage(&run);
    small_run_put_gradient(&run, 0, 0);
    small_run_put_gradient(&run, 0, 2);
    assert_fails(small_run_work(&run, stage_state, UNIT_AGGREGATE, 0), ERROR_NOT_FOUND,
                 key_gradient(SMALL_RUN_ID, 0, 1).text, &run.err);
    small_run_put_gradient(&run, 0, 1);
    assert_ok(small_run_work(&run, stage_state, UNIT_AGGREGATE, 0), &run.err);
    stage.close(stage_state);
}

/* Does round 0 with a changed slot 1, which must fail and leave no new version behind. */
static void check_refused(struct small_run *run, const struct gradient *bad, enum error_code code,
                          const char *message)
{
    const struct key key = key_gradient(SMALL_RUN_ID, 0, 1);
    void *state = open_stage(run);
    bool found = true;
    assert_ok(store_remove(run->store, key.text, &run->err), &run->err);
    assert_ok(gradient_put(run->store, SMALL_RUN_ID, 0, 1, bad, NULL, &run->err), &run->err);
    assert_fails(small_run_work(run, state, UNIT_AGGREGATE, 0), code, message, &run->err);
    assert_ok(store_has(run->store, key_weights(SMALL_RUN_ID, 1).text, &found, &run->err),
              &run->err);
    assert_false(found);
    stage.close(state);
}

static void gradients_that_cannot_be_used_are_refused(void **state)
{
    struct small_run run;
    float value[SMALL_VALUES];
    begin(&run, *state, adam);
    initialise(&run);
    small_run_put_gradients(&run, 0);
    const struct gradient good = small_run_gradient(&run, 0, 1, value);

    struct gradient bad = good;
    bad.weights_version = 3;
    check_refused(&run, &bad, ERROR_CORRUPT, "made from weights version 3, expected 0");
    bad = good;
    bad.value_count = SMALL_VALUES - 1;
    check_refused(&run, &bad, ERROR_CORRUPT, "values, expected");
    bad = good;
    bad.loss_sum = (double)INFINITY;
    check_refused(&run, &bad, ERROR_INPUT, "round 0: the loss is inf, not a finite number");
    bad = good;
    value[2 * 20 + 4 + 1] = NAN; /* after both weights and the bias of the first layer */
    check_refused(&run, &bad, ERROR_INPUT, "round 0: the gradient of convs.1.");
    assert_non_null(strstr(run.err.message, "is nan, not a finite number"));
    value[2 * 20 + 4 + 1] = 1e30F; /* its square overflows a float, and so does the second moment */
    run.settings.aggregate.clip_norm = 0;
    check_refused(&run, &bad, ERROR_INPUT, "round 0: the second moment of convs.1.");
    run.settings.aggregate.optimizer = RULE_SGD;
    void *other_state = open_stage(&run);
    assert_fails(small_run_work(&run, other_state, UNIT_AGGREGATE, 0), ERROR_CORRUPT,
                 "with second moment", &run.err);
    stage.close(other_state);
}

static void weights_of_another_model_are_refused(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    initialise(&run);
    small_run_put_gradients(&run, 0);
    run.settings.train_step.layer.output_dim = SMALL_HIDDEN + 1;
    void *stage_state = open_stage(&run);
    assert_fails(small_run_work(&run, stage_state, UNIT_AGGREGATE, 0), ERROR_CORRUPT,
                 "weights/0000000000: line 1 of the parameter table: expected", &run.err);
    stage.close(stage_state);
}

static void state_of_another_step_is_refused(void **state)
{
    struct small_run run;
    static const uint64_t step = 7;
    const struct tamper change = {"step", ELEMENT_U64, &step, 1};
    begin(&run, *state, adam);
    initialise(&run);
    small_run_put_gradients(&run, 0);
    record_tamper(run.store, key_optimizer_state(SMALL_RUN_ID, 0).text, SMALL_RUN_ID, &change);
    void *stage_state = open_stage(&run);
    assert_fails(small_run_work(&run, stage_state, UNIT_AGGREGATE, 0), ERROR_CORRUPT,
                 "step is 7, expected 0", &run.err);
    stage.close(stage_state);
}

static void opening_without_memory_leaks_nothing(void **state)
{
    struct small_run run;
    begin(&run, *state, adam);
    const long live = memory_live_blocks();
    long allowed = 0;
    for (;; allowed++) {
        void *stage_state = NULL;
        memory_fail_after(allowed);
        const enum error_code rc = stage.open(&run.context, &stage_state, &run.err);
        memory_fail_after(-1);
        if (rc == ERROR_NONE) {
            stage.close(stage_state);
            break;
        }
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_null(stage_state);
        assert_int_equal(memory_live_blocks(), live);
    }
    /* The stage, the arenas that check its two layers, three arrays, and two of the mean. */
    assert_int_equal(allowed, 10);
    assert_int_equal(memory_live_blocks(), live);
    stage.close(NULL);
}

/* On a store that is far away a round must take the time of one read, and not of one for each
 * slot. */
static void the_gradients_of_a_round_are_read_at_once(void **state)
{
    (void)state;
    struct temp_store far = {.store = store_watch_open(&memory_backend, "aggregate")};
    struct small_run run;
    begin(&run, &far, adam);
    void *worker = open_stage(&run), *other = open_stage(&run);
    assert_ok(small_run_work(&run, worker, UNIT_INITIALISE, 0), &run.err);
    small_run_put_gradients(&run, 0);
    store_watch_begin(3);
    assert_ok(small_run_work(&run, worker, UNIT_AGGREGATE, 0), &run.err);
    struct store_watch_count count = store_watch_end();
    assert_int_equal(count.reads, 3);
    assert_int_equal(count.calls, 1);
    small_run_put_gradients(&run, 1);
    store_watch_begin(2); /* weights and state, then the one gradient */
    assert_ok(small_run_work(&run, other, UNIT_AGGREGATE, 1), &run.err);
    count = store_watch_end();
    assert_int_equal(count.most, 2);
    assert_int_equal(count.calls, count.reads - 1);
    stage.close(worker);
    stage.close(other);
    store_close(far.store);
    memory_store_forget("aggregate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(weights_begin_as_the_seed_has_them_and_state_at_zero),
        test_with_store(a_round_steps_along_the_mean_at_the_rate_of_its_epoch),
        test_with_store(resumed_runs_and_any_order_of_slots_give_the_same_bits),
        cmocka_unit_test(the_gradients_of_a_round_are_read_at_once),
        test_with_store(a_warm_worker_does_not_read_its_own_output),
        test_with_store(a_worker_reads_the_rounds_that_another_did),
        test_with_store(where_a_snapshot_is_made_the_state_tells_of_all_rounds_since_the_last),
        test_with_store(a_unit_killed_between_state_and_weights_is_done_again_alike),
        test_with_store(a_replay_matches_and_remembers_nothing),
        test_with_store(a_replay_computes_each_round_from_what_is_stored),
        test_with_store(a_round_that_failed_leaves_nothing_in_memory),
        test_with_store(a_missing_gradient_is_named),
        test_with_store(gradients_that_cannot_be_used_are_refused),
        test_with_store(weights_of_another_model_are_refused),
        test_with_store(state_of_another_step_is_refused),
        test_with_store(opening_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
