#include "stages/train-step/unit_guess.h"

#include "tests/support/test.h"

/* 10 batches an epoch, 3 a round: rounds of 3, 3, 3, 1 slots; 2 epochs. */
static const struct schedule schedule = {
    .batches_per_epoch = 10, .batches_per_round = 3, .rounds_per_epoch = 4, .round_count = 8};

static void expect(struct unit_guess *guess, int64_t round, int32_t slot, int64_t next_round,
                   int32_t next_slot)
{
    assert_true(unit_guess_next(guess, &schedule, &round, &slot));
    assert_int_equal(round, next_round);
    assert_int_equal(slot, next_slot);
}

static void expect_none(struct unit_guess *guess, int64_t round, int32_t slot)
{
    assert_false(unit_guess_next(guess, &schedule, &round, &slot));
}

static void alone_it_goes_from_slot_to_slot(void **state)
{
    struct unit_guess guess = {0};
    (void)state;
    expect(&guess, 0, 0, 0, 1);
    expect(&guess, 0, 1, 0, 2);
    expect(&guess, 0, 2, 1, 0);
    expect(&guess, 1, 0, 1, 1);
}

static void beside_others_it_takes_the_same_step_again(void **state)
{
    struct unit_guess guess = {0};
    (void)state;
    expect(&guess, 0, 1, 0, 2);
    expect_none(&guess, 1, 0);
    expect(&guess, 1, 2, 2, 1);
    expect(&guess, 2, 1, 3, 0);
    expect(&guess, 2, 2, 3, 0);
    expect_none(&guess, 4, 2); /* another step */
}

static void a_unit_again_or_from_before_says_nothing(void **state)
{
    struct unit_guess guess = {0};
    (void)state;
    expect(&guess, 2, 0, 2, 1);
    expect_none(&guess, 2, 0);
    expect_none(&guess, 1, 0);
    expect(&guess, 1, 1, 1, 2);
}

static void the_last_unit_has_none_after_it(void **state)
{
    struct unit_guess guess = {0};
    (void)state;
    expect_none(&guess, 7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_goes_from_slot_to_slot),
        cmocka_unit_test(beside_others_it_takes_the_same_step_again),
        cmocka_unit_test(a_unit_again_or_from_before_says_nothing),
        cmocka_unit_test(the_last_unit_has_none_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
