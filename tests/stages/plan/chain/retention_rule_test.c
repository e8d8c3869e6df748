#include "stages/plan/chain/retention_rule.h"

#include "tests/support/test.h"

/* Epochs of 2 rounds. There is a snapshot every epoch (2, 4, ...) unless every_rounds says
 * otherwise. */
struct case_of_keep {
    int64_t keep, reuse, every_rounds, round_count, version;
    int64_t oldest_version, oldest_mini_batch;
};

static struct schedule schedule_of(const struct case_of_keep *c)
{
    return (struct schedule){.batches_per_epoch = 2,
                             .batches_per_round = 1,
                             .rounds_per_epoch = 2,
                             .round_count = c->round_count,
                             .every_rounds = c->every_rounds,
                             .reuse_epochs = c->reuse};
}

static void the_oldest_that_is_kept_is_as_the_table_says(void **state)
{
    (void)state;
    const struct case_of_keep cases[] = {
        {0, 1, 2, 20, 20, 0, 0},   /* everything */
        {1, 1, 2, 20, 2, 2, 2},    /* only the newest */
        {1, 1, 2, 20, 20, 20, 20}, /**/
        {2, 1, 2, 20, 2, 0, 0},    /* one snapshot and the start */
        {2, 1, 2, 20, 4, 2, 2},    /* 2 and 4 */
        {2, 1, 2, 20, 20, 18, 18}, /**/
        {3, 1, 2, 20, 4, 0, 0},    /**/
        {3, 1, 2, 20, 6, 2, 2},    /* 2, 4 and 6 */
        {3, 1, 2, 20, 20, 16, 16}, /**/
        {1000000000, 1, 2, 20, 20, 0, 0},
        {2, 1, 6, 20, 20, 18, 18},  /* the last one is apart: 6, 12, 18, 20 */
        {3, 1, 6, 20, 20, 12, 12},  /**/
        {4, 1, 6, 20, 20, 6, 6},    /**/
        {5, 1, 6, 20, 20, 0, 0},    /**/
        {2, 1, 40, 20, 20, 0, 0},   /* a single snapshot, at the end */
        {1, 1, 40, 20, 20, 20, 20}, /**/
        {1, 2, 2, 20, 2, 2, 0},     /* epochs 0 and 1 share the batches of rounds 0 and 1 */
        {1, 2, 2, 20, 4, 4, 4},     /* epoch 2 begins a new pass */
        {2, 2, 2, 20, 8, 6, 4},     /* round 6 is in epoch 3, which uses the mini-batches of rounds
                                     * 4 and 5 */
        {1, 3, 2, 20, 10, 10, 6},   /* epoch 5 is in the pass that begins with epoch 3 */
        {1, 100, 2, 20, 20, 20, 0}, /* one pass for the whole run */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct schedule schedule = schedule_of(&cases[i]);
        const struct retention r = retention_rule_of(&schedule, cases[i].version, cases[i].keep, 1);
        if (r.oldest_version != cases[i].oldest_version ||
            r.oldest_mini_batch != cases[i].oldest_mini_batch)
            fail_msg("case %zu: oldest version %d, oldest mini-batch %d", i, (int)r.oldest_version,
                     (int)r.oldest_mini_batch);
        assert_true(r.oldest_mini_batch <= r.oldest_version);
        assert_int_equal(r.oldest_base, r.oldest_version);
        struct schedule stale = schedule;
        stale.staleness = 3;
        const struct retention s = retention_rule_of(&stale, cases[i].version, cases[i].keep, 1);
        assert_int_equal(s.oldest_version, r.oldest_version);
        assert_int_equal(s.oldest_base, r.oldest_version > 3 ? r.oldest_version - 3 : 0);
    }
}

static void the_newest_and_the_best_snapshot_are_kept(void **state)
{
    (void)state;
    const struct retention r = {.oldest_version = 8, .best_version = 4};
    assert_true(retention_rule_keeps_snapshot(&r, 10));
    assert_true(retention_rule_keeps_snapshot(&r, 8));
    assert_false(retention_rule_keeps_snapshot(&r, 6));
    assert_true(retention_rule_keeps_snapshot(&r, 4));
    assert_false(retention_rule_keeps_snapshot(&r, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_that_is_kept_is_as_the_table_says),
        cmocka_unit_test(the_newest_and_the_best_snapshot_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
