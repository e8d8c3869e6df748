/* Runs that are set back: what a snapshot restores, and which units must wait for what it cannot
 * restore. */
#include "common/base/memory.h"
#include "stages/plan/run/run_rewind.h"
#include "store/records/round/residual.h"
#include "store/records/round/round_base.h"

#include "tests/stages/small_run.h"

static const char *const settings[] = {"epochs=3", "sample.batch_size=6",
                                       "sample.batches_per_round=3", NULL};

/* Begins a run at the snapshot of version 2 that keeps everything since its start. */
static void begin(struct small_run *run, struct run_binding *binding, struct temp_store *temp)
{
    small_run_init(run, temp->store, 20, 4, settings);
    for (int64_t version = 0; version <= 2; version++)
        small_run_put_version(run, version);
    for (int64_t round = 0; round < 2; round++)
        small_run_put_gradients(run, round);
    small_run_put_snapshot(run, 2);
    assert_ok(snapshot_switch(run->store, SMALL_RUN_ID, 2, &run->err), &run->err);
    binding->schedule = run->schedule;
    (void)snprintf(binding->plan.id, sizeof binding->plan.id, "%s", SMALL_RUN_ID);
}

static bool has(struct small_run *run, struct key key)
{
    bool found = false;
    assert_ok(store_has(run->store, key.text, &found, &run->err), &run->err);
    return found;
}

/* Removes these records of what the run keeps, and sets the run back. Returns the version that it
 * is set back to. */
static int64_t rewind_kept(struct small_run *run, const struct run_binding *binding,
                           struct kept_rounds kept, const struct key *lost, size_t count)
{
    const char *names[4];
    struct snapshot_position position = {0};
    must(count <= 4);
    for (size_t i = 0; i < count; i++) {
        names[i] = lost[i].text;
        assert_ok(store_remove(run->store, lost[i].text, &run->err), &run->err);
    }
    assert_ok(run_rewind(run->store, binding, &kept, names, count, &run->err), &run->err);
    assert_ok(snapshot_position_get(run->store, SMALL_RUN_ID, &position, &run->err), &run->err);
    return position.version;
}

static int64_t rewind_run(struct small_run *run, const struct run_binding *binding,
                          const struct key *lost, size_t count)
{
    return rewind_kept(run, binding, (struct kept_rounds){.version = 2, .is_named = true}, lost,
                       count);
}

static void what_a_snapshot_holds_comes_back_from_it(void **state)
{
    struct small_run run;
    struct run_binding *binding = memory_alloc(1, sizeof *binding);
    assert_non_null(binding);
    begin(&run, binding, *state);
    const struct key lost[] = {key_weights(SMALL_RUN_ID, 2), key_optimizer_state(SMALL_RUN_ID, 2)};
    assert_int_equal(rewind_run(&run, binding, lost, 2), 2);
    assert_true(has(&run, lost[0]) && has(&run, lost[1]));
    assert_true(has(&run, key_gradient(SMALL_RUN_ID, 1, 0)));
    memory_free(binding);
}

/* State 1 is made from round 0, and everything after it has to wait, weights 2 as well, whichever
 * loss is handled first. */
static void what_waits_for_another_loss_does_not_come_back(void **state)
{
    for (int first = 0; first < 2; first++) {
        struct small_run run;
        struct run_binding *binding = memory_alloc(1, sizeof *binding);
        assert_non_null(binding);
        begin(&run, binding, *state);
        struct key lost[2];
        lost[first] = key_optimizer_state(SMALL_RUN_ID, 1);
        lost[!first] = key_weights(SMALL_RUN_ID, 2);
        assert_int_equal(rewind_run(&run, binding, lost, 2), 0);
        assert_false(has(&run, key_weights(SMALL_RUN_ID, 1)));
        assert_false(has(&run, key_weights(SMALL_RUN_ID, 2)));
        assert_false(has(&run, key_gradient(SMALL_RUN_ID, 1, 0)));
        assert_true(has(&run, key_snapshot(SMALL_RUN_ID, 2)));
        assert_ok(store_remove(run.store, key_snapshot(SMALL_RUN_ID, 2).text, &run.err), &run.err);
        memory_free(binding);
    }
}

/* If no record says which weights round 0 was made from, another choice gives other weights: so
 * nothing made from them stays. */
static void what_came_of_a_lost_choice_goes(void **state)
{
    for (int told = 0; told < 2; told++) {
        struct small_run run;
        struct run_binding *binding = memory_alloc(1, sizeof *binding);
        assert_non_null(binding);
        begin(&run, binding, *state);
        binding->schedule.staleness = 1;
        binding->schedule.chooses_base = true;
        for (int64_t round = 0; round < 3; round++)
            assert_ok(round_base_put(run.store, SMALL_RUN_ID, round, round, &run.err), &run.err);
        small_run_put_version(&run, 3);
        const struct key output = key_outputs_seal(SMALL_RUN_ID, 2, "");
        struct record record = {.kind = RECORD_OUTPUTS_SEAL, .version = 1};
        record_add_text(&record, "text", "outputs");
        assert_ok(
            store_put(run.store, output.text, SMALL_RUN_ID, &record, STORE_RECOMPUTABLE, &run.err),
            &run.err);
        for (int32_t slot = 0; slot < schedule_slot_count(&run.schedule, 0); slot++)
            if (!told)
                assert_ok(
                    store_remove(run.store, key_gradient(SMALL_RUN_ID, 0, slot).text, &run.err),
                    &run.err);
        const struct key lost = key_round_base(SMALL_RUN_ID, 0);
        assert_int_equal(rewind_run(&run, binding, &lost, 1), told ? 2 : 0);
        assert_int_equal(has(&run, lost), told);
        assert_int_equal(has(&run, key_weights(SMALL_RUN_ID, 1)), told);
        assert_int_equal(has(&run, key_weights(SMALL_RUN_ID, 3)), told);
        assert_int_equal(has(&run, key_gradient(SMALL_RUN_ID, 1, 0)), told);
        assert_int_equal(has(&run, key_snapshot(SMALL_RUN_ID, 2)), told);
        assert_int_equal(has(&run, output), told);
        assert_true(has(&run, key_weights(SMALL_RUN_ID, 0)));
        assert_int_equal(has(&run, key_round_base(SMALL_RUN_ID, 2)), told);
        assert_ok(store_remove(run.store, output.text, &run.err), &run.err);
        memory_free(binding);
    }
}

