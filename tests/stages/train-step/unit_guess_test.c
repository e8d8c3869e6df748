#include "stages/train-step/unit_guess.h"

#include "tests/support/test.h"

/* Has 10 batches per epoch and 3 per round: rounds of 3, 3, 3 and 1 slots; 2 epochs. */
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
    expect_none(&guess, 4, 2); /* the step changes */
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

/* Workers take the next slot when they have none, and complete their units in any order. The
 * queue serves the worker that asked first. The slots of a round exist once the round before is
 * complete. */
enum { WORKERS = 3, UNITS = 20 };

struct crew {
    struct unit_guess guess[WORKERS];
    int place[WORKERS]; /* number of the current unit, or -1 */
    int queue[WORKERS]; /* waiting workers, the longest first */
    int waiting, given, done, right, guessed;
    int64_t guessed_round[WORKERS];
    int32_t guessed_slot[WORKERS];
    bool has_guess[WORKERS];
};

static void place_to_slot(int place, int64_t *round, int32_t *slot)
{
    *round = 0;
    for (*slot = place; *slot >= schedule_slot_count(&schedule, *round); ++*round)
        *slot -= schedule_slot_count(&schedule, *round);
}

static void give(struct crew *crew)
{
    int64_t round = 0, open_round = 0;
    int32_t slot = 0;
    while (crew->waiting && crew->given < UNITS) {
        const int worker = crew->queue[0];
        place_to_slot(crew->given, &round, &slot);
        place_to_slot(crew->done, &open_round, &slot);
        if (round > open_round)
            return;
        place_to_slot(crew->given, &round, &slot);
        crew->place[worker] = crew->given++;
        if (crew->has_guess[worker]) {
            crew->guessed++;
            crew->right +=
                crew->guessed_round[worker] == round && crew->guessed_slot[worker] == slot;
        }
        (void)unit_guess_next(&crew->guess[worker], &schedule, &round, &slot);
        crew->waiting--;
        for (int i = 0; i < crew->waiting; i++)
            crew->queue[i] = crew->queue[i + 1];
    }
}

static void complete(struct crew *crew, int worker)
{
    crew->place[worker] = -1;
    crew->done++;
    crew->has_guess[worker] =
        unit_guess_after(&crew->guess[worker], &schedule, crew->done, &crew->guessed_round[worker],
                         &crew->guessed_slot[worker]);
    crew->queue[crew->waiting++] = worker;
    give(crew);
}

static void when_it_is_complete_the_next_is_known_whoever_was_first(void **state)
{
    struct crew crew = {0};
    unsigned chance = 1;
    (void)state;
    for (int i = 0; i < WORKERS; i++)
        crew.queue[crew.waiting++] = i;
    give(&crew);
    while (crew.done < UNITS) {
        const int worker = (int)((chance = chance * 1103515245U + 12345U) >> 16) % WORKERS;
        if (crew.place[worker] >= 0 && crew.waiting < WORKERS)
            complete(&crew, worker);
    }
    assert_true(crew.guessed >= UNITS - 3 * WORKERS);
    assert_int_equal(crew.right, crew.guessed);
}

static void a_first_unit_has_nothing_to_go_by(void **state)
{
    struct unit_guess guess = {0};
    int64_t round = 0;
    int32_t slot = 0;
    (void)state;
    assert_false(unit_guess_after(&guess, &schedule, 1, &round, &slot));
    expect(&guess, 0, 0, 0, 1);
    assert_false(unit_guess_after(&guess, &schedule, 1, &round, &slot));
    expect_none(&guess, 0, 2);
    assert_true(unit_guess_after(&guess, &schedule, 2, &round, &slot));
    assert_int_equal(round, 1);
    assert_int_equal(slot, 0);
    expect_none(&guess, 0, 0); /* an older unit: what was learnt no longer counts */
    assert_false(unit_guess_after(&guess, &schedule, 3, &round, &slot));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_goes_from_slot_to_slot),
        cmocka_unit_test(beside_others_it_takes_the_same_step_again),
        cmocka_unit_test(a_unit_again_or_from_before_says_nothing),
        cmocka_unit_test(the_last_unit_has_none_after_it),
        cmocka_unit_test(when_it_is_complete_the_next_is_known_whoever_was_first),
        cmocka_unit_test(a_first_unit_has_nothing_to_go_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
