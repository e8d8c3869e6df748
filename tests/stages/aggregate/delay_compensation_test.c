/* Compensation of old gradients, compared with the formulas in plain double. */
#include "stages/aggregate/delay_compensation.h"

#include "tests/stages/small_run.h"

#include <math.h>

enum { STALENESS = 2, ROUNDS = 5 };

static void begin(struct small_run *run, struct store *store, const char *const *more)
{
    const char *set[8] = {"sample.batch_size=2", "aggregate.optimizer=sgd",
                          "aggregate.learning_rate=0.5", "aggregate.staleness=2"};
    for (int i = 4; *more; i++)
        set[i] = *more++;
    small_run_init(run, store, 20, 4, set);
}

/* Does rounds 0 .. ROUNDS - 1, each with a made-up gradient in its slot. */
static void do_rounds(struct small_run *run)
{
    void *worker = NULL;
    assert_ok(stage.open(&run->context, &worker, &run->err), &run->err);
    assert_ok(small_run_work(run, worker, UNIT_INITIALISE, 0), &run->err);
    for (int64_t round = 0; round < ROUNDS; round++) {
        small_run_put_gradients(run, round);
        assert_ok(small_run_work(run, worker, UNIT_AGGREGATE, round), &run->err);
    }
    stage.close(worker);
}

static int64_t base_of(int64_t round)
{
    return round > STALENESS ? round - STALENESS : 0;
}

/* Checks that the step of `round` is w - rate * g', with g' = g + lambda g g (w - w'). */
static void check_step(struct small_run *run, int64_t round, double rate, double lambda)
{
    struct weights before = {0}, after = {0}, base = {0};
    float gradient[SMALL_VALUES];
    (void)small_run_gradient(run, round, 0, gradient);
    assert_ok(weights_get(run->store, SMALL_RUN_ID, round, &before, &run->err), &run->err);
    assert_ok(weights_get(run->store, SMALL_RUN_ID, round + 1, &after, &run->err), &run->err);
    assert_ok(weights_get(run->store, SMALL_RUN_ID, base_of(round), &base, &run->err), &run->err);
    for (int i = 0; i < SMALL_VALUES; i++) {
        const double w = (double)before.value[i], g = (double)gradient[i];
        const double moved = g + lambda * g * g * (w - (double)base.value[i]);
        assert_true(fabs((double)after.value[i] - (w - rate * moved)) < 1e-6);
    }
    assert_true(fabs(after.progress[PROGRESS_LEARNING_RATE] - rate) < 1e-12);
    store_release_record(&before.view);
    store_release_record(&after.view);
    store_release_record(&base.view);
}

static void the_rate_is_less_by_the_delay_that_there_is(void **state)
{
    struct temp_store *temp = *state;
    static const char *const set[] = {"aggregate.delay_rate=0.25", NULL};
    static const double factor[ROUNDS] = {1, 1 / 1.25, 1 / 1.5, 1 / 1.5, 1 / 1.5};
    struct small_run run;
    begin(&run, temp->store, set);
    do_rounds(&run);
    for (int64_t round = 0; round < ROUNDS; round++) {
        assert_true(fabs(delay_rate_factor(&run.context, round, base_of(round)) - factor[round]) <
                    1e-12);
        check_step(&run, round, 0.5 * factor[round], 0);
    }
}

static void the_gradient_is_moved_by_what_the_weights_changed(void **state)
{
    struct temp_store *temp = *state;
    static const char *const set[] = {"aggregate.compensation=gradient",
                                      "aggregate.delay_lambda=0.7", NULL};
    struct small_run run;
    begin(&run, temp->store, set);
    do_rounds(&run);
    for (int64_t round = 0; round < ROUNDS; round++)
        check_step(&run, round, 0.5, 0.7);
}

static void nothing_is_done_when_nothing_is_asked(void **state)
{
    struct temp_store *temp = *state;
    static const char *const set[] = {"aggregate.compensation=none", NULL};
    struct small_run run;
    begin(&run, temp->store, set);
    do_rounds(&run);
    for (int64_t round = 0; round < ROUNDS; round++)
        check_step(&run, round, 0.5, 0);
}

static void gradients_of_other_weights_are_refused(void **state)
{
    struct temp_store *temp = *state;
    static const char *const set[] = {"aggregate.compensation=gradient", NULL};
    struct small_run run;
    void *worker = NULL;
    float value[SMALL_VALUES];
    begin(&run, temp->store, set);
    do_rounds(&run);
    assert_ok(stage.open(&run.context, &worker, &run.err), &run.err);
    struct gradient gradient = small_run_gradient(&run, ROUNDS, 0, value);
    gradient.weights_version = ROUNDS;
    assert_ok(gradient_put(run.store, SMALL_RUN_ID, ROUNDS, 0, &gradient, NULL, &run.err),
              &run.err);
    assert_fails(small_run_work(&run, worker, UNIT_AGGREGATE, ROUNDS), ERROR_CORRUPT,
                 "made from weights version 5, expected 3", &run.err);
    assert_ok(store_remove(run.store, key_gradient(SMALL_RUN_ID, ROUNDS, 0).text, &run.err),
              &run.err);
    small_run_put_gradients(&run, ROUNDS);
    const struct key base = key_weights(SMALL_RUN_ID, base_of(ROUNDS));
    assert_ok(store_remove(run.store, base.text, &run.err), &run.err);
    assert_fails(small_run_work(&run, worker, UNIT_AGGREGATE, ROUNDS), ERROR_NOT_FOUND, base.text,
                 &run.err);
    stage.close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(the_rate_is_less_by_the_delay_that_there_is),
        test_with_store(the_gradient_is_moved_by_what_the_weights_changed),
        test_with_store(nothing_is_done_when_nothing_is_asked),
        test_with_store(gradients_of_other_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
