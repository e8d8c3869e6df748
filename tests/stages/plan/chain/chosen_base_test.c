/* The weights that a round starts from if it chooses them: the newest; the first choice counts; and
 * gradients have the choice when the record is lost. */
#include "stages/plan/chain/chosen_base.h"
#include "store/backends/directory/directory.h"
#include "store/records/round/round_base.h"

#include "tests/stages/small_run.h"
#include "tests/support/store_faults.h"

enum { MOST = 2, ROUND = 5 };

static void begin(struct small_run *run, struct store *store, const char *staleness)
{
    const char *const set[] = {"sample.batch_size=2", staleness, NULL};
    small_run_init(run, store, 40, 4, set);
}

static void put_weights(struct small_run *run, int64_t version)
{
    float value[SMALL_VALUES];
    small_run_draw(value, (uint32_t)version, 0);
    const struct weights weights = {.version = (uint64_t)version,
                                    .value_count = SMALL_VALUES,
                                    .value = value,
                                    .table = "",
                                    .table_size = 0};
    assert_ok(weights_put(run->store, SMALL_RUN_ID, &weights, &run->err), &run->err);
}

static int64_t take(struct small_run *run, int64_t round)
{
    int64_t base = -1;
    assert_ok(chosen_base_take(&run->schedule, run->store, SMALL_RUN_ID, round, &base, &run->err),
              &run->err);
    return base;
}

static void a_fixed_staleness_stores_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    bool is_there = true;
    begin(&run, temp->store, "aggregate.staleness=2");
    assert_int_equal(take(&run, ROUND), ROUND - MOST);
    assert_int_equal(take(&run, 1), 0);
    assert_ok(store_has(run.store, key_round_base(SMALL_RUN_ID, ROUND).text, &is_there, &run.err),
              &run.err);
    assert_false(is_there);
}

static void the_newest_there_are_count_and_the_first_choice_stays(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    int64_t base = 0;
    begin(&run, temp->store, "aggregate.staleness=up_to 2");
    assert_int_equal(
        chosen_base_get(&run.schedule, run.store, SMALL_RUN_ID, ROUND, &base, &run.err),
        ERROR_NOT_FOUND);
    assert_int_equal(take(&run, 0), 0); /* the schedule leaves no choice, and the version is
                                         * returned all the same */
    for (int64_t version = 0; version <= ROUND - 1; version++)
        put_weights(&run, version);
    assert_int_equal(take(&run, ROUND), ROUND - 1);
    put_weights(&run, ROUND);
    assert_int_equal(take(&run, ROUND), ROUND - 1);
    assert_ok(chosen_base_get(&run.schedule, run.store, SMALL_RUN_ID, ROUND, &base, &run.err),
              &run.err);
    assert_int_equal(base, ROUND - 1);
    assert_int_equal(take(&run, ROUND + 1), ROUND);
    assert_int_equal(take(&run, ROUND + 2), ROUND);
    assert_int_equal(take(&run, ROUND + 4),
                     ROUND + 2); /* the oldest one allowed, which is not there yet */
}

static void gradients_know_a_choice_that_is_lost(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    float value[SMALL_VALUES];
    begin(&run, temp->store, "aggregate.staleness=up_to 2");
    for (int64_t version = 0; version <= ROUND; version++)
        put_weights(&run, version);
    struct gradient gradient = small_run_gradient(&run, ROUND, 0, value);
    const struct gradient_form form = {0};
    gradient.weights_version = ROUND - 2;
    assert_ok(gradient_put(run.store, SMALL_RUN_ID, ROUND, 0, &gradient, &form, &run.err),
              &run.err);
    assert_int_equal(take(&run, ROUND), ROUND - 2);
}

static void what_was_made_of_a_lost_choice_is_not_made_otherwise(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    int64_t base = 0;
    bool is_there = true;
    begin(&run, temp->store, "aggregate.staleness=up_to 2");
    for (int64_t version = 0; version <= ROUND + 1; version++)
        put_weights(&run, version);
    assert_ok(chosen_base_mend(&run.schedule, run.store, SMALL_RUN_ID, ROUND, &is_there, &run.err),
              &run.err);
    assert_false(is_there);
    assert_fails(chosen_base_take(&run.schedule, run.store, SMALL_RUN_ID, ROUND, &base, &run.err),
                 ERROR_CORRUPT, "no gradient of round 5 is left", &run.err);
}

/* A run that was set back to before round 2 finds records made from another choice, and uses none
 * of them. */
