/* Tests which worker holds a unit, for how long, and what happens to a unit that is never
 * finished. */
#include "common/base/clock.h"
#include "store/queue/work_queue.h"

#include "tests/store/queue/work_queue_fixture.h"

static void an_expired_lease_is_taken_over_and_the_stale_worker_is_fenced(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *stale = open_queue(state, "stale", "sample", SHORT_LEASE_MS);
    struct work_queue *next = open_queue(state, "next", "sample", SHORT_LEASE_MS);
    struct work_claim old = {0}, taken = {0};
    const struct work_successor after = unit_of("train-step/0/0", "train-step", 1);
    bool fenced = false;
    fill(stale, 1);
    assert_int_equal(claim(stale, &old), CLAIM_UNIT);
    assert_int_equal(claim(next, &taken), CLAIM_NOTHING); /* the lease has not ended */
    clock_sleep_ms(SHORT_LEASE_MS + 50);
    assert_int_equal(claim(next, &taken), CLAIM_UNIT);
    assert_string_equal(taken.unit, old.unit);
    assert_int_equal(taken.delivery_count, 2);

    assert_ok(work_queue_renew(stale, &old, &fenced, &err), &err);
    assert_true(fenced);
    assert_false(complete(stale, &old, &after, 1));
    assert_int_equal(counts_of(next, "train-step").waiting, 0);
    assert_ok(work_queue_renew(next, &taken, &fenced, &err), &err);
    assert_false(fenced);
    assert_true(complete(next, &taken, &after, 1));
    assert_int_equal(counts_of(next, "train-step").waiting, 1);
    assert_int_equal(counts_of(next, "sample").retried, 1);
    work_queue_close(stale);
    work_queue_close(next);
}

/* Tests the same worker name with the same entry: only the delivery count distinguishes the two
 * workers. */
static void the_delivery_count_fences_a_worker_that_was_restarted(void **state)
{
    NEED_REDIS(state);
    struct work_queue *before = open_queue(state, "pod-1", "sample", 0);
    struct work_claim old = {0}, again = {0};
    fill(before, 1);
    assert_int_equal(claim(before, &old), CLAIM_UNIT);
    struct work_queue *after = open_queue(state, "pod-1", "sample", 0);
    assert_int_equal(claim(after, &again), CLAIM_UNIT); /* at once, because it was its own */
    assert_string_equal(again.id, old.id);
    assert_int_equal(again.delivery_count, 2);
    assert_false(complete(before, &old, NULL, 0));
    assert_true(complete(after, &again, NULL, 0));
    work_queue_close(before);
    work_queue_close(after);
}

static void renewing_keeps_the_lease_and_the_count(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *a = open_queue(state, "a", "sample", SHORT_LEASE_MS);
    struct work_queue *b = open_queue(state, "b", "sample", SHORT_LEASE_MS);
    struct work_claim mine = {0}, other = {0};
    bool fenced = false;
    fill(a, 1);
    assert_int_equal(claim(a, &mine), CLAIM_UNIT);
    for (int i = 0; i < 6; i++) {
        clock_sleep_ms(SHORT_LEASE_MS / 3);
        assert_ok(work_queue_renew(a, &mine, &fenced, &err), &err);
        assert_false(fenced);
        assert_int_equal(claim(b, &other), CLAIM_NOTHING);
    }
    assert_true(complete(a, &mine, NULL, 0));
    work_queue_close(a);
    work_queue_close(b);
}

static void pass_from_hand_to_hand_never_kills_a_unit(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue[2] = {open_queue(state, "a", "sample", 1),
                                   open_queue(state, "b", "sample", 1)};
    struct work_claim got = {0};
    bool found = true;
    char unit[QUEUE_UNIT_SIZE], reason[200];
    struct work_queue *filler = open_queue(state, "filler", NULL, 0);
    fill(filler, 1);
    work_queue_close(filler);
    for (int i = 0; i < 100; i++) { /* each worker is stopped for longer than its lease */
        assert_int_equal(claim(queue[i % 2], &got), CLAIM_UNIT);
        assert_int_equal(got.delivery_count, i + 1);
        clock_sleep_ms(3);
    }
    assert_ok(work_queue_first_dead(queue[0], &found, unit, reason, sizeof reason, &err), &err);
    assert_false(found);
    assert_true(complete(queue[1], &got, NULL, 0));
    work_queue_close(queue[0]);
    work_queue_close(queue[1]);
}

/* Lets a worker die with the unit `times` times, and start again under the same name. */
static void die_with_a_unit(void **state, const char *unit, int times)
{
    for (int i = 0; i < times; i++) {
        struct work_claim got = {0};
        struct work_queue *queue = open_queue(state, "pod-1", "sample", 0);
        assert_int_equal(claim(queue, &got), CLAIM_UNIT);
        assert_string_equal(got.unit, unit);
        work_queue_close(queue);
    }
}

