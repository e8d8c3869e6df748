#include "pipelines/run/worker_growth.h"

#include "tests/support/test.h"

enum { MANY = 10000 };

/* Takes samples of the rate that the current number of workers has, until the rule changes the
 * number or `most` samples were taken. Returns the number of samples. */
static int until_change(struct worker_growth *growth, const double *rate_with, int most)
{
    for (int i = 1; i <= most; i++)
        if (worker_growth_note(growth, rate_with[growth->count]))
            return i;
    return 0;
}

static void expect_changes(struct worker_growth *growth, const double *rate_with, const int *count,
                           int changes)
{
    for (int i = 0; i < changes; i++) {
        assert_true(until_change(growth, rate_with, MANY) > 0);
        assert_int_equal(growth->count, count[i]);
    }
}

static void workers_are_added_while_each_brings_5_percent(void **state)
{
    static const double rate_with[] = {0, 10, 19, 27, 28.35, 29.6, 100};
    static const int count[] = {2, 3, 4, 5, 4}; /* 4 brings 5 %, 5 brings 4.4 % */
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 6);
    assert_int_equal(growth.count, 1);
    expect_changes(&growth, rate_with, count, 5);
    assert_int_equal(until_change(&growth, rate_with, GROWTH_HOLD - 1), 0);
}

static void one_that_brings_nothing_is_taken_back_and_tried_again_ever_more_rarely(void **state)
{
    static const double rate_with[] = {0, 10, 10.2};
    struct worker_growth growth = {0};
    int length = GROWTH_HOLD;
    (void)state;
    worker_growth_begin(&growth, 2);
    assert_int_equal(until_change(&growth, rate_with, MANY), GROWTH_SAMPLES);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(growth.count, 2);
        assert_int_equal(until_change(&growth, rate_with, MANY), GROWTH_SAMPLES);
        assert_int_equal(growth.count, 1);
        assert_int_equal(until_change(&growth, rate_with, MANY), length);
        length = 2 * length < GROWTH_HOLD_MAX ? 2 * length : GROWTH_HOLD_MAX;
    }
}

static void no_more_than_the_most_are_started(void **state)
{
    static const double rate_with[] = {0, 10, 20, 30};
    static const int count[] = {2, 3};
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 3);
    expect_changes(&growth, rate_with, count, 2);
    for (int i = 0; i < MANY; i++) {
        (void)worker_growth_note(&growth, rate_with[growth.count]);
        assert_in_range(growth.count, 1, 3);
    }
    worker_growth_begin(&growth, 1);
    assert_int_equal(until_change(&growth, rate_with, MANY), 0);
}

static void a_machine_that_others_take_up_gets_fewer_and_a_free_one_more(void **state)
{
    static const double alone[] = {0, 10, 20, 30, 31}, crowded[] = {0, 9, 9.1, 9.2, 9.1};
    static const int up[] = {2, 3, 4, 3}, down[] = {2, 1};
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 4);
    expect_changes(&growth, alone, up, 4);
    expect_changes(&growth, crowded, down, 2);
    assert_int_equal(until_change(&growth, alone, GROWTH_HOLD - 1), 0);
    expect_changes(&growth, alone, up, 4);
}

static void one_that_is_missed_is_put_back(void **state)
{
    static const double rate_with[] = {0, 10, 20, 20.5};
    static const int count[] = {2, 3, 2, 1, 2, 3, 2, 1, 2};
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 3);
    expect_changes(&growth, rate_with, count, 9);
}

/* Two of five measurements may be arbitrary. */
static void hiccups_decide_nothing(void **state)
{
    static const double factor[GROWTH_SAMPLES] = {1, 0.2, 1.02, 0.98, 3};
    static const double rate_with[] = {0, 10, 18, 18.3};
    static const int count[] = {2, 3, 2};
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 3);
    for (int change = 0; change < 3; change++) {
        bool changed = false;
        for (int i = 0; i < GROWTH_SAMPLES; i++)
            changed = worker_growth_note(&growth, rate_with[growth.count] * factor[i]);
        assert_true(changed);
        assert_int_equal(growth.count, count[change]);
    }
    assert_int_equal(growth.phase, GROWTH_HOLDING);
}

static void a_run_that_does_not_move_grows_no_further(void **state)
{
    static const double rate_with[] = {0, 10, 0, 0};
    static const int count[] = {2, 1};
    struct worker_growth growth = {0};
    (void)state;
    worker_growth_begin(&growth, 3);
    expect_changes(&growth, rate_with, count, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_added_while_each_brings_5_percent),
        cmocka_unit_test(one_that_brings_nothing_is_taken_back_and_tried_again_ever_more_rarely),
        cmocka_unit_test(no_more_than_the_most_are_started),
        cmocka_unit_test(a_machine_that_others_take_up_gets_fewer_and_a_free_one_more),
        cmocka_unit_test(one_that_is_missed_is_put_back),
        cmocka_unit_test(hiccups_decide_nothing),
        cmocka_unit_test(a_run_that_does_not_move_grows_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