static void nothing_is_chosen_beside_what_came_of_another_choice(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    int64_t base = 0, lost = -1;
    begin(&run, temp->store, "aggregate.staleness=up_to 2");
    for (int64_t version = 0; version <= 2; version++) {
        put_weights(&run, version);
        if (version < 2)
            assert_int_equal(take(&run, version), version);
    }
    assert_ok(chosen_base_first_lost(&run.schedule, run.store, SMALL_RUN_ID, 0, &lost, &run.err),
              &run.err);
    assert_int_equal(lost, -1);
    put_weights(&run, 8); /* the versions between are gone */
    assert_fails(chosen_base_take(&run.schedule, run.store, SMALL_RUN_ID, 2, &base, &run.err),
                 ERROR_CORRUPT, "no gradient of round 2 is left", &run.err);
    assert_ok(chosen_base_first_lost(&run.schedule, run.store, SMALL_RUN_ID, 0, &lost, &run.err),
              &run.err);
    assert_int_equal(lost, 2);
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 8).text, &run.err), &run.err);
    assert_ok(round_base_put(run.store, SMALL_RUN_ID, 3, 3, &run.err), &run.err);
    assert_fails(chosen_base_take(&run.schedule, run.store, SMALL_RUN_ID, 2, &base, &run.err),
                 ERROR_CORRUPT, "no gradient of round 2 is left", &run.err);
    assert_ok(store_remove(run.store, key_round_base(SMALL_RUN_ID, 3).text, &run.err), &run.err);
    assert_int_equal(take(&run, 2), 2);
}

/* The other workers choose, advance some rounds, and prune the gradients. */
static void go_on(void *context)
{
    struct small_run *run = context;
    assert_ok(round_base_put(run->store, SMALL_RUN_ID, ROUND, ROUND - 1, &run->err), &run->err);
    put_weights(run, ROUND + 1);
    put_weights(run, ROUND + 2);
}

/* A worker that was paused between its look and its choice finds the choice of the others, and
 * removes nothing of theirs. */
static void a_choice_made_meanwhile_is_taken(void **state)
{
    struct temp_store *temp = *state;
    for (long passed = 0, done = 0; !done; passed++) {
        struct small_run run;
        int64_t base = 0;
        begin(&run, temp->store, "aggregate.staleness=up_to 2");
        for (int64_t version = ROUND - MOST; version < ROUND; version++)
            put_weights(&run, version);
        struct store *watched = store_faults_open(&directory_backend, store_root(run.store));
        store_faults_plan(
            &(struct store_fault_plan){.passed = passed, .meanwhile = go_on, .context = &run});
        assert_ok(chosen_base_take(&run.schedule, watched, SMALL_RUN_ID, ROUND, &base, &run.err),
                  &run.err);
        assert_int_equal(base, ROUND - 1);
        (void)store_faults_end();
        store_close(watched);
        bool went_on = false;
        const struct key newest = key_weights(SMALL_RUN_ID, ROUND + 2);
        assert_ok(store_has(run.store, newest.text, &went_on, &run.err), &run.err);
        done = !went_on; /* all calls were passed */
        assert_true(went_on || passed > 2);
        assert_ok(file_remove_all(store_root(run.store), &run.err), &run.err);
    }
}

static void a_version_that_cannot_be_is_corrupt(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    int64_t base = 0;
    begin(&run, temp->store, "aggregate.staleness=up_to 2");
    assert_ok(round_base_put(run.store, SMALL_RUN_ID, ROUND, ROUND + 1, &run.err), &run.err);
    assert_fails(chosen_base_get(&run.schedule, run.store, SMALL_RUN_ID, ROUND, &base, &run.err),
                 ERROR_CORRUPT, "weights version 6, expected 3 to 5", &run.err);
    assert_ok(round_base_put(run.store, SMALL_RUN_ID, ROUND + 1, 1, &run.err), &run.err);
    assert_fails(
        chosen_base_take(&run.schedule, run.store, SMALL_RUN_ID, ROUND + 1, &base, &run.err),
        ERROR_CORRUPT, "weights version 1, expected 4 to 6", &run.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fixed_staleness_stores_nothing, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(the_newest_there_are_count_and_the_first_choice_stays,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(gradients_know_a_choice_that_is_lost, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_was_made_of_a_lost_choice_is_not_made_otherwise,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_chosen_beside_what_came_of_another_choice,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_choice_made_meanwhile_is_taken, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_version_that_cannot_be_is_corrupt, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