static void a_unit_whose_worker_dies_each_time_is_given_up_after_twenty(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_claim got = {0};
    bool found = true;
    char unit[QUEUE_UNIT_SIZE], reason[200];
    struct work_queue *other = open_queue(state, "other", "sample", 0);
    fill(other, 3);
    die_with_a_unit(state, "sample/0/0", 20);
    assert_int_equal(claim(other, &got), CLAIM_UNIT);
    /* another unit was done, so the machine may be at fault */
    assert_true(complete(other, &got, NULL, 0));
    die_with_a_unit(state, "sample/0/0", 19);
    assert_ok(work_queue_first_dead(other, &found, unit, reason, sizeof reason, &err), &err);
    assert_false(found);
    struct work_queue *queue = open_queue(state, "pod-1", "sample", 0);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_string_equal(got.unit, "sample/0/2"); /* the other units continue */
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_true(found);
    assert_string_equal(unit, "sample/0/0");
    assert_non_null(strstr(reason, "died 20 times"));
    restore(queue, "sample/0/0", "sample"); /* a check of the chain does not restore it */
    assert_int_equal(counts_of(queue, "sample").waiting, 0);
    work_queue_close(queue);
    work_queue_close(other);
}

static void a_unit_handed_back_is_there_for_others_at_once(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *a = open_queue(state, "a", "sample", 0),
                      *b = open_queue(state, "b", "sample", 0);
    struct work_claim got = {0}, next = {0};
    bool fenced = true;
    fill(a, 1);
    assert_int_equal(claim(a, &got), CLAIM_UNIT);
    assert_int_equal(claim(b, &next), CLAIM_NOTHING);
    assert_ok(work_queue_hand_back(a, &got, &fenced, &err), &err);
    assert_false(fenced);
    assert_int_equal(claim(b, &next), CLAIM_UNIT);
    assert_string_equal(next.unit, got.unit);
    assert_false(complete(a, &got, NULL, 0));
    assert_ok(work_queue_hand_back(a, &got, &fenced, &err), &err);
    assert_true(fenced);
    assert_true(complete(b, &next, NULL, 0));
    assert_true(idle(a));
    work_queue_close(a);
    work_queue_close(b);
}

/* Either copy may be first; the other finds that the unit is done. */
static void a_second_copy_is_completed_once_by_whoever_is_first(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    const struct work_successor after = unit_of("train-step/0/0", "train-step", 1);
    struct work_queue *slow = open_queue(state, "slow", "sample", 0);
    struct work_queue *quick = open_queue(state, "quick", "sample", 0);
    for (int copy_is_first = 0; copy_is_first < 2; copy_is_first++) {
        struct work_claim got = {0}, copy = {0};
        struct held_unit held[4];
        int count = 0;
        bool begun = false, fenced = true;
        assert_ok(work_queue_wipe(slow, &err), &err);
        fill(slow, 1);
        assert_int_equal(claim(slow, &got), CLAIM_UNIT);
        assert_ok(work_queue_held(quick, held, 4, &count, &err), &err);
        assert_int_equal(count, 1);
        assert_string_equal(held[0].owner, "slow");
        assert_ok(work_queue_begin_copy(quick, &held[0], 60000, &begun, &copy, &err), &err);
        assert_true(begun);
        assert_string_equal(copy.unit, got.unit);
        struct work_claim third = {0};
        assert_ok(work_queue_begin_copy(quick, &held[0], 60000, &begun, &third, &err), &err);
        assert_false(begun); /* one copy is enough */
        assert_ok(work_queue_renew(slow, &got, &fenced, &err), &err);
        assert_false(fenced); /* the owner still has the lease */
        assert_true(
            complete(copy_is_first ? quick : slow, copy_is_first ? &copy : &got, &after, 1));
        assert_false(
            complete(copy_is_first ? slow : quick, copy_is_first ? &got : &copy, &after, 1));
        assert_int_equal(counts_of(slow, "train-step").waiting, 1);
        assert_int_equal(counts_of(slow, "sample").done, 1);
    }
    work_queue_close(slow);
    work_queue_close(quick);
}

/* The holder's lease has ended and a third worker has the unit, so that the copy completes
 * nothing. */
