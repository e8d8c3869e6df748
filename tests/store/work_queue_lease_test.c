/* Who holds a unit, for how long, and what becomes of one that nobody finishes. */
#include "common/base/clock.h"
#include "store/work_queue.h"

#include "tests/store/work_queue_fixture.h"

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
    assert_int_equal(claim(next, &taken), CLAIM_NOTHING); /* not yet */
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

/* The same worker name with the same id: only the delivery count tells the two apart. */
static void the_delivery_count_fences_a_worker_that_was_restarted(void **state)
{
    NEED_REDIS(state);
    struct work_queue *before = open_queue(state, "pod-1", "sample", 0);
    struct work_claim old = {0}, again = {0};
    fill(before, 1);
    assert_int_equal(claim(before, &old), CLAIM_UNIT);
    struct work_queue *after = open_queue(state, "pod-1", "sample", 0);
    assert_int_equal(claim(after, &again), CLAIM_UNIT); /* at once: it was its own */
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

static void a_poison_unit_is_dead_after_three_deliveries(void **state)
{
    NEED_REDIS(state);
    struct error err = {0};
    struct work_queue *queue = NULL;
    struct work_claim got = {0};
    bool found = true;
    char unit[QUEUE_UNIT_SIZE], reason[200];
    queue = open_queue(state, "filler", NULL, 0);
    fill(queue, 2);
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_false(found);
    work_queue_close(queue);
    for (int delivery = 1; delivery <= 3; delivery++) { /* each time the worker dies */
        queue = open_queue(state, "pod-1", "sample", 0);
        assert_int_equal(claim(queue, &got), CLAIM_UNIT);
        assert_string_equal(got.unit, "sample/0/0");
        assert_int_equal(got.delivery_count, delivery);
        work_queue_close(queue);
    }
    queue = open_queue(state, "pod-1", "sample", 0);
    assert_int_equal(claim(queue, &got), CLAIM_UNIT);
    assert_string_equal(got.unit, "sample/0/1"); /* the others go on */
    assert_ok(work_queue_first_dead(queue, &found, unit, reason, sizeof reason, &err), &err);
    assert_true(found);
    assert_string_equal(unit, "sample/0/0");
    assert_non_null(strstr(reason, "3 deliveries"));
    restore(queue, "sample/0/0", "sample"); /* a check of the chain does not bring it back */
    assert_int_equal(counts_of(queue, "sample").waiting, 0);
    assert_false(idle(queue));
    work_queue_close(queue);
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
    assert_ok(work_queue_bury(queue, &got, "again", &err), &err); /* not held: nothing happens */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(an_expired_lease_is_taken_over_and_the_stale_worker_is_fenced),
        WITH_REDIS(the_delivery_count_fences_a_worker_that_was_restarted),
        WITH_REDIS(renewing_keeps_the_lease_and_the_count),
        WITH_REDIS(a_poison_unit_is_dead_after_three_deliveries),
        WITH_REDIS(a_buried_unit_has_its_reason),
        WITH_REDIS(a_unit_given_back_can_be_queued_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
