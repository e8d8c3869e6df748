/* A unit that one worker holds for long is done a second time, once, and by another worker. */
#include "common/base/clock.h"
#include "stages/engine/straggler.h"

#include "tests/store/queue/work_queue_fixture.h"

enum { QUICK_PATIENCE_MS = 1000 }; /* the shortest patience */

static bool finds(struct straggler *straggler, struct work_queue *queue, const char *process,
                  struct work_claim *copy)
{
    struct error err = {0};
    bool found = false;
    assert_ok(straggler_find(straggler, queue, process, &found, copy, &err), &err);
    return found;
}

static void take(struct work_queue *queue, struct work_claim *out)
{
    assert_int_equal(claim(queue, out), CLAIM_UNIT);
}

/* A unit that is finished in time is not copied; a unit that takes long is. Whoever is first
 * completes it. */
static void what_lasts_is_begun_a_second_time(void **state)
{
    NEED_REDIS(state);
    struct work_queue *slow = open_queue(state, "slow", "sample", 60000);
    struct work_queue *quick = open_queue(state, "quick", "sample", 60000);
    struct straggler straggler = {0};
    struct work_claim short_one, long_one, copy = {0}, third = {0};
    fill(slow, 2);
    take(slow, &short_one);
    take(slow, &long_one);
    straggler_note(&straggler, UNIT_SAMPLE, 0.01);
    assert_false(finds(&straggler, quick, "quick", &copy)); /* seen for the first time */
    assert_true(complete(slow, &short_one, NULL, 0));
    clock_sleep_ms(QUICK_PATIENCE_MS / 2);
    assert_false(finds(&straggler, quick, "quick", &copy)); /* not for long */
    clock_sleep_ms(QUICK_PATIENCE_MS / 2 + 50);
    assert_true(finds(&straggler, quick, "quick", &copy));
    assert_string_equal(copy.unit, long_one.unit);
    assert_string_equal(copy.owner, "slow");
    assert_false(finds(&straggler, quick, "quick", &third)); /* a second copy exists, so no third is
                                                              * made */
    assert_true(complete(quick, &copy, NULL, 0));
    assert_false(complete(slow, &long_one, NULL, 0));
    assert_int_equal(counts_of(quick, "sample").done, 2);
    assert_int_equal(counts_of(quick, "sample").leased, 0);
    work_queue_close(slow);
    work_queue_close(quick);
}

/* Other threads of a process have names of their own. */
static void own_units_are_left_alone(void **state)
{
    NEED_REDIS(state);
    struct work_queue *own = open_queue(state, "quick+1", "sample", 60000);
    struct work_queue *quick = open_queue(state, "quick", "sample", 60000);
    struct straggler knows = {0};
    struct work_claim held, copy = {0};
    fill(own, 1);
    take(own, &held);
    straggler_note(&knows, UNIT_SAMPLE, 0.01);
    for (int look = 0; look < 2; look++) {
        assert_false(finds(&knows, quick, "quick", &copy));
        clock_sleep_ms(QUICK_PATIENCE_MS + 50);
    }
    assert_true(finds(&knows, quick, "quic", &copy)); /* a worker whose name only begins alike is
                                                       * another process */
    work_queue_close(own);
    work_queue_close(quick);
}

/* A standby has done no unit itself, and the lease of a stopped worker may be long. */
static void who_never_did_a_unit_has_more_patience(void **state)
{
    NEED_REDIS(state);
    struct work_queue *slow = open_queue(state, "slow", "sample", 600000);
    struct work_queue *standby = open_queue(state, "standby", "sample", 600000);
    struct straggler straggler = {0};
    struct work_claim held, copy = {0};
    fill(slow, 1);
    take(slow, &held);
    assert_false(finds(&straggler, standby, "standby", &copy));
    clock_sleep_ms(4 * (int64_t)QUICK_PATIENCE_MS);
    assert_false(finds(&straggler, standby, "standby", &copy));
    clock_sleep_ms(QUICK_PATIENCE_MS + 100);
    assert_true(finds(&straggler, standby, "standby", &copy));
    assert_string_equal(copy.unit, held.unit);
    work_queue_close(slow);
    work_queue_close(standby);
}

/* Patience is three times the median of the slowest kind: a single slow unit changes it little. */
static void patience_goes_by_what_units_took(void **state)
{
    NEED_REDIS(state);
    struct work_queue *slow = open_queue(state, "slow", "sample", 60000);
    struct work_queue *quick = open_queue(state, "quick", "sample", 60000);
    struct straggler hurried = {0}, patient = {0};
    struct work_claim held, copy = {0};
    fill(slow, 1);
    take(slow, &held);
    for (int i = 0; i < STRAGGLER_DURATIONS; i++) {
        straggler_note(&hurried, UNIT_SAMPLE, i == 3 ? 100.0 : 0.01);
        straggler_note(&patient, UNIT_SAMPLE, 0.01);
        straggler_note(&patient, UNIT_EVALUATE, 100.0);
    }
    assert_false(finds(&patient, quick, "quick", &copy));
    assert_false(finds(&hurried, quick, "quick", &copy));
    clock_sleep_ms(QUICK_PATIENCE_MS + 50);
    assert_false(finds(&patient, quick, "quick", &copy));
    assert_true(finds(&hurried, quick, "quick", &copy));
    work_queue_close(slow);
    work_queue_close(quick);
}

/* When a unit changes hands, the wait for it begins again. */
static void a_unit_in_new_hands_is_given_its_time(void **state)
{
    NEED_REDIS(state);
    struct work_queue *before = open_queue(state, "slow", "sample", SHORT_LEASE_MS);
    struct work_queue *after = open_queue(state, "new", "sample", SHORT_LEASE_MS);
    struct work_queue *quick = open_queue(state, "quick", "sample", 60000);
    struct straggler straggler = {0};
    struct work_claim held, copy = {0};
    fill(before, 1);
    take(before, &held);
    straggler_note(&straggler, UNIT_SAMPLE, 0.01);
    assert_false(finds(&straggler, quick, "quick", &copy));
    clock_sleep_ms(QUICK_PATIENCE_MS + 50);
    take(after, &held); /* the lease of `before` had ended */
    assert_false(finds(&straggler, quick, "quick", &copy));
    clock_sleep_ms(QUICK_PATIENCE_MS + 50);
    assert_true(finds(&straggler, quick, "quick", &copy));
    assert_string_equal(copy.owner, "new");
    work_queue_close(before);
    work_queue_close(after);
    work_queue_close(quick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(what_lasts_is_begun_a_second_time),
        WITH_REDIS(own_units_are_left_alone),
        WITH_REDIS(who_never_did_a_unit_has_more_patience),
        WITH_REDIS(patience_goes_by_what_units_took),
        WITH_REDIS(a_unit_in_new_hands_is_given_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