static void a_copy_of_a_delivery_that_is_over_is_fenced(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *slow = open_queue(state, "slow", "sample", SHORT_LEASE_MS);
    struct work_queue *quick = open_queue(state, "quick", "sample", SHORT_LEASE_MS);
    struct work_queue *third = open_queue(state, "third", "sample", SHORT_LEASE_MS);
    struct work_claim got = {0}, copy = {0}, taken = {0};
    struct held_unit held[4];
    int count = 0;
    bool begun = false;
    fill(slow, 1);
    assert_int_equal(claim(slow, &got), CLAIM_UNIT);
    assert_ok(work_queue_held(quick, held, 4, &count, &err), &err);
    assert_ok(work_queue_begin_copy(quick, &held[0], 60000, &begun, &copy, &err), &err);
    assert_true(begun);
    clock_sleep_ms(SHORT_LEASE_MS + 50);
    assert_int_equal(claim(third, &taken), CLAIM_UNIT);
    assert_false(complete(quick, &copy, NULL, 0));
    assert_true(complete(third, &taken, NULL, 0));
    work_queue_close(slow);
    work_queue_close(quick);
    work_queue_close(third);
}

static void a_buried_unit_has_its_reason(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    bool found = false;
    char unit[QUEUE_UNIT_SIZE], reason[200];
    fill(queue, 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_bury(queue, &got, "edges.csv:12: 'x' is no id", &err), &err);
    assert_ok(work_queue_bury(queue, &got, "again", &err), &err); /* not held: no effect */
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_true(found);
    assert_string_equal(unit, "sample/0/0");
    assert_string_equal(reason, "edges.csv:12: 'x' is no id");
    assert_int_equal(claim(queue, &got), CLAIM_NOTHING);
    work_queue_close(queue);
}

static void a_unit_given_back_can_be_queued_again(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0};
    bool fenced = true;
    fill(queue, 1);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_ok(work_queue_give_back(queue, &got, &fenced, &err), &err);
    assert_false(fenced);
    assert_true(idle(queue));
    assert_ok(work_queue_give_back(queue, &got, &fenced, &err), &err);
    assert_true(fenced);
    restore(queue, got.unit, "sample");
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_int_equal(got.delivery_count, 1);
    work_queue_close(queue);
}

/* Tests that a worker gets a waiting unit that it prefers, and that no unit is lost or delivered
 * twice. */
static void a_unit_is_given_for_one_that_is_preferred(void **state)
{
    NEED_REDIS(state);
    static char wanted[2][QUEUE_UNIT_SIZE] = {"sample/0/9", "sample/0/3"};
    static char none[1][QUEUE_UNIT_SIZE] = {"sample/1/"}, part[1][QUEUE_UNIT_SIZE] = {"sample/0"};
    static const char *const order[] = {"sample/0/4", "sample/0/1", "sample/0/2", "sample/0/0"};
    struct error err = {0};
    struct work_queue *a = open_queue(state, "a", "sample", 0);
    struct work_claim got = {0}, before;
    fill(a, 5);
    assert_int_equal(claim(a, &got), CLAIM_UNIT);
    before = got;
    assert_ok(work_queue_exchange(a, &got, none, 1, &err), &err);
    assert_string_equal(got.id, before.id);
    assert_ok(work_queue_exchange(a, &got, part, 1, &err), &err); /* matches no unit */
    assert_string_equal(got.id, before.id);
    assert_ok(work_queue_exchange(a, &got, wanted, 2, &err), &err);
    assert_string_equal(got.unit, "sample/0/3");
    assert_string_equal(got.owner, "a");
    assert_int_equal(got.delivery_count, 1);
    assert_int_equal(counts_of(a, "sample").leased, 1);
    assert_int_equal(counts_of(a, "sample").waiting, 4);
    assert_false(complete(a, &before, NULL, 0)); /* it is no longer held */
    assert_true(complete(a, &got, NULL, 0));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(claim(a, &got), CLAIM_UNIT);
        assert_string_equal(got.unit, order[i]);
        assert_true(complete(a, &got, NULL, 0));
    }
    before = got;
    /* completed, so nothing is held */
    assert_ok(work_queue_exchange(a, &got, wanted, 2, &err), &err);
    assert_string_equal(got.id, before.id);
    assert_true(idle(a));
    assert_int_equal(counts_of(a, "sample").done, 5);
    work_queue_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(an_expired_lease_is_taken_over_and_the_stale_worker_is_fenced),
        WITH_REDIS(the_delivery_count_fences_a_worker_that_was_restarted),
        WITH_REDIS(renewing_keeps_the_lease_and_the_count),
        WITH_REDIS(pass_from_hand_to_hand_never_kills_a_unit),
        WITH_REDIS(a_unit_whose_worker_dies_each_time_is_given_up_after_twenty),
        WITH_REDIS(a_unit_handed_back_is_there_for_others_at_once),
        WITH_REDIS(a_second_copy_is_completed_once_by_whoever_is_first),
        WITH_REDIS(a_copy_of_a_delivery_that_is_over_is_fenced),
        WITH_REDIS(a_buried_unit_has_its_reason),
        WITH_REDIS(a_unit_given_back_can_be_queued_again),
        WITH_REDIS(a_unit_is_given_for_one_that_is_preferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