/* Stores, or removes, what must be beside snapshot 2 when round 2 begins: weights 1, or the
 * residuals of the rounds before. */
static void put_beside(struct small_run *run, const struct schedule *s, bool is_there)
{
    static const float rest[2] = {1, 2};
    if (s->staleness > 0 && !is_there)
        assert_ok(store_remove(run->store, key_weights(SMALL_RUN_ID, 1).text, &run->err),
                  &run->err);
    for (int64_t round = 0; s->keeps_residuals && is_there && round < 2; round++)
        for (int32_t slot = 0; slot < schedule_slot_count(s, round); slot++)
            assert_ok(residual_put(run->store, SMALL_RUN_ID, round, slot, rest, 2,
                                   STORE_RECOMPUTABLE, &run->err),
                      &run->err);
}

/* Snapshot 2 has the best weights, and is older than the records that the run keeps. */
static void a_run_is_not_set_back_to_a_snapshot_that_was_kept_for_its_weights(void **state)
{
    for (int trial = 0; trial < 4; trial++) {
        const bool is_stale = trial < 2, is_there = trial % 2;
        struct small_run run;
        struct run_binding *binding = memory_alloc(1, sizeof *binding);
        assert_non_null(binding);
        begin(&run, binding, *state);
        binding->schedule.staleness = is_stale;
        binding->schedule.keeps_residuals = !is_stale;
        put_beside(&run, &binding->schedule, is_there);
        small_run_put_version(&run, 3);
        small_run_put_version(&run, 4);
        small_run_put_snapshot(&run, 4);
        const struct kept_rounds kept = {.version = 4, .oldest = 4, .is_named = true};
        const struct key lost =
            is_stale ? key_weights(SMALL_RUN_ID, 3) : key_residual(SMALL_RUN_ID, 3, 0);
        assert_int_equal(rewind_kept(&run, binding, kept, &lost, 1), is_there ? 2 : 0);
        assert_true(has(&run, key_snapshot(SMALL_RUN_ID, 2)));
        for (int64_t version = 2; version <= 4; version += 2)
            assert_ok(store_remove(run.store, key_snapshot(SMALL_RUN_ID, version).text, &run.err),
                      &run.err);
        memory_free(binding);
    }
}

/* The pruner was killed before it removed mini-batch 1. */
static void what_the_run_does_not_keep_is_no_loss(void **state)
{
    struct small_run run;
    struct run_binding *binding = memory_alloc(1, sizeof *binding);
    assert_non_null(binding);
    begin(&run, binding, *state);
    small_run_put_mini_batches(&run, 1);
    small_run_put_version(&run, 3);
    small_run_put_version(&run, 4);
    small_run_put_snapshot(&run, 4);
    assert_ok(snapshot_switch(run.store, SMALL_RUN_ID, 4, &run.err), &run.err);
    const struct kept_rounds kept = {.version = 4, .oldest = 2, .is_named = true};
    const struct key lost[] = {key_mini_batch(SMALL_RUN_ID, 1, 0), key_weights(SMALL_RUN_ID, 4)};
    assert_int_equal(rewind_kept(&run, binding, kept, lost, 2), 4);
    assert_true(has(&run, key_weights(SMALL_RUN_ID, 2)));
    assert_true(has(&run, key_gradient(SMALL_RUN_ID, 1, 0)));
    memory_free(binding);
}

/* The run was killed between the validation of weights 4 and their snapshot. */
static void validation_waits_for_its_lost_batch(void **state)
{
    struct small_run run;
    struct run_binding *binding = memory_alloc(1, sizeof *binding);
    assert_non_null(binding);
    begin(&run, binding, *state);
    small_run_put_evaluations(&run, 2, 1);
    small_run_put_evaluations(&run, 4, 1);
    const struct key lost = key_evaluation_mini_batch(SMALL_RUN_ID, 0);
    assert_int_equal(rewind_run(&run, binding, &lost, 1), 2);
    assert_true(has(&run, key_evaluation(SMALL_RUN_ID, 2, 0)));
    assert_false(has(&run, key_evaluation(SMALL_RUN_ID, 4, 0)));
    memory_free(binding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(what_a_snapshot_holds_comes_back_from_it),
        test_with_store(what_waits_for_another_loss_does_not_come_back),
        test_with_store(what_came_of_a_lost_choice_goes),
        test_with_store(a_run_is_not_set_back_to_a_snapshot_that_was_kept_for_its_weights),
        test_with_store(what_the_run_does_not_keep_is_no_loss),
        test_with_store(validation_waits_for_its_lost_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
